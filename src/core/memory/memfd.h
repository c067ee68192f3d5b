/*
 * memfd.h - memory received as a descriptor from another process, which may be hostile.
 */
#ifndef PVMC_MEMFD_H
#define PVMC_MEMFD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether fd is a memfd of exactly this size that can be mapped and read without risk of SIGBUS: it is sealed against
 * shrinking, and it has no huge pages, which the system may run out of before one is first touched.
 */
bool pvmc_memfd_is_sound(int fd, uint64_t bytes);

#endif
