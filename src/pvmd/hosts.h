/*
 * hosts.h - the host table. The master alone changes it; the others follow what it tells (join.c).
 */
#ifndef PVMD_HOSTS_H
#define PVMD_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../core/dsig.h"
#include "../core/tid.h"

struct pvmd_link;

/* The value says what the host's slot waits for. */
enum pvmd_host_state {
    PVMD_HOST_LAUNCHING, /* for the launcher's line */
    PVMD_HOST_LINKING,   /* for the authenticated link */
    PVMD_HOST_JOINING,   /* for all other daemons to know of it */
    PVMD_HOST_UP,        /* for nothing: a member */
};

struct pvmd_host {
    unsigned index;       /* 1..4095; never reused until the counter wraps */
    uint32_t incarnation; /* counts table changes: tells two users of one slot apart */
    enum pvmd_host_state state;
    char *name;
    char *arch;
    int speed;
    pvmi_dsig dsig;
    char *exec_path;   /* ep=, "" for the host's own default */
    char *working_dir; /* wd= */
    char *debugger;    /* bx= */
    char *address;     /* where its daemon listens: "ip" as numbers */
    uint16_t port;
    struct pvmd_link *link; /* NULL for ourselves, and while there is none yet */
};

/* The host with this index if it is a member (state UP), else NULL. */
struct pvmd_host *pvmd_host_by_index(unsigned index);

/* The member with this name; "." is this host. NULL if there is none. */
struct pvmd_host *pvmd_host_by_name(const char *name);

/* This host's own entry, never NULL after start-up. */
struct pvmd_host *pvmd_host_self(void);

/* Members in order of index: *count pointers in static storage, valid until the table changes. */
struct pvmd_host **pvmd_host_list(size_t *count);

/*
 * Called by join.c when a host has become a member, or has ceased to be one (left, or failed). Local duties hang on it:
 * notify, relay (TC_GONE), mailbox, spawn waits. Defined in membership.c, which calls each duty in turn.
 */
void pvmd_host_joined(struct pvmd_host *host);
void pvmd_host_left(unsigned index);

#endif
