/*
 * services.h - the experiment of the thesis's chapter 6: the messages of one task of a parallel program go through one
 * switch, whose output carries background traffic too, by UBR, by ABR, or by both as the latency demands (ece.h).
 */
#ifndef PVMA_SERVICES_H
#define PVMA_SERVICES_H

#include "assured/ece.h"

enum services_kind { SERVICES_UBR, SERVICES_ABR, SERVICES_SWITCHING, SERVICES_DUPLICATING };

/* "UBR only", "ABR only", "switching", "duplicating". */
const char *services_name(enum services_kind kind);

/* A message of the trace: when the task sends it, and its octets. */
struct services_message {
    pvma_ps at;
    uint32_t bytes;
};

struct services_setup {
    enum services_kind kind;
    const struct services_message *messages;
    unsigned count, item_bytes;
    double load;      /* of the background, relative to the output's link; 0: none */
    unsigned sources; /* background sources, ON and OFF, which share the load; `abr_sources` of them are of ABR */
    unsigned abr_sources;
    double on_share; /* of the time */
    pvma_ps on_mean;
    double off_mbps; /* of each, in the state OFF */
    uint32_t buffer_cells;
    int64_t rate_bps;               /* of the links */
    double peak_mbps, minimum_mbps; /* of ABR */
    struct pvma_ece_settings ece;   /* but for `duplicating` */
    uint64_t seed;
};

/* Table 6.1 and 6.2, and what the thesis leaves open: our choice. No messages yet. */
struct services_setup services_defaults(enum services_kind kind);

enum services_trace { SERVICES_PDE1, SERVICES_PDE2 };

/*
 * A trace of so many messages, whose items have 8 octets. PDE1: two at once at equal intervals, 8,192 octets each
 * (Table A.1 has 5,608, which is two for each of 4 tasks and 700 iterations). PDE2: at exponential intervals, 40
 * octets, or 424 in a fifth of them (Table A.1: mean 116.8, median 40). The mean interval is that of Tables 6.5
 * and 6.6: by UBR only, 266.4 and 280 Kbit/s of cells. Free the array.
 */
struct services_message *services_trace(enum services_trace trace, unsigned count, uint64_t seed);

struct services_result {
    bool ended;                                /* all messages arrived within a minute after the last was sent */
    double latency_us;                         /* mean, of a message: from the call that sends it to its last octet */
    double ubr_kbps, abr_kbps, vbr_kbps;       /* cells sent by each service in the time of the trace, RM cells too */
    double ubr_came_kbps, abr_came_kbps;       /* ... and those that came. Tables 6.5, 6.6: UBR's alone are constant */
    double abr_share;                          /* of SDs, those that went by ABR (also) */
    double loss;                               /* of the connection's cells in the switch */
    double load;                               /* of the background at the output, as it was */
    uint64_t sds, replicas, doubled_later;     /* frames with data, and those that were doubled; by Retransmit3 */
    uint64_t lstats, modes, again, duplicates; /* as in struct pvma_connection_statistics */
    uint64_t abr_lost;                         /* cells of the task's VC of ABR lost in the switch */
    uint64_t events;
};

struct services_result services_run(const struct services_setup *setup);

#endif
