/* real_tum.c - TUM-I9701's PVM benchmark, by a real echo program. */
#include <stdio.h>
#include "reproduce/real.h"
#include "reproduce/tables.h"

/* Reasons for misses. */
static const char copies[] = "the report's PVM copied each byte through TCP's sockets. This one sends by the Fore API, "
                             "without those copies; only "
                             "its cost per packet is fitted, so long messages are faster";
static const char packets[] = "a packet of the Fore API has at most 4092 B on this host, 9188 B in the report's TCP. "
                              "The fitted cost is that of a "
                              "packet: PVM's message had it once";
static const char empty[] = "the report's PVM is faster with an empty message than with one byte; here both are a "
                            "packet, as long but for a byte";

#define RATE(row, column, why)                                                                                         \
    {                                                                                                                  \
        TUM_TABLE3, row, column, REPORT_PREDICTS, why                                                                  \
    }
#define LATENCY(row, column, use, why)                                                                                 \
    {                                                                                                                  \
        TUM_TABLE4, row, column, use, why                                                                              \
    }
#define RATES(row, why)                                                                                                \
    RATE(row, "64 B", why), RATE(row, "128 B", why), RATE(row, "256 B", why), RATE(row, "512 B", why),                 \
        RATE(row, "1 KB", why), RATE(row, "2 KB", why), RATE(row, "4 KB", why), RATE(row, "8 KB", why),                \
        RATE(row, "16 KB", why), RATE(row, "32 KB", why), RATE(row, "64 KB", why), RATE(row, "128 KB", why)
#define LATENCIES(row, why)                                                                                            \
    LATENCY(row, "0 B", REPORT_PREDICTS, empty), LATENCY(row, "1 B", REPORT_FIXES, why),                               \
        LATENCY(row, "4 B", REPORT_PREDICTS, why), LATENCY(row, "16 B", REPORT_PREDICTS, why),                         \
        LATENCY(row, "128 B", REPORT_PREDICTS, why), LATENCY(row, "1 KB", REPORT_PREDICTS, why),                       \
        LATENCY(row, "4 KB", REPORT_PREDICTS, why), LATENCY(row, "16 KB", REPORT_PREDICTS, why)

static const struct report_program programs[] = {RATES("HP", copies), RATES("IBM", packets),
                                                 LATENCIES("HP ATM", copies), LATENCIES("IBM ATM", packets)};

static void run_host(struct report *report, const char *profile, const char *rate_row, const char *latency_row)
{
    static const struct {
        const char *column;
        double bytes;
    } rates[] = {{"64 B", 64},     {"128 B", 128},   {"256 B", 256},   {"512 B", 512},
                 {"1 KB", 1024},   {"2 KB", 2048},   {"4 KB", 4096},   {"8 KB", 8192},
                 {"16 KB", 16384}, {"32 KB", 32768}, {"64 KB", 65536}, {"128 KB", 131072}},
      latencies[] = {{"0 B", 0},     {"1 B", 1},     {"4 B", 4},     {"16 B", 16},
                     {"128 B", 128}, {"1 KB", 1024}, {"4 KB", 4096}, {"16 KB", 16384}};
    struct real_setup setup = {.profile = profile, .model = "asx200", .rate = "oc3", .hosts = 2};
    struct real_echo echo;

    real_fit_call(&setup, 1, 1000 * report_printed(report, TUM_TABLE4, latency_row, "1 B"));
    real_echo(&setup, &echo);
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++)
        report_set_program(report, TUM_TABLE3, rate_row, rates[i].column,
                           rates[i].bytes / real_echo_us(&echo, rates[i].bytes), 0);
    for (unsigned i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
        report_set_program(report, TUM_TABLE4, latency_row, latencies[i].column,
                           real_echo_us(&echo, latencies[i].bytes) / 1000, 0);
}

static void run(struct report *report)
{
    run_host(report, "hp735", "HP", "HP ATM");
    run_host(report, "ibm390", "IBM", "IBM ATM");
}

const struct real_experiment real_tum = {programs, sizeof programs / sizeof programs[0], run};
