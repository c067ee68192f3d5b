/*
 * why.h - why a task cannot be started, in words, for the daemon's log and for whoever spawns it.
 */
#ifndef PVMD_WHY_H
#define PVMD_WHY_H

#include "core/log.h"

#define PVMD_WHY_BYTES 512

struct pvmd_why {
    char text[PVMD_WHY_BYTES]; /* "": nothing yet */
};

/* Logs a reason, and keeps it if it is the first one. */
void pvmd_why(struct pvmd_why *why, enum pvmc_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What stat() and access() tell of a path at which no program was found. Static storage. */
const char *pvmd_why_no_program(const char *path);

/* Why the system refuses to execute a file that exists: errno of the attempt, and what the file tells. Static storage.
 */
const char *pvmd_why_not_executed(const char *path, int error);

#endif
