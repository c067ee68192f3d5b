/* stream.h - the papers' ttcp: a sender that writes blocks as fast as it can, a receiver that discards them. */
#ifndef PVMA_STREAM_H
#define PVMA_STREAM_H

#include "lab/lab.h"

struct stream {
    struct lab *lab;
    struct pvma_tcp from, to;
    uint32_t block_bytes;
    double start_us;
    uint64_t sent, received; /* bytes written and read */
};

/* Starts a stream between hosts (from 0) after start_us. Call stream_free() before closing the lab. */
void stream_start(struct stream *stream, struct lab *lab, unsigned from, unsigned to,
                  const struct pvma_tcp_settings *settings, uint32_t block_bytes, double start_us);
void stream_free(struct stream *stream);

#endif
