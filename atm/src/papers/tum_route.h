/*
 * tum_route.h - the report's PVM benchmark by each of PVM's routes: one-way times that a model or real programs have
 * found, and what tests 14 to 21 print and claim about them.
 */
#ifndef PVMA_TUM_ROUTE_H
#define PVMA_TUM_ROUTE_H

#include "report/report.h"
#include "tum_hosts.h"

enum tum_way { TUM_DIRECT, TUM_BY_UDP, TUM_BY_FORE, TUM_WAYS };

enum { TUM_SIZES = 17, TUM_LONG = 128 << 10 };

/* 0 B to 256 KB; the direct route has no use for the last. */
extern const uint32_t tum_size[TUM_SIZES];

/* Of HP and IBM. */
struct tum_times {
    double us[2][TUM_WAYS][TUM_SIZES];
};

double tum_time_us(const struct tum_times *times, enum tum_host host, enum tum_way way, uint32_t bytes);

/* 10^6 bytes a second. */
double tum_rate(const struct tum_times *times, enum tum_host host, enum tum_way way, uint32_t bytes);

/* Fills in the rows of the default route: `set` is report_set or report_set_program. */
void tum_set_route(struct report *report, const struct tum_times *times,
                   void (*set)(struct report *report, const char *table, const char *row, const char *column,
                               double simulated, double interval));

/* Judges the claims that need these times alone. */
void tum_claim_route(struct report *report, const struct tum_times *times);

#endif
