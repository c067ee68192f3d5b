/* folder.c - see folder.h. */
#include "folder.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/error.h"

static int complain(char *why, size_t size, int rc, const char *what, const char *path, const char *cure)
{
    snprintf(why, size, "%s %s: %s", what, path, cure);
    return rc;
}

int pvmc_folder_check(const char *folder, char *why, size_t size)
{
    struct stat st;
    if (stat(folder, &st)) {
        snprintf(why, size, "cannot use folder %s: %s; create it, or set PVM_TMP to another one", folder,
                 strerror(errno));
        return PVMC_ESYSTEM;
    }
    if (!S_ISDIR(st.st_mode))
        return complain(why, size, PVMC_EPARAM, "PVM_TMP is not a folder:", folder, "set it to one");
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return complain(why, size, PVMC_EDENIED, "not using the folder of another user,", folder,
                        "set PVM_TMP to one of your own");
    if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
        return complain(why, size, PVMC_EDENIED, "others may replace files in folder", folder,
                        "say \"chmod go-w\" or \"chmod +t\" for it, or set PVM_TMP to another one");
    return 0;
}
