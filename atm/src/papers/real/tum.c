/*
 * tum.c - TUM-I9701's PVM benchmark, by a real echo program: the direct route over the Fore API, and the daemons'
 * route. Its rows on Ethernet are the model's alone, because processes have only the ATM network.
 */
#include <stdio.h>
#include "reproduce/real.h"
#include "reproduce/tables.h"
#include "papers/tum_route.h"

/* Reasons for misses. */
static const char copies[] = "the report's PVM copied each byte through TCP's sockets. This one sends by the Fore API, "
                             "without those copies; only "
                             "its cost per packet is fitted, so long messages are faster";
static const char packets[] = "a packet of the Fore API has at most 4092 B on this host, 9188 B in the report's TCP. "
                              "The fitted cost is that of a "
                              "packet: PVM's message had it once";
static const char empty[] = "the report's PVM is faster with an empty message than with one byte; here both are a "
                            "packet, as long but for a byte";
static const char outlier[] = "the report calls this value a bad outlier: 0, 1 and 4 B take about 2 ms";

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

static const struct report_program programs[] = {RATES("HP", copies),
                                                 RATES("IBM", packets),
                                                 LATENCIES("HP ATM", copies),
                                                 LATENCIES("IBM ATM", packets),
                                                 {TUM_ROUTE, "HP, UDP/ATM, 128 KB", "rate", REPORT_FIXES, NULL},
                                                 {TUM_ROUTE, "HP, UDP/ATM, 1 B", "latency", REPORT_FIXES, NULL},
                                                 {TUM_ROUTE, "HP, Fore API, 128 KB", "rate", REPORT_PREDICTS, NULL},
                                                 {TUM_ROUTE, "HP, Fore API, 0 B", "latency", REPORT_PREDICTS, NULL},
                                                 {TUM_ROUTE, "IBM, UDP/ATM, 128 KB", "rate", REPORT_FIXES, NULL},
                                                 {TUM_ROUTE, "IBM, UDP/ATM, 1 B", "latency", REPORT_FIXES, NULL},
                                                 {TUM_ROUTE, "IBM, UDP/ATM, 16 B", "latency", REPORT_PREDICTS, outlier},
                                                 {TUM_ROUTE, "IBM, Fore API, 128 KB", "rate", REPORT_PREDICTS, NULL}};

struct host {
    const char *name, *profile;
    const char *latencies; /* its table of raw latencies */
    double api_bytes;      /* of the Fore API in its column 4 KB */
};

static const struct host hosts[] = {{"HP", "hp735", TUM_TABLE1, 4096}, {"IBM", "ibm390", TUM_TABLE2, 4092}};

/* All sizes, but the longest only by the daemons. */
static void echo_by(const struct real_setup *setup, double us[TUM_SIZES])
{
    struct real_echo echo;

    real_echo(setup, &echo);
    for (unsigned i = 0; i < TUM_SIZES && (setup->by_daemons || tum_size[i] <= TUM_LONG); i++)
        us[i] = real_echo_us(&echo, tum_size[i]);
}

/* ---- the direct route ---- */

static void run_direct(struct report *report, enum tum_host host, struct tum_times *times)
{
    static const struct {
        const char *column;
        uint32_t bytes;
    } rates[] = {{"64 B", 64},     {"128 B", 128},   {"256 B", 256},   {"512 B", 512},
                 {"1 KB", 1024},   {"2 KB", 2048},   {"4 KB", 4096},   {"8 KB", 8192},
                 {"16 KB", 16384}, {"32 KB", 32768}, {"64 KB", 65536}, {"128 KB", TUM_LONG}},
      latencies[] = {{"0 B", 0},     {"1 B", 1},     {"4 B", 4},     {"16 B", 16},
                     {"128 B", 128}, {"1 KB", 1024}, {"4 KB", 4096}, {"16 KB", 16384}};
    struct real_setup setup = {.profile = hosts[host].profile, .model = "asx200", .rate = "oc3", .hosts = 2};
    char row[16];

    snprintf(row, sizeof row, "%s ATM", hosts[host].name);
    real_fit_call(&setup, 1, 1000 * report_printed(report, TUM_TABLE4, row, "1 B"));
    echo_by(&setup, times->us[host][TUM_DIRECT]);
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++)
        report_set_program(report, TUM_TABLE3, hosts[host].name, rates[i].column,
                           tum_rate(times, host, TUM_DIRECT, rates[i].bytes), 0);
    for (unsigned i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
        report_set_program(report, TUM_TABLE4, row, latencies[i].column,
                           tum_time_us(times, host, TUM_DIRECT, latencies[i].bytes) / 1000, 0);
}

