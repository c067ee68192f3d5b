/* tum_fore.c - see tum_fore.h. Rates are in 2^20 bit/s, as the report's. */
#include <math.h>
#include <stdio.h>
#include "lab/layout.h"
#include "reproduce/fit.h"
#include "reproduce/tables.h"
#include "tum_fore.h"

static const double mega = 1 << 20, warm_up_s = 0.1, measured_s = 0.2;

/* A stream of PDUs: what the sender's calls have taken, and what the receiver's have given. */
struct stream {
    struct lab lab;
    struct pvma_end *from, *to;
    uint32_t bytes;
    double gap_us; /* after each PDU */
    uint64_t sent, received;
};

struct rates {
    double sender, receiver;
};

static void send(void *arg)
{
    static uint8_t data[16384];
    struct stream *s = arg;

    for (;; s->sent++) {
        s->from->send(s->from, data, s->bytes);
        if (s->gap_us > 0)
            lab_compute(&s->lab, 0, s->gap_us);
    }
}

static void receive(void *arg)
{
    static uint8_t data[16384];
    struct stream *s = arg;

    for (;; s->received++)
        s->to->receive(s->to, data, s->bytes);
}

static struct rates run_stream(struct tum *tum, enum tum_host host, enum tum_stack stack, uint32_t bytes, double gap_us)
{
    static struct stream s;
    struct tum_run run = {.host = host, .stack = stack};
    struct pvma_topology topology;
    struct lab_setup setup = tum_setup(tum, &run, &topology);
    double bits = bytes * 8 / measured_s / mega;
    uint64_t sent, received;

    s = (struct stream){.bytes = bytes, .gap_us = gap_us};
    lab_open(&s.lab, &setup);
    lab_connect(&s.lab, stack == TUM_API5 ? LAB_FORE5 : LAB_FORE34, 0, 1, &s.from, &s.to);
    lab_start(&s.lab, receive, &s);
    lab_start(&s.lab, send, &s);
    lab_run(&s.lab, warm_up_s);
    sent = s.sent;
    received = s.received;
    lab_run(&s.lab, measured_s);
    sent = s.sent - sent;
    received = s.received - received;
    lab_close(&s.lab, &tum->events);
    layout_free(&topology);
    return (struct rates){(double)sent * bits, (double)received * bits};
}

struct paced {
    struct tum *tum;
    enum tum_host host;
    uint32_t bytes;
};

static double percent_received(void *arg, double gap_us)
{
    struct paced *p = arg;
    struct rates rates = run_stream(p->tum, p->host, TUM_API5, p->bytes, gap_us);

    return 100 * rates.receiver / rates.sender;
}

/* The receiver's rate if the sender pauses just as long as 95 % need to arrive. */
static double paced_rate(struct tum *tum, enum tum_host host, uint32_t bytes)
{
    struct paced p = {tum, host, bytes};
    double gap_us = percent_received(&p, 0) >= 95 ? 0 : fit_growing(0, 1000, 95, percent_received, &p) + 0.5;

    return run_stream(tum, host, TUM_API5, bytes, gap_us).receiver;
}

static void run_paced(struct tum *tum, struct report *r)
{
    report_set(r, TUM_FORE, "HP, paced, 8704 B", "receiver", paced_rate(tum, TUM_HP, 8704), 0);
    report_set(r, TUM_FORE, "IBM, paced, 3584 B", "receiver", paced_rate(tum, TUM_IBM, 3584), 0);
}

/* Test 8: where the HP's sender and receiver agree, and where the sender is faster. */
static void claim_hp(struct tum *tum, struct report *r)
{
    static const uint32_t agree[] = {1024, 4096, 6144, 8192, 9184}, differ[] = {512, 2560};
    double most = 0, least = INFINITY;

    for (unsigned i = 0; i < 5; i++) {
        struct rates rates = run_stream(tum, TUM_HP, TUM_API5, agree[i], 0);
        most = fmax(most, rates.sender - rates.receiver);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct rates rates = run_stream(tum, TUM_HP, TUM_API5, differ[i], 0);
        least = fmin(least, rates.sender - rates.receiver);
    }
    report_claim_numbers(r, "H16", true, &most, "at most %.1f Mbit/s apart at 1, 4, 6, 8 KB and 9184 B", most);
    report_claim(r, "H17", least > 10, "%.1f Mbit/s apart at 512 or 2560 B", least);
}

static void mark_printed(struct report *r, const char *side, uint32_t bytes)
{
    char row[32], curve[32];

    snprintf(row, sizeof row, "IBM, unpaced, %u B", bytes);
    snprintf(curve, sizeof curve, "IBM, %s", side);
    report_paper_point(r, "test9-flood", curve, bytes, report_printed(r, TUM_FORE, row, side));
}

/* Test 9, and test 7's hole. */
static void run_ibm(struct tum *tum, struct report *r)
{
    static const uint32_t sizes[] = {256, 512, 1024, 1536, 2048, 2568, 3072, 3584, 4088};
    struct rates at[9];
    double least_flat, most_flat;

    for (unsigned i = 0; i < 9; i++) {
        at[i] = run_stream(tum, TUM_IBM, TUM_API5, sizes[i], 0);
        report_point(r, "test9-flood", "IBM, sender", sizes[i], at[i].sender);
        report_point(r, "test9-flood", "IBM, receiver", sizes[i], at[i].receiver);
    }
    report_set(r, TUM_FORE, "IBM, unpaced, 2048 B", "sender", at[4].sender, 0);
    report_set(r, TUM_FORE, "IBM, unpaced, 4088 B", "sender", at[8].sender, 0);
    report_set(r, TUM_FORE, "IBM, unpaced, 2568 B", "receiver", at[5].receiver, 0);
    report_set(r, TUM_FORE, "IBM, unpaced, 3072 B", "receiver", at[6].receiver, 0);
    report_set(r, TUM_FORE, "IBM, unpaced, 4088 B", "receiver", at[8].receiver, 0);
    mark_printed(r, "sender", 2048);
    mark_printed(r, "receiver", 2568);
    mark_printed(r, "receiver", 3072);
    mark_printed(r, "sender", 4088);
    mark_printed(r, "receiver", 4088);
    least_flat = fmin(fmin(at[6].receiver, at[7].receiver), at[8].receiver);
    most_flat = fmax(fmax(at[6].receiver, at[7].receiver), at[8].receiver);
    report_claim(
        r, "H18", at[3].receiver < at[4].receiver && at[4].receiver < at[6].receiver && least_flat > 0.95 * most_flat,
        "%.1f at 1.5 KB, %.1f at 2 KB, %.1f to %.1f from 3 KB", at[3].receiver, at[4].receiver, least_flat, most_flat);
    report_claim_numbers(r, "H19", true, &at[2].receiver, "%.1f Mbit/s arrive", at[2].receiver);
}

/* Test 7. */
static void claim_aal34(struct tum *tum, struct report *r)
{
    double most = 0;

    for (uint32_t bytes = 1024; bytes <= 4096; bytes += 1024)
        most = fmax(most, run_stream(tum, TUM_IBM, TUM_API34, bytes < 4092 ? bytes : 4092, 0).receiver);
    report_claim_numbers(r, "H20", true, &most, "up to %.1f Mbit/s", most);
}

void tum_run_fore(struct tum *tum, struct report *report)
{
    run_paced(tum, report);
    claim_hp(tum, report);
    run_ibm(tum, report);
    claim_aal34(tum, report);
}
