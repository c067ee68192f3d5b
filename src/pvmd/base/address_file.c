/* address_file.c - see address_file.h. */
#include "address_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/place/address.h"
#include "core/place/folder.h"
#include "self.h"
#include "sweep.h"

#define ATTEMPTS    10    /* against daemons that start at the same moment */
#define END_POLL_US 10000 /* between looks whether an ending daemon has ended, */
#define END_POLLS   300   /* and their number */

static char address_path[PATH_MAX];
static int held_fd = -1; /* our address file, locked; -1 before it is published */

/* ---- the folder ---- */

static int complain(char *why, size_t size, int rc, const char *what, const char *path, const char *cure)
{
    snprintf(why, size, "%s %s: %s", what, path, cure);
    return rc;
}

static int explain_errno(char *why, size_t size, const char *doing, const char *path)
{
    const char *cure = errno == ENOSPC || errno == EDQUOT ? "make room there, or set PVM_TMP to another folder"
                                                          : "set PVM_TMP to a folder that you may write to";
    snprintf(why, size, "cannot %s %s: %s; %s", doing, path, strerror(errno), cure);
    return PVMC_ESYSTEM;
}

static int find_paths(char *folder, size_t folder_size, char *why, size_t size)
{
    const char *given = pvmc_config_text(PVMC_SETTING_TMP);
    int rc = pvmc_config_daemon_file("pvmd", address_path, sizeof address_path - PVMD_SUFFIX_MAX);
    if (rc || strlen(given) >= folder_size - 64) {
        snprintf(why, size, "PVM_TMP and PVM_VMID do not make a usable file name; set them to shorter, plain ones");
        return rc ? rc : PVMC_ELIMIT;
    }
    strcat(address_path, pvmd.file_suffix);
    rc = pvmc_folder_check(given, why, size);
    char *absolute = rc ? NULL : realpath(given, NULL);
    if (!rc && (!absolute || strlen(absolute) >= folder_size - 64))
        rc = explain_errno(why, size, "use folder", given);
    if (!rc)
        strcpy(folder, absolute);
    free(absolute);
    return rc;
}

/* ---- the file of another daemon, living or dead ---- */

static int check_file(int fd, char *why, size_t size)
{
    struct stat st;
    if (fstat(fd, &st))
        return explain_errno(why, size, "look at", address_path);
    if (!S_ISREG(st.st_mode))
        return complain(why, size, PVMC_EDENIED, "not using", address_path, "it is not a regular file; remove it");
    if (st.st_uid != geteuid())
        return complain(why, size, PVMC_EDENIED, "not using", address_path,
                        "it belongs to another user; have it removed, or set PVM_TMP or PVM_VMID");
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return complain(why, size, PVMC_EDENIED, "not using", address_path,
                        "others may write to it; remove it if no daemon of yours is running");
    return 0;
}

static void read_socket_path(int fd, char *path, size_t size)
{
    ssize_t n = pread(fd, path, size - 1, 0);
    path[n > 0 ? n : 0] = '\0';
}

/*
 * Looks at the daemon that holds the lock. It closes its socket first when it ends; without a socket it is about to
 * end, and we wait for it.
 */
static int judge_holder(int fd, char *why, size_t size)
{
    char path[PATH_MAX], pid[32] = "unknown";
    read_socket_path(fd, path, sizeof path);
    pid_t listener = pvmc_address_listener(path);
    for (int i = 0; !listener && i < END_POLLS; i++) {
        if (!flock(fd, LOCK_EX | LOCK_NB))
            return 0;
        usleep(END_POLL_US);
    }
    if (listener > 0)
        snprintf(pid, sizeof pid, "%d", (int)listener);
    snprintf(why, size, "pvmd already running (pid %s, socket %s, named by %s)", pid, *path ? path : "unknown",
             address_path);
    return PVMC_EEXISTS;
}

/* Removes a killed daemon's socket: only a socket of ours on which nobody listens. */
static bool remove_dead_socket(const char *path)
{
    struct stat st;
    bool ours = !lstat(path, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
    return ours && !pvmc_address_listener(path) && !unlink(path);
}

/* Ends what is left of a killed daemon's tasks, whose own sweeper may have been killed with it or not be done yet. */
static void sweep_after(const char *path)
{
    unsigned n = pvmd_sweep(
        &(struct pvmd_sweep){.socket_path = path, .grace_us = pvmc_config_us(PVMC_SETTING_END_TIMEOUT), .looks = 1});
    if (n)
        pvmc_log(PVMC_LOG_INFO, "ended %u processes that the tasks of a killed daemon had left", n);
}

/* The file must name a socket in our folder, as those of daemons do. */
static void remove_dead(int fd, const char *folder)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);
    read_socket_path(fd, path, sizeof path);
    if (strncmp(path, folder, length) || strncmp(path + length, "/pvmtmp", 7) || strchr(path + length + 1, '/') ||
        pvmc_address_listener(path))
        return;
    sweep_after(path);
    if (remove_dead_socket(path))
        pvmc_log(PVMC_LOG_INFO, "removed socket %s of a killed daemon", path);
}

