/* process.h - what the system says of a process, and of this host. */
#ifndef PVMD_PROCESS_H
#define PVMD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pvmd_process {
    char state; /* as in ps: R, S, D, T, Z ... */
    uint64_t cpu_us, memory_bytes;
};

/* False: there is no such process, or it cannot be looked at. */
bool pvmd_process_read(pid_t pid, struct pvmd_process *out);

struct pvmd_host_load {
    unsigned processors;
    uint32_t load_milli; /* thousandths: the average number of processes that want to run, over a minute */
    uint64_t busy_us;    /* CPU time of all processors since the start of the system */
    uint64_t memory_bytes, available_bytes;
};

/* What cannot be read is 0. */
struct pvmd_host_load pvmd_process_host(void);

#endif
