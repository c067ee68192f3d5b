/* tum_fore.c - see tum_fore.h. Rates are in 2^20 bit/s, as the report's. */
#include <math.h>
#include <stdio.h>
#include "reproduce/tables.h"
#include "tum_fore.h"
#include "tum_streams.h"

static struct tum_rates run_stream(struct tum *tum, enum tum_host host, enum tum_stack stack, uint32_t bytes)
{
    struct tum_run run = {.host = host, .stack = stack};

    return tum_stream(tum, &run, bytes, 0);
}

static double paced_rate(struct tum *tum, enum tum_host host, uint32_t bytes)
{
    struct tum_run run = {.host = host, .stack = TUM_API5};

    return tum_paced_stream(tum, &run, bytes).receiver;
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
        struct tum_rates rates = run_stream(tum, TUM_HP, TUM_API5, agree[i]);
        most = fmax(most, rates.sender - rates.receiver);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct tum_rates rates = run_stream(tum, TUM_HP, TUM_API5, differ[i]);
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
    struct tum_rates at[9];
    double least_flat, most_flat;

    for (unsigned i = 0; i < 9; i++) {
        at[i] = run_stream(tum, TUM_IBM, TUM_API5, sizes[i]);
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
        most = fmax(most, run_stream(tum, TUM_IBM, TUM_API34, bytes < 4092 ? bytes : 4092).receiver);
    report_claim_numbers(r, "H20", true, &most, "up to %.1f Mbit/s", most);
}

void tum_run_fore(struct tum *tum, struct report *report)
{
    run_paced(tum, report);
    claim_hp(tum, report);
    run_ibm(tum, report);
    claim_aal34(tum, report);
}