static bool is_current(int fd, const char *address)
{
    struct stat opened, named;
    return !fstat(fd, &opened) && !lstat(address, &named) && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/*
 * Locks the existing file. *stale_fd holds the lock on a dead daemon's file, or is -1 if there is no file. Returns 0,
 * PVMC_EAGAIN if the file has been replaced meanwhile, or an error.
 */
static int lock_old(int *stale_fd, char *why, size_t size)
{
    int fd = open(address_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    *stale_fd = -1;
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && errno == ELOOP)
        return complain(why, size, PVMC_EDENIED, "not using", address_path, "it is a symbolic link; remove it");
    if (fd < 0)
        return explain_errno(why, size, "open", address_path);
    int rc = check_file(fd, why, size);
    if (!rc && flock(fd, LOCK_EX | LOCK_NB))
        rc = errno == EWOULDBLOCK ? judge_holder(fd, why, size) : explain_errno(why, size, "lock", address_path);
    if (!rc && !is_current(fd, address_path))
        rc = PVMC_EAGAIN;
    if (rc)
        close(fd);
    else
        *stale_fd = fd;
    return rc;
}

static int lock_old_patiently(int *stale_fd, char *why, size_t size)
{
    int rc = PVMC_EAGAIN;
    for (int i = 0; i < ATTEMPTS && rc == PVMC_EAGAIN; i++)
        rc = lock_old(stale_fd, why, size);
    if (rc == PVMC_EAGAIN)
        complain(why, size, rc, "too many daemons start and end at", address_path, "try again");
    return rc;
}

/* ---- our own ---- */

/* A free name of PVM's form: pvmtmpPPPPPP.N. */
static void free_name(const char *folder, char *path, size_t size)
{
    struct stat st;
    int n = 0;
    do
        snprintf(path, size, "%s/pvmtmp%06d.%d", folder, (int)getpid(), n++);
    while (!lstat(path, &st));
}

int pvmd_address_file_check(char *why, size_t size)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    int stale_fd;
    int rc = find_paths(folder, sizeof folder, why, size);
    if (!rc)
        rc = lock_old_patiently(&stale_fd, why, size);
    if (rc)
        return rc;
    if (stale_fd >= 0) {
        remove_dead(stale_fd, folder);
        close(stale_fd);
    }
    if (access(folder, W_OK | X_OK))
        return explain_errno(why, size, "write to folder", folder);
    free_name(folder, path, sizeof path);
    pvmd.socket_path = strdup(path);
    return pvmd.socket_path ? 0 : PVMC_ENOMEM;
}

/* Writes the whole file under another name, and locks it. Returns its descriptor or -1. */
static int write_file(const char *path)
{
    size_t length = strlen(pvmd.socket_path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    bool fails = pvmc_failpoint(PVMC_FAILPOINT_ADDRESS_WRITE);
    if (!fails)
        errno = ENOSPC; /* for a short write */
    if (!fails && write(fd, pvmd.socket_path, length) == (ssize_t)length && !fchmod(fd, 0600) &&
        !flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    int error = errno;
    unlink(path);
    close(fd);
    errno = error;
    return -1;
}

/* Puts the file in place. Returns 0, PVMC_EAGAIN if another daemon was faster, or an error. */
static int put_in_place(const char *path, char *why, size_t size)
{
    int stale_fd;
    int rc = lock_old(&stale_fd, why, size);
    if (rc)
        return rc;
    int failed = pvmc_failpoint(PVMC_FAILPOINT_ADDRESS_PLACE) ? -1
                 : stale_fd >= 0                              ? rename(path, address_path)
                                                              : link(path, address_path);
    if (failed)
        rc = errno == EEXIST ? PVMC_EAGAIN : explain_errno(why, size, "make", address_path);
    if (stale_fd >= 0)
        close(stale_fd); /* only now: until here the lock keeps others from replacing the stale file */
    return rc;
}

int pvmd_address_file_publish(char *why, size_t size)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    snprintf(folder, sizeof folder, "%s", pvmd.socket_path);
    *strrchr(folder, '/') = '\0';
    free_name(folder, path, sizeof path);
    int fd = write_file(path), rc = PVMC_EAGAIN;
    if (fd < 0)
        return explain_errno(why, size, "write", path);
    pvmc_failpoint_done(PVMC_FAILPOINT_ADDRESS_WRITE);
    for (int i = 0; i < ATTEMPTS && rc == PVMC_EAGAIN; i++)
        rc = put_in_place(path, why, size);
    pvmc_failpoint_done(PVMC_FAILPOINT_ADDRESS_PLACE);
    unlink(path); /* rename() has left nothing of this name */
    if (rc)
        close(fd);
    else
        held_fd = fd;
    return rc;
}

void pvmd_address_file_release(void)
{
    if (held_fd >= 0) {
        if (is_current(held_fd, address_path))
            unlink(address_path);
        close(held_fd);
        held_fd = -1;
    }
    free(pvmd.socket_path);
    pvmd.socket_path = NULL;
}

const char *pvmd_address_file_path(void)
{
    return address_path;
}

/* ---- what a killed daemon has left, for its sweeper ---- */

/* Only if the file is that daemon's, and no other daemon is about to replace it. */
static void remove_dead_address(const char *address, const char *socket_path)
{
    char path[PATH_MAX];
    int fd = open(address, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    read_socket_path(fd, path, sizeof path);
    if (!strcmp(path, socket_path) && !flock(fd, LOCK_EX | LOCK_NB) && is_current(fd, address))
        unlink(address);
    close(fd);
}

/* A daemon that is killed while it publishes its address leaves that file under a name like its socket's. */
static void remove_unpublished(const char *socket_path)
{
    char path[PATH_MAX + 16];
    struct stat st;
    int stem = (int)(strrchr(socket_path, '.') - socket_path);
    for (int n = 0; n < ATTEMPTS; n++) {
        snprintf(path, sizeof path, "%.*s.%d", stem, socket_path, n);
        if (!lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
            unlink(path);
    }
}

void pvmd_address_file_remove_dead(const char *address, const char *socket_path)
{
    if (!*socket_path)
        return;
    remove_dead_address(address, socket_path);
    remove_dead_socket(socket_path);
    remove_unpublished(socket_path);
}
