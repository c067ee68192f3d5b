/*
 * mbuf.h - the number of buffers that a BSD kernel copies a user's bytes into: mbufs of 256 bytes, or for larger
 * amounts clusters of 4096, each with an mbuf that points at it.
 */
#ifndef PVMA_MBUF_H
#define PVMA_MBUF_H

#include <stddef.h>

enum {
    PVMA_MBUF_DATA = 236, /* 256 less the header */
    PVMA_MBUF_CLUSTER = 4096,
    PVMA_MBUF_SMALL = 936, /* from this many bytes on, clusters are used */
};

/* A cluster counts as two buffers: itself and its mbuf. */
static inline unsigned pvma_mbufs(size_t bytes)
{
    if (bytes >= PVMA_MBUF_SMALL)
        return 2 * (unsigned)((bytes + PVMA_MBUF_CLUSTER - 1) / PVMA_MBUF_CLUSTER);
    return bytes ? (unsigned)((bytes + PVMA_MBUF_DATA - 1) / PVMA_MBUF_DATA) : 1;
}

#endif
