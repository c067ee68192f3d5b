/* stream.h - the papers' ttcp: a sender that writes blocks as fast as it can, a receiver that drops them. */
#ifndef PVMA_STREAM_H
#define PVMA_STREAM_H

#include "lab.h"

struct stream {
    struct lab *lab;
    struct pvma_tcp from, to;
    uint32_t block_bytes;
    double start_us;
    uint64_t received; /* bytes read */
};

/* A stream from host to host (from 0) that starts after start_us; stream_free() before the lab is closed. */
void stream_start(struct stream *stream, struct lab *lab, unsigned from, unsigned to,
                  const struct pvma_tcp_settings *settings, uint32_t block_bytes, double start_us);
void stream_free(struct stream *stream);

#endif
