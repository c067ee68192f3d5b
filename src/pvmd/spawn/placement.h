/* placement.h - which hosts get new tasks: by the flags and `where` of pvm_spawn(), and in turn. */
#ifndef PVMD_PLACEMENT_H
#define PVMD_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

struct pvmd_placement {
    unsigned *hosts;  /* indexes, in the order in which they get tasks */
    size_t count;     /* 0: no host fits */
    unsigned leaving; /* a host that would fit, but is draining; 0: none */
    char *directory;  /* working directory out of `where`, "" for the host's own */
};

/*
 * Lists the hosts that fit, beginning after the one that got the last task in turn. `where` is a host, "." (this host)
 * or an architecture, each with or without ":directory", or ":directory" alone. Returns 0 or PVMC_ENOMEM.
 */
int pvmd_placement_find(uint32_t flags, const char *where, struct pvmd_placement *p);

/* How many of n tasks the i-th of `hosts` hosts gets: equal shares, and one more for the first hosts. */
size_t pvmd_placement_share(size_t n, size_t hosts, size_t i);

/* This host got a task: the next spawn without a given host begins after it. */
void pvmd_placement_used(uint32_t flags, unsigned host_index);

void pvmd_placement_free(struct pvmd_placement *p);

#endif