/* ---- the daemons' route ---- */

enum { PLACES = 4 }; /* the two tasks and the two daemons, which each pay for a fragment */

static double printed_us(const struct report *report, const struct host *host, const char *row, const char *column)
{
    return 1000 * report_printed(report, host->latencies, row, column);
}

/* What UDP costs more than the Fore API is in the costs of the daemons, because the network charges the Fore API's. */
static struct real_daemons on_fore_api(const struct report *report, const struct host *host, struct real_daemons d)
{
    double udp_us = printed_us(report, host, "UDP ATM", "1 B"), api_us = printed_us(report, host, "API AAL5", "1 B");
    double udp_byte_us = (printed_us(report, host, "UDP ATM", "4 KB") - udp_us) / (4096 - 1);
    double api_byte_us = (printed_us(report, host, "API AAL5", "4 KB") - api_us) / (host->api_bytes - 1);
    d.fragment_us -= (udp_us - api_us) / PLACES;
    d.byte_us -= (udp_byte_us - api_byte_us) / PLACES;
    return d;
}

/* The profile's costs were found by this program on the report's network; the null model's are, on its own. */
static void fit_daemons(const struct report *report, const struct host *host, struct real_setup *setup)
{
    char latency[32], rate[32];

    setup->daemons = real_daemons_of(setup->profile);
    if (!real_is_null())
        return;
    snprintf(latency, sizeof latency, "%s, UDP/ATM, 1 B", host->name);
    snprintf(rate, sizeof rate, "%s, UDP/ATM, 128 KB", host->name);
    real_fit_daemons(setup, 1000 * report_printed(report, TUM_ROUTE, latency, "latency"),
                     REAL_LONG / report_printed(report, TUM_ROUTE, rate, "rate"));
}

/* Returns the setup over UDP. */
static struct real_setup run_daemons(struct report *report, const struct host *host, double us[TUM_WAYS][TUM_SIZES])
{
    struct real_setup setup = {
        .profile = host->profile, .model = "asx200", .rate = "oc3", .hosts = 2, .by_daemons = true};
    struct real_setup fore;

    fit_daemons(report, host, &setup);
    echo_by(&setup, us[TUM_BY_UDP]);
    fore = setup;
    fore.daemons = on_fore_api(report, host, setup.daemons);
    echo_by(&fore, us[TUM_BY_FORE]);
    return setup;
}

/* Packets longer than the Fore API's 9188 B do not exist here, so 16 KB are left out. */
static void claim_packets(struct report *report, struct real_setup setup, const struct tum_times *times)
{
    double rate = tum_rate(times, TUM_HP, TUM_BY_UDP, TUM_LONG), longer;

    setup.daemons.packet_bytes = 8192;
    longer = TUM_LONG / real_echo_one_us(&setup, TUM_LONG);
    report_claim(report, "H12", longer <= rate, "HP: %.2f, %.2f MB/s with 4, 8 KB", rate, longer);
}

static void run(struct report *report)
{
    static struct tum_times times;

    for (enum tum_host host = TUM_HP; host <= TUM_IBM; host++) {
        struct real_setup setup;
        run_direct(report, host, &times);
        setup = run_daemons(report, &hosts[host], times.us[host]);
        if (host == TUM_HP)
            claim_packets(report, setup, &times);
    }
    tum_set_route(report, &times, report_set_program);
    tum_claim_route(report, &times);
}

const struct real_experiment real_tum = {programs, sizeof programs / sizeof programs[0], run};
