/*
 * team.h - a team of tasks of one program that compute together, for the kernels in examples/nas and examples/genesis.
 *
 * The first task, which the user starts, spawns the others with its own arguments. Tasks are numbered by rank, 0 to
 * size-1; rank 0 is the first. team_pvm.c implements messages over PVM, team.c collective calls on top of them: another
 * library takes a file in the place of team_pvm.c.
 *
 * Communication is blocking and deterministic. Collective calls go by way of the first task, which adds up in the order
 * of ranks: a result depends on the number of tasks but never on timing. Each costs 2 (size-1) messages. A team of two
 * does not need that way: each task sends the other one message. Nor do team_all_to_all() and long parts of
 * team_share(), which go from each task to each other one.
 *
 * An error ends the whole team: the task prints a line to standard error and exits with status 1, and so do the others
 * when they learn of it.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>

/* Sums and maxima are of ints or doubles only. */
enum team_type { TEAM_INT, TEAM_FLOAT, TEAM_DOUBLE };

/* The largest team. Tags of kernels are from 0 to TEAM_TAG_MAX. */
enum { TEAM_MAX = 256, TEAM_TAG_MAX = 9999 };

/* ---- the team ---- */

/*
 * Makes a team of `tasks`, in which this process is one. The first call of the program that uses other tasks, and call
 * it once. Counting messages begins here.
 */
void team_start(int argc, char **argv, int tasks);

int team_rank(void);
int team_size(void);

/* All tasks have finished: leaves the team and returns the exit status, the worst of all. To be main()'s last call. */
int team_end(int status);

/* Ends the whole team with status 1, and prints a line in the manner of printf(). Any one task may call it. */
_Noreturn void team_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* calloc() that ends the team if there is no memory; free it with free(). */
void *team_alloc(long count, unsigned long size);

/* ---- messages between two tasks ---- */

/* Sends values[0..count). They may be changed as soon as the call returns. */
void team_send(int to, int tag, enum team_type type, const void *values, int count);

/* Waits for the next message of `from` with this tag, which has exactly `count` values. */
void team_receive(int from, int tag, enum team_type type, void *values, int count);

/* One neighbour in an exchange: `count` values at `out` go to it, and as many of its own come to `in`. */
struct team_side {
    int peer;
    const void *out; /* NULL: nothing goes there */
    void *in;        /* NULL: nothing comes */
    int count;
};

/*
 * Exchanges values with neighbours: sends all that goes, then receives all that comes. Side i of a task faces side i ^
 * 1 of its peer, so that two tasks that are neighbours twice, as in a ring of two, know which message is which. The
 * tags from `tag` to tag + sides - 1 must be free.
 */
void team_exchange(int tag, enum team_type type, const struct team_side *sides, int count);

/*
 * The same as team_send() and team_receive() for messages of several parts, which may have strides: team_message()
 * begins one, team_pack() appends values[0], values[stride] ... values[(count-1) * stride], and team_post() sends it.
 * team_take() receives it, and team_unpack() reads its parts in the same order.
 */
void team_message(void);
void team_pack(enum team_type type, const void *values, int count, int stride);
void team_post(int to, int tag);
void team_take(int from, int tag);
void team_unpack(enum team_type type, void *values, int count, int stride);

/* ---- messages among all tasks ---- */

/* Waits until all tasks have called it. */
void team_barrier(void);

/* Replaces each of values[0..count) by its sum, or its maximum, over all tasks. */
void team_sum(enum team_type type, void *values, int count);
void team_max(enum team_type type, void *values, int count);

/* The same sums, but only the first task gets them, for size-1 messages; others' values stay as they are. */
void team_reduce(enum team_type type, void *values, int count);

/* All tasks get the first task's values[0..count). */
void team_broadcast(enum team_type type, void *values, int count);

/*
 * Makes a vector whole of which each task has computed a part: that of rank r is values[first[r]..first[r+1]), where
 * `first` has size+1 elements. Parts of more than 4 KiB in the mean go from each task to each other one, for
 * size * (size-1) messages.
 */
void team_share(enum team_type type, void *values, const int *first);

/*
 * Each task sends outgoing[r] values to rank r, and gets incoming[r] from it. They are at outgoing_at[r] of `out`, and
 * go to incoming_at[r] of `in`. size * (size-1) messages; what a task has for itself is copied.
 */
void team_all_to_all(enum team_type type, const void *out, const int *outgoing, const int *outgoing_at, void *in,
                     const int *incoming, const int *incoming_at);

/* ---- time and statistics ---- */

/*
 * What the kernel computes from now until team_clock_start(), it computes only to touch its memory and to open links,
 * as NAS's rules allow: messages do not count.
 */
void team_warm_up(void);

/* A barrier, after which the measured time begins. Without a call it begins at team_start(). */
void team_clock_start(void);

/* Ends the measured time and the counting of messages. Returns the longest time of all tasks, in seconds. */
double team_clock_stop(void);

/*
 * After team_clock_stop(): the first task prints messages, bytes, their mean and median, and the time in communication,
 * all in one line that begins with "stats":
 *
 *   stats tasks=4 messages=7116 bytes=13849740 mean=1946.28 median=8 time_s=0.5123 comm_s=0.2031 comm_max_s=0.2188
 *
 * A message is what one send carries, and its size is that of the values. Messages count from the end of team_start()
 * to team_clock_stop(), except those of warming up. comm_s is the time within calls of this header while the
 * clock runs, including packing: the mean of all tasks; comm_max_s is the longest.
 */
void team_report(void);

#endif
