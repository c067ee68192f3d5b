/* member.h - the part of pvm-perf that is spawned: takes part in points until its parent says end, or ends. */
#ifndef PERF_MEMBER_H
#define PERF_MEMBER_H

/* Runs a member to its end. Returns the exit code. */
int member_main(void);

/* Tells the parent what went wrong, and ends this member. */
void member_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Ends this member as above when a PVM call failed; else returns its result. */
int member_must(int code, const char *call);

/* A monotonic clock. */
double now_us(void);

#endif
