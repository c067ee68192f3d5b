/* own_path.c - see own_path.h. */
#include "own_path.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *pvmd_own_path(void)
{
    static char path[4096];
    static const char replaced[] =
        " (deleted)"; /* what the kernel appends once a new version has been installed over it */
    if (path[0])
        return path;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        n = sprintf(path, "pvmd3");
    path[n] = '\0';
    char *end = strstr(path, replaced);
    if (end && !end[sizeof replaced - 1])
        *end = '\0';
    return path;
}
