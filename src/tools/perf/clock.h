/* clock.h - which clock pvm-perf measures with. */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

enum clock_kind {
    CLOCK_KIND_REAL,
    CLOCK_KIND_VIRTUAL, /* the time of a simulated network, in which this task lives */
    CLOCK_KIND_BESIDE,  /* the task lives in that time, but its clock is the real one */
};

/* Of this task, which has enrolled. */
enum clock_kind clock_kind(void);

/* "real", "virtual", "beside". */
const char *clock_name(enum clock_kind kind);

/* The same for readers of a table. */
const char *clock_text(enum clock_kind kind);

#endif
