/* stream.c - see stream.h. */
#include "stream.h"

enum { BLOCK_MAX = 65536 };

static const uint8_t zeros[BLOCK_MAX];

static void send(void *arg)
{
    struct stream *s = arg;

    pvma_cpu_use(&s->from.station->cpu, pvma_price_of((struct pvma_price){s->start_us, 0}, 0));
    for (;; s->sent += s->block_bytes)
        pvma_tcp_write(&s->from, zeros, s->block_bytes);
}

static void receive(void *arg)
{
    static uint8_t drop[BLOCK_MAX];
    struct stream *s = arg;

    for (;;)
        s->received += pvma_tcp_read_some(&s->to, drop, s->block_bytes);
}

void stream_start(struct stream *s, struct lab *lab, unsigned from, unsigned to,
                  const struct pvma_tcp_settings *settings, uint32_t block_bytes, double start_us)
{
    *s = (struct stream){.lab = lab, .block_bytes = block_bytes, .start_us = start_us};
    pvma_tcp_connect(&s->from, &lab->stations[from], settings, &s->to, &lab->stations[to], settings);
    lab_start(lab, receive, s);
    lab_start(lab, send, s);
}

void stream_free(struct stream *s)
{
    pvma_tcp_free(&s->from);
    pvma_tcp_free(&s->to);
}
