/*
 * address.c - finds the daemon's socket. The socket and the file that names it must belong to this user and be closed
 * to others; otherwise anybody could pose as our daemon.
 */
#include "address.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"

#define HOW_TO_START "start one with \"pvm\", or with \"pvmd3 &\""

/* 0 if only this user can access `path`; else PVMC_EDENIED with the reason. */
static int check_owner(const char *path, const struct stat *about, char *why, size_t size)
{
    if (about->st_uid != geteuid())
        snprintf(why, size,
                 "%s belongs to user %u, and we are user %u: not using it; remove it, or set PVM_TMP to a folder of "
                 "your own",
                 path, (unsigned)about->st_uid, (unsigned)geteuid());
    else if (about->st_mode & (S_IWGRP | S_IWOTH))
        snprintf(why, size,
                 "%s can be written by others (mode %03o): not using it; say \"chmod 600 %s\" if it is right", path,
                 (unsigned)about->st_mode & 0777, path);
    else
        return 0;
    return PVMC_EDENIED;
}

static int check_socket(const char *path, const char *named_by, char *why, size_t size)
{
    struct stat about;
    if (lstat(path, &about)) {
        snprintf(why, size, "%s names the socket %s, which is not there: the daemon was killed; " HOW_TO_START,
                 named_by, path);
        return PVMC_EUNREACHABLE;
    }
    if (!S_ISSOCK(about.st_mode)) {
        snprintf(why, size, "%s names %s, which is not a socket; remove it and " HOW_TO_START, named_by, path);
        return PVMC_EDENIED;
    }
    return check_owner(path, &about, why, size);
}

static int read_address(int fd, const char *file, char path[PVMC_ADDRESS_PATH_BYTES], char *why, size_t size)
{
    struct stat about;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        snprintf(why, size, "%s is not an ordinary file; remove it and " HOW_TO_START, file);
        return PVMC_EDENIED;
    }
    int rc = check_owner(file, &about, why, size);
    if (rc)
        return rc;
    ssize_t n = read(fd, path, PVMC_ADDRESS_PATH_BYTES - 1);
    path[n > 0 ? n : 0] = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (path[0] == '/')
        return 0;
    snprintf(why, size, "%s holds no path of a socket; remove it and " HOW_TO_START, file);
    return PVMC_EUNREACHABLE;
}

static int from_file(const char *file, char path[PVMC_ADDRESS_PATH_BYTES], char *why, size_t size)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ENOENT)
            snprintf(why, size, "no daemon runs here (there is no %s); " HOW_TO_START, file);
        else
            snprintf(why, size, "cannot read %s: %s", file, errno == ELOOP ? "it is a symbolic link" : strerror(errno));
        return errno == ENOENT ? PVMC_EUNREACHABLE : PVMC_EDENIED;
    }
    int rc = read_address(fd, file, path, why, size);
    close(fd);
    return rc ? rc : check_socket(path, file, why, size);
}

int pvmc_address_find(char path[PVMC_ADDRESS_PATH_BYTES], char *why, size_t size)
{
    const char *given = pvmc_config_text(PVMC_SETTING_SOCK);
    if (*given) {
        snprintf(path, PVMC_ADDRESS_PATH_BYTES, "%s", given);
        return check_socket(path, "PVMSOCK", why, size);
    }
    char file[PVMC_ADDRESS_PATH_BYTES];
    int rc = pvmc_config_daemon_file("pvmd", file, sizeof file);
    if (rc) {
        snprintf(why, size, "PVM_TMP and PVM_VMID do not make a usable file name");
        return rc;
    }
    return from_file(file, path, why, size);
}

void pvmc_address_explain_stale(const char *path, char *why, size_t size)
{
    snprintf(why, size, "nobody listens on %s: the daemon was killed; " HOW_TO_START, path);
}

pid_t pvmc_address_listener(const char *path)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    struct ucred who = {0};
    socklen_t length = sizeof who;
    if (strlen(path) >= sizeof sun.sun_path)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    strcpy(sun.sun_path, path);
    if (connect(fd, (struct sockaddr *)&sun, sizeof sun))
        who.pid = errno == EAGAIN ? -1 : 0;
    else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length))
        who.pid = -1;
    close(fd);
    return who.pid;
}
