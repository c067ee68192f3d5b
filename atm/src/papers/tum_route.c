/* tum_route.c - see tum_route.h. */
#include <math.h>
#include <stdio.h>
#include "reproduce/tables.h"
#include "tum_route.h"

const uint32_t tum_size[TUM_SIZES] = {0,    1,    4,    16,    64,    128,   256,      512,   1024,
                                      2048, 4096, 8192, 16384, 32768, 65536, TUM_LONG, 262144};

double tum_time_us(const struct tum_times *times, enum tum_host host, enum tum_way way, uint32_t bytes)
{
    unsigned i = 0;

    while (i < TUM_SIZES - 1 && tum_size[i] != bytes)
        i++;
    return times->us[host][way][i];
}

double tum_rate(const struct tum_times *times, enum tum_host host, enum tum_way way, uint32_t bytes)
{
    return bytes / tum_time_us(times, host, way, bytes);
}

/* ---- rows ---- */

static const struct {
    const char *row, *column;
    enum tum_host host;
    enum tum_way way;
    uint32_t bytes;
} rows[] = {
    {"HP, UDP/ATM, 128 KB", "rate", TUM_HP, TUM_BY_UDP, TUM_LONG},
    {"HP, UDP/ATM, 1 B", "latency", TUM_HP, TUM_BY_UDP, 1},
    {"HP, Fore API, 128 KB", "rate", TUM_HP, TUM_BY_FORE, TUM_LONG},
    {"HP, Fore API, 0 B", "latency", TUM_HP, TUM_BY_FORE, 0},
    {"IBM, UDP/ATM, 128 KB", "rate", TUM_IBM, TUM_BY_UDP, TUM_LONG},
    {"IBM, UDP/ATM, 1 B", "latency", TUM_IBM, TUM_BY_UDP, 1},
    {"IBM, UDP/ATM, 16 B", "latency", TUM_IBM, TUM_BY_UDP, 16},
    {"IBM, Fore API, 128 KB", "rate", TUM_IBM, TUM_BY_FORE, TUM_LONG},
};

void tum_set_route(struct report *report, const struct tum_times *times,
                   void (*set)(struct report *report, const char *table, const char *row, const char *column,
                               double simulated, double interval))
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool long_one = rows[i].bytes == TUM_LONG;
        double value = long_one ? tum_rate(times, rows[i].host, rows[i].way, rows[i].bytes)
                                : tum_time_us(times, rows[i].host, rows[i].way, rows[i].bytes) / 1000;
        set(report, TUM_ROUTE, rows[i].row, rows[i].column, value, 0);
    }
}

/* ---- claims ---- */

static void claim_direct(struct report *report, const struct tum_times *t)
{
    double rate[2], small[2], flat = tum_time_us(t, TUM_HP, TUM_DIRECT, 1024) / tum_time_us(t, TUM_HP, TUM_DIRECT, 1);

    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++) {
        rate[host] = tum_rate(t, host, TUM_DIRECT, TUM_LONG) / tum_rate(t, host, TUM_BY_UDP, TUM_LONG);
        small[host] = tum_time_us(t, host, TUM_BY_UDP, 1) / tum_time_us(t, host, TUM_DIRECT, 1);
    }
    report_claim(report, "H1", rate[0] >= 2 && rate[1] >= 2, "HP %.1f, IBM %.1f times", rate[0], rate[1]);
    report_claim(report, "H2", small[0] > 1.5, /* halves, rounded */
                 "HP %.1f times, IBM %.1f times", small[0], small[1]);
    report_claim_numbers(report, "H9", true, &flat, "HP: %.2f ms at 1 B, %.2f at 1 KB",
                         tum_time_us(t, TUM_HP, TUM_DIRECT, 1) / 1000, tum_time_us(t, TUM_HP, TUM_DIRECT, 1024) / 1000);
}

static void claim_overtaking(struct report *report, const struct tum_times *t)
{
    double hp[] = {tum_rate(t, TUM_HP, TUM_DIRECT, 64), tum_rate(t, TUM_HP, TUM_DIRECT, 16384),
                   tum_rate(t, TUM_HP, TUM_DIRECT, 32768)};
    double ibm[] = {tum_rate(t, TUM_IBM, TUM_DIRECT, 64), tum_rate(t, TUM_IBM, TUM_DIRECT, 16384),
                    tum_rate(t, TUM_IBM, TUM_DIRECT, 32768)};

    report_claim(report, "H13", hp[0] > ibm[0] && hp[1] > ibm[1] && hp[2] < ibm[2],
                 "HP and IBM: %.2f and %.2f at 16 KB, %.2f and %.2f at 32 KB", hp[1], ibm[1], hp[2], ibm[2]);
}

