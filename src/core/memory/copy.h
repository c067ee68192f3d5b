/* copy.h - copies of message data, from some KiB on. */
#ifndef PVMC_COPY_H
#define PVMC_COPY_H

#include <stddef.h>

/*
 * As memcpy(), for copies of several KiB and more. There memcpy() uses a string instruction that is five times slower
 * than a loop when the addresses differ by little modulo 4096 (AMD Zen 3), and a quarter faster elsewhere (Zen 5). That
 * difference of addresses is the usual case here: regions in arenas start on a page, malloc'd data 16 bytes after one.
 * So a process tries both once. From about 200 KiB on memcpy() also bypasses the caches that the receiver is about to
 * read.
 */
void pvmc_mem_copy(void *to, const void *from, size_t length);

/*
 * The same into memory of which another processor, which has read it last, may hold a copy. If writing there proves
 * slow, the rest goes past the caches, and so does what is larger than caches are.
 */
void pvmc_mem_fill(void *to, const void *from, size_t length);

#endif
