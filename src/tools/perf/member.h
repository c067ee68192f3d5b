/* member.h - a spawned pvm-perf: takes part in points until its parent ends it or itself ends. */
#ifndef PERF_MEMBER_H
#define PERF_MEMBER_H

/* Runs a member to its end. Returns the exit code. */
int member_main(void);

/* Reports an error to the parent and ends this member. */
void member_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Returns the result of a PVM call, or calls member_fail() if it is an error. */
int member_must(int code, const char *call);

/* Monotonic time in microseconds. */
double now_us(void);

#endif
