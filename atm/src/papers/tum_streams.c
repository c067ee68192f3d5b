/* tum_streams.c - see tum_streams.h. */
#include "tum_streams.h"
#include <stdlib.h>
#include "ip/udp.h"
#include "lab/layout.h"
#include "reproduce/fit.h"
#include "reproduce/stream.h"

enum { DATA_MAX = 65536 };

static const double mega = 1 << 20;
static const uint8_t zeros[DATA_MAX];

/* Of so many messages or bytes sent and received in that time. */
static struct tum_rates rates_of(uint64_t sent, uint64_t received, double bytes, double s)
{
    return (struct tum_rates){.sender = (double)sent * bytes * 8 / mega / s,
                              .receiver = (double)received * bytes * 8 / mega / s,
                              .percent = sent ? 100.0 * (double)received / (double)sent : 0};
}

/* ---- TCP ---- */

/* Slow start is over after tens of milliseconds. On Ethernet data and acknowledgements collide at random. */
static double tcp_s(enum lab_network network)
{
    return network == LAB_ETHERNET ? 10 : 0.5;
}

/* After as long a warm-up. */
static struct tum_rates tcp_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes)
{
    static struct lab lab;
    struct pvma_topology topology;
    struct lab_setup setup = tum_setup(tum, run, &topology);
    struct stream stream;
    uint64_t sent, received;

    lab_open(&lab, &setup);
    stream_start(&stream, &lab, 0, 1, &setup.tcp, bytes, 0);
    lab_run(&lab, tcp_s(run->network));
    sent = stream.sent;
    received = stream.received;
    lab_run(&lab, tcp_s(run->network));
    sent = stream.sent - sent;
    received = stream.received - received;
    stream_free(&stream);
    lab_close(&lab, &tum->events);
    layout_free(&topology);
    return rates_of(sent, received, 1, tcp_s(run->network));
}

/* ---- UDP ---- */

struct blast {
    struct lab lab;
    struct pvma_udp from, to;
    uint32_t bytes;
    uint64_t sent;
    double gap_us;
};

enum { BLAST_PORT = 9 };

static const double blast_s = 0.2;

static void blast(void *arg)
{
    struct blast *b = arg;

    for (;;) {
        pvma_udp_send(&b->from, 2, BLAST_PORT, zeros, b->bytes);
        b->sent++;
        pvma_cpu_use(&b->lab.stations[0].cpu, pvma_price_of((struct pvma_price){b->gap_us, 0}, 0));
    }
}

static void drain(void *arg)
{
    struct blast *b = arg;

    for (;;)
        free(pvma_udp_receive(&b->to));
}

/* From the first datagram on; those count that the receiver's socket takes. */
static struct tum_rates udp_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes, double gap_us)
{
    static struct blast b;
    struct pvma_topology topology;
    struct lab_setup setup = tum_setup(tum, run, &topology);
    struct tum_rates rates;

    b = (struct blast){.bytes = bytes, .gap_us = gap_us};
    lab_open(&b.lab, &setup);
    pvma_udp_open(&b.from, &b.lab.stations[0], 0, 65536);
    pvma_udp_open(&b.to, &b.lab.stations[1], BLAST_PORT, 57344);
    lab_start(&b.lab, drain, &b);
    lab_start(&b.lab, blast, &b);
    lab_run(&b.lab, blast_s);
    rates = rates_of(b.sent, b.to.received, bytes, blast_s);
    pvma_udp_close(&b.from);
    pvma_udp_close(&b.to);
    lab_close(&b.lab, &tum->events);
    layout_free(&topology);
    return rates;
}

/* ---- Fore API ---- */

struct flood {
    struct lab lab;
    struct pvma_end *from, *to;
    uint32_t bytes;
    double gap_us;
    uint64_t sent, received;
};

static const double flood_warm_up_s = 0.1, flood_s = 0.2;

static void send(void *arg)
{
    struct flood *f = arg;

    for (;; f->sent++) {
        f->from->send(f->from, zeros, f->bytes);
        if (f->gap_us > 0)
            lab_compute(&f->lab, 0, f->gap_us);
    }
}

static void receive(void *arg)
{
    static uint8_t data[DATA_MAX];
    struct flood *f = arg;

    for (;; f->received++)
        f->to->receive(f->to, data, f->bytes);
}

static struct tum_rates fore_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes, double gap_us)
{
    static struct flood f;
    struct pvma_topology topology;
    struct lab_setup setup = tum_setup(tum, run, &topology);
    uint64_t sent, received;

    f = (struct flood){.bytes = bytes, .gap_us = gap_us};
    lab_open(&f.lab, &setup);
    lab_connect(&f.lab, run->stack == TUM_API5 ? LAB_FORE5 : LAB_FORE34, 0, 1, &f.from, &f.to);
    lab_start(&f.lab, receive, &f);
    lab_start(&f.lab, send, &f);
    lab_run(&f.lab, flood_warm_up_s);
    sent = f.sent;
    received = f.received;
    lab_run(&f.lab, flood_s);
    sent = f.sent - sent;
    received = f.received - received;
    lab_close(&f.lab, &tum->events);
    layout_free(&topology);
    return rates_of(sent, received, bytes, flood_s);
}

/* ---- all ---- */

struct tum_rates tum_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes, double gap_us)
{
    switch (run->stack) {
    case TUM_TCP:
        return tcp_stream(tum, run, bytes);
    case TUM_UDP:
        return udp_stream(tum, run, bytes, gap_us);
    default:
        return fore_stream(tum, run, bytes, gap_us);
    }
}

struct pace {
    struct tum *tum;
    const struct tum_run *run;
    uint32_t bytes;
};

static double percent(void *arg, double gap_us)
{
    struct pace *p = arg;

    return tum_stream(p->tum, p->run, p->bytes, gap_us).percent;
}

/* The smallest gap at which 95 % arrive, plus a margin, because just below it hardly any arrive. */
static double gap_us(struct pace *p)
{
    if (p->run->stack == TUM_UDP)
        return fit_growing(0, 2000, 95, percent, p) * 1.03 + 1;
    return percent(p, 0) >= 95 ? 0 : fit_growing(0, 1000, 95, percent, p) + 0.5;
}

struct tum_rates tum_paced_stream(struct tum *tum, const struct tum_run *run, uint32_t bytes)
{
    struct pace p = {tum, run, bytes};

    return tum_stream(tum, run, bytes, gap_us(&p));
}
