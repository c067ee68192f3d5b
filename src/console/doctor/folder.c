/* folder.c - PVM_TMP: who may change it, whether it has room, and the files that daemons have left there. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "core/config.h"
#include "core/place/address.h"
#include "core/place/folder.h"
#include "probe.h"
#include "result.h"

#define SPACE_NEEDED  65536   /* bytes for address file and log: without them no daemon starts */
#define SPACE_WISHED  4194304 /* bytes for two full logs and more */
#define INODES_NEEDED 8
#define OWN_FOLDER    "mkdir -m 700 ~/pvm-tmp; export PVM_TMP=~/pvm-tmp"

static const char *tmp(void)
{
    return pvmc_config_text(PVMC_SETTING_TMP);
}

/* ---- permissions ---- */

/* The command that corrects a folder which pvmc_folder_check() refuses. */
static void cure_folder(char cure[PATH_MAX + 64])
{
    struct stat st;

    if (stat(tmp(), &st) != 0 && errno == ENOENT)
        snprintf(cure, PATH_MAX + 64, "mkdir -m 700 %s", tmp());
    else if (stat(tmp(), &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
        snprintf(cure, PATH_MAX + 64, "chmod go-w %s", tmp());
    else
        snprintf(cure, PATH_MAX + 64, OWN_FOLDER);
}

void probe_folder(json_t *results)
{
    char why[PATH_MAX + 512], cure[PATH_MAX + 64], name[PATH_MAX];

    if (pvmc_config_daemon_file("pvmd", name, sizeof(name)) != 0)
        result_add(results, "folder", SEVERITY_ERROR, "set PVM_TMP and PVM_VMID to shorter, plain names",
                   "PVM_TMP and PVM_VMID do not make a usable file name");
    else if (pvmc_folder_check(tmp(), why, sizeof(why)) != 0) {
        cure_folder(cure);
        why[strcspn(why, ";")] = '\0';
        char *advice = strstr(why, ": say ");
        if (advice != NULL)
            *advice = '\0';
        result_add(results, "folder", SEVERITY_ERROR, cure, "%s", why);
    } else if (access(tmp(), W_OK | X_OK) != 0)
        result_add(results, "folder", SEVERITY_ERROR, OWN_FOLDER, "cannot write to %s (PVM_TMP): %s", tmp(),
                   strerror(errno));
    else
        result_add(results, "folder", SEVERITY_OK, "", "%s (PVM_TMP) is safe and can be written", tmp());
}

/* ---- room ---- */

void probe_disk(json_t *results)
{
    struct statvfs fs;
    char cure[PATH_MAX + 128];

    snprintf(cure, sizeof(cure), "make room there (du -sh %s/*), or set PVM_TMP to another folder", tmp());
    if (access(tmp(), F_OK) != 0)
        return; /* the probe above says so */
    if (statvfs(tmp(), &fs) != 0) {
        result_add(results, "disk", SEVERITY_ERROR, OWN_FOLDER, "cannot look at %s: %s", tmp(), strerror(errno));
        return;
    }
    unsigned long long left = (unsigned long long)fs.f_bavail * fs.f_frsize;
    bool counts_inodes = fs.f_files != 0;
    if (fs.f_flag & ST_RDONLY)
        result_add(results, "disk", SEVERITY_ERROR, OWN_FOLDER, "%s is on a read-only file system", tmp());
    else if (left < SPACE_NEEDED)
        result_add(results, "disk", SEVERITY_ERROR, cure, "%s is full: %llu bytes are left", tmp(), left);
    else if (counts_inodes && fs.f_favail < INODES_NEEDED)
        result_add(results, "disk", SEVERITY_ERROR, cure, "%s has no room for more files (inodes)", tmp());
    else if (left < SPACE_WISHED)
        result_add(results, "disk", SEVERITY_WARNING, cure, "%s is nearly full: %llu KiB are left", tmp(), left >> 10);
    else
        result_add(results, "disk", SEVERITY_OK, "", "%llu MiB are left in %s", left >> 20, tmp());
}

/* ---- files ---- */

/* A log or journal that the daemon cannot replace: it goes on without. */
static void check_file(json_t *results, const char *stem)
{
    char path[PATH_MAX], cure[PATH_MAX + 64];
    struct stat st;

    if (pvmc_config_daemon_file(stem, path, sizeof(path)) != 0 || lstat(path, &st) != 0)
        return;
    snprintf(cure, sizeof(cure), "rm %s (as its owner), or %s", path, OWN_FOLDER);
    if (st.st_uid != geteuid())
        result_add(results, "files", SEVERITY_ERROR, cure, "%s belongs to user %u, and we are user %u", path,
                   (unsigned)st.st_uid, (unsigned)geteuid());
    else if (!S_ISREG(st.st_mode))
        result_add(results, "files", SEVERITY_WARNING, cure, "%s is not an ordinary file", path);
    else if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(cure, sizeof(cure), "chmod 600 %s", path);
        result_add(results, "files", SEVERITY_WARNING, cure, "%s can be written by others (mode %03o)", path,
                   (unsigned)st.st_mode & 0777);
    }
}

static bool is_dead_socket(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() && pvmc_address_listener(path) == 0;
}

/* Sockets of killed daemons. */
static void count_sockets(json_t *results)
{
    DIR *folder = opendir(tmp());
    char path[PATH_MAX], first[PATH_MAX] = "", cure[PATH_MAX + 64];
    int count = 0;

    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;)
        if (strncmp(e->d_name, "pvmtmp", 6) == 0 &&
            snprintf(path, sizeof(path), "%s/%s", tmp(), e->d_name) < (int)sizeof(path) && is_dead_socket(path) &&
            count++ == 0)
            strcpy(first, path);
    if (folder != NULL)
        closedir(folder);
    snprintf(cure, sizeof(cure), count == 1 ? "rm %s" : "rm %s and the like, if no daemon of yours is starting", first);
    if (count > 0)
        result_add(results, "files", SEVERITY_WARNING, cure, "%d socket%s of killed daemons %s left: %s", count,
                   count == 1 ? "" : "s", count == 1 ? "is" : "are", first);
}

void probe_files(json_t *results)
{
    check_file(results, "pvml");
    check_file(results, "pvmj");
    count_sockets(results);
    if (json_array_size(results) == 0)
        result_add(results, "files", SEVERITY_OK, "", "nothing of other users or killed daemons is in the way");
}
