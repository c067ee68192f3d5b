/*
 * metrics.h - what a monitoring system sees of this daemon, served over HTTP at /metrics if PVM_METRICS says where.
 * doc/metrics.md lists the metrics.
 */
#ifndef PVMD_METRICS_H
#define PVMD_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct pvmd_task;

/* Checks PVM_METRICS: 0, or PVMC_EPARAM with a message in why[size] that says what is valid. */
int pvmd_metrics_check(char *why, size_t size);

/*
 * Begins to serve, unless PVM_METRICS is empty. The log says at which URL, or why not: without metrics the daemon works
 * as well. Called by daemon.c once the loop exists.
 */
void pvmd_metrics_start(void);
void pvmd_metrics_stop(void);

/* The page in one of the formats of writer.h; NULL when out of memory. The caller frees it. */
char *pvmd_metrics_page(bool open_metrics, size_t *length);

/* Listener of the event: counts how long a spawned process took until it enrolled. */
void pvmd_metrics_task_enrolled(struct pvmd_task *task);

#endif
