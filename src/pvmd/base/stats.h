/* stats.h - counters since the daemon's start, shown by `tickle 9`. */
#ifndef PVMD_STATS_H
#define PVMD_STATS_H

#include <stdint.h>

/* X(name, text) */
#define PVMD_STATS(X)                                                                                                  \
    X(frames, "frames relayed")                                                                                        \
    X(bytes, "payload bytes relayed")                                                                                  \
    X(host_frames, "of these frames to other hosts")                                                                   \
    X(host_bytes, "payload bytes of these")                                                                            \
    X(queued, "frames that had to wait")                                                                               \
    X(dropped, "frames dropped, receiver unknown")                                                                     \
    X(multicasts, "multicasts")                                                                                        \
    X(holds, "senders told to hold")                                                                                   \
    X(overruns, "senders that went on, and were paused")                                                               \
    X(requests, "requests of tasks")                                                                                   \
    X(refused, "connections refused or closed for bad behaviour")                                                      \
    X(link_losses, "connections to other daemons lost")                                                                \
    X(resent, "frames sent to other daemons once more")                                                                \
    X(spawned, "processes started")                                                                                    \
    X(ended, "tasks ended")                                                                                            \
    X(longest_turn_us, "microseconds of CPU time in the longest turn of the loop")

struct pvmd_stats {
#define X(name, text) uint64_t name;
    PVMD_STATS(X)
#undef X
};

extern struct pvmd_stats pvmd_stats;

#endif
