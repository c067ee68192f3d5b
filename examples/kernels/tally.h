/*
 * tally.h - what a task counts of its own messages, and its clock. For the implementation of team.h.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>

/* Seconds since some moment; in the virtual time of a simulated network these are its seconds. */
double tally_now_s(void);

/* Counting begins, or ends. Messages that go meanwhile do not count. */
void tally_count(bool on);

/* The clock starts, or stops; the time in communication is counted between them. */
void tally_start(void);
void tally_stop(void);

/* A message with so many bytes has been sent. */
void tally_message(long bytes);

/* While the clock runs, communication waits so long before it begins: see options.h. */
void tally_pace(long us);

/* Communication begins and ends; pairs may nest. */
void tally_enter(void);
void tally_leave(void);

/* What has been counted: sizes[0..messages) in bytes, which stays the tally's. */
struct tally {
    int messages;
    const int *sizes;
    double time_s;
    double communication_s;
};
struct tally tally_result(void);

#endif
