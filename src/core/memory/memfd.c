/* memfd.c - see memfd.h. */
#include "memfd.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

bool pvmc_memfd_is_sound(int fd, uint64_t bytes)
{
    struct stat st;
    struct statfs system;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && !fstat(fd, &st) && (uint64_t)st.st_size == bytes &&
           !fstatfs(fd, &system) && system.f_type == TMPFS_MAGIC;
}