/* Test 18. */
static void claim_start(struct report *report, const struct tum_times *t)
{
    static const uint32_t sizes[] = {0, 1, 4, 16};
    double range[2] = {INFINITY, 0}, times = INFINITY;

    for (unsigned i = 0; i < 4; i++)
        for (enum tum_way way = TUM_BY_UDP; way <= TUM_BY_FORE; way++) {
            double hp = tum_time_us(t, TUM_HP, way, sizes[i]) / 1000, ibm = tum_time_us(t, TUM_IBM, way, sizes[i]);
            range[0] = fmin(range[0], hp);
            range[1] = fmax(range[1], hp);
            times = fmin(times, ibm / 1000 / hp);
        }
    report_claim_numbers(report, "H23", true, range, "%.2f to %.2f ms", range[0], range[1]);
    report_claim(report, "H24", times >= 1.95, /* twice, to two digits */ "%.2f times at least", times);
}

/* Test 19. */
static void claim_growth(struct report *report, const struct tum_times *t)
{
    static const uint32_t sizes[] = {128, 1024, 4096, 16384};
    double flat[2], range[2] = {INFINITY, 0};

    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++)
        flat[host] = tum_time_us(t, host, TUM_BY_UDP, 1024) / tum_time_us(t, host, TUM_BY_UDP, 1);
    for (unsigned i = 0; i < 4; i++) {
        double times = tum_time_us(t, TUM_IBM, TUM_BY_UDP, sizes[i]) / tum_time_us(t, TUM_HP, TUM_BY_UDP, sizes[i]);
        range[0] = fmin(range[0], times);
        range[1] = fmax(range[1], times);
    }
    report_claim_numbers(report, "H25", true, flat, "1 KB takes %.2f times as long as 1 B on HP, %.2f on IBM", flat[0],
                         flat[1]);
    report_claim_numbers(report, "H26", true, range, "%.2f to %.2f times", range[0], range[1]);
}

/* Tests 14 and 15. */
static void claim_rates(struct report *report, const struct tum_times *t)
{
    double fore[] = {tum_rate(t, TUM_HP, TUM_BY_FORE, TUM_LONG), tum_rate(t, TUM_IBM, TUM_BY_FORE, TUM_LONG)};
    double udp[] = {tum_rate(t, TUM_HP, TUM_BY_UDP, TUM_LONG), tum_rate(t, TUM_IBM, TUM_BY_UDP, TUM_LONG)};
    double longer = tum_rate(t, TUM_HP, TUM_BY_UDP, 2 * TUM_LONG);
    double dip[] = {tum_rate(t, TUM_IBM, TUM_BY_UDP, 2048), tum_rate(t, TUM_IBM, TUM_BY_UDP, 4096)};
    bool ahead = true;

    for (uint32_t bytes = 4096; bytes < TUM_LONG; bytes *= 2)
        ahead = ahead && tum_rate(t, TUM_IBM, TUM_BY_FORE, bytes) > tum_rate(t, TUM_IBM, TUM_BY_UDP, bytes);
    report_claim_numbers(report, "H14", true, (const double[]){fore[0] / udp[0], fore[1] / udp[1]},
                         "HP %.2f and %.2f, IBM %.2f and %.2f MB/s", fore[0], udp[0], fore[1], udp[1]);
    report_claim_numbers(report, "H27", true, &longer, "%.2f MB/s at 256 KB", longer);
    report_claim(report, "H28", dip[1] < dip[0], "%.2f MB/s at 2 KB, %.2f at 4 KB", dip[0], dip[1]);
    report_claim(report, "H29", ahead && fore[1] < udp[1], "%s from 4 to 64 KB; %.2f and %.2f MB/s at 128 KB",
                 ahead ? "ahead" : "not ahead", fore[1], udp[1]);
}

void tum_claim_route(struct report *report, const struct tum_times *times)
{
    claim_direct(report, times);
    claim_overtaking(report, times);
    claim_start(report, times);
    claim_growth(report, times);
    claim_rates(report, times);
}
