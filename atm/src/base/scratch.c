/* scratch.c - see scratch.h. */
#include "scratch.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_BYTES = 64,  /* for the folder's name */
    OPEN_AT_ONCE = 8, /* folders, while they are removed */
};

bool pvma_scratch_make(const char *prefix, char *path, size_t size)
{
    const char *above = getenv("TMPDIR");
    bool usable = above && *above && strlen(above) < size - NAME_BYTES;
    snprintf(path, size, "%s/%sXXXXXX", usable ? above : "/tmp", prefix);
    return mkdtemp(path);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    remove(path);
    return 0;
}

void pvma_scratch_remove(const char *path)
{
    nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}
