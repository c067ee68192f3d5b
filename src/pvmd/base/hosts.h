/*
 * hosts.h - the host table. Only the master changes it; the other daemons apply the changes that it sends (join.c).
 */
#ifndef PVMD_HOSTS_H
#define PVMD_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/message/dsig.h"
#include "core/message/tid.h"

struct pvmd_link;

#define PVMD_HOST_NAME_MAX 255 /* bytes of a host's name */
#define PVMD_SPEED_DEFAULT 1000
#define PVMD_SPEED_MAX     1000000
#define PVMD_SLOTS_MAX     (1 << 18) /* as many tasks as a host can have */

/* Named by what the host's slot waits for. */
enum pvmd_host_state {
    PVMD_HOST_LAUNCHING, /* for the launcher's line; known at the master only */
    PVMD_HOST_LINKING,   /* for the authenticated link; known at the master only */
    PVMD_HOST_JOINING,   /* for all other daemons to know of it; frames to it are carried already */
    PVMD_HOST_UP,        /* for nothing: a member */
    PVMD_HOST_LEAVING,   /* for its daemon to end; no member any more */
};

struct pvmd_host {
    unsigned index;       /* 1..4095; reused only after the counter has wrapped */
    uint32_t incarnation; /* random: distinguishes successive users of a slot */
    enum pvmd_host_state state;
    char *name;
    char *arch; /* "" until known */
    int speed;
    int slots; /* how many tasks it wants; 0: none that could be placed elsewhere */
    pvmc_dsig dsig;
    char *exec_path;   /* ep=, "" for the host's own default; known on the host itself only, as the next two */
    char *working_dir; /* wd= */
    char *debugger;    /* bx= */
    char *address;     /* where its daemon listens: an IP address as numbers, "" for ourselves and while unknown */
    uint16_t port;
    uint8_t token;          /* with which it joined: its entry in tokens.c, counted from 1; or 0 */
    uint32_t asker, asked;  /* whose request added it (host index, number of the petition), or 0 */
    unsigned launches;      /* master: of other hosts, which it is running now (fanout.h) */
    bool launch_suspect;    /* master: one of them has failed */
    bool left_over;         /* JOINING, and its master is lost: the next one's table says whether it is a member */
    bool draining;          /* leaves once its tasks have ended, and gets no new ones; never taken back */
    bool lost;              /* a slave's master whose link is lost for good; it is a member until another one leads */
    struct pvmd_link *link; /* NULL for ourselves, and while there is none yet */
};

/* ---- for every duty ---- */

/* The host with this index if frames may go to it (JOINING, or UP: a member), else NULL. */
struct pvmd_host *pvmd_host_by_index(unsigned index);

/* The member with this name (case does not count); "." is this host. NULL if there is none. */
struct pvmd_host *pvmd_host_by_name(const char *name);

/* This host's own entry, never NULL after start-up. */
struct pvmd_host *pvmd_host_self(void);

/* Members in order of index: *count pointers in static storage, valid until the table changes. */
struct pvmd_host **pvmd_host_list(size_t *count);

/* Slots of this host if nobody says otherwise: PVM_SLOTS, or the processors that this process may use. */
int pvmd_host_slots_own(void);

/* ---- for changing the table: join.c, leave.c, slave.c ---- */

/* A new entry in the table with a copy of name and all texts ""; NULL when the slot is taken or memory is out. */
struct pvmd_host *pvmd_host_new(unsigned index, uint32_t incarnation, const char *name);

/* Removes it from the table and frees it. Its link must be closed before. */
void pvmd_host_free(struct pvmd_host *host);

/* Replaces one of the texts by a copy. PVMC_ENOMEM: the daemon must give up its work on this host. */
int pvmd_host_set_text(char **field, const char *text);

/* The entry whatever its state; NULL for a free slot or an index out of range. */
struct pvmd_host *pvmd_host_any(unsigned index);

/* One more than the highest index in use, for loops over all entries. */
unsigned pvmd_host_end(void);

/* The entry with this name that is not LEAVING, whatever else its state. */
struct pvmd_host *pvmd_host_any_by_name(const char *name);

void pvmd_host_set_state(struct pvmd_host *host, enum pvmd_host_state state);

/* The next free index after the last one given out; 0 when all are in use. Master only. */
unsigned pvmd_host_next_index(void);

/* The last index given out, which the next master continues from. */
unsigned pvmd_host_last_index(void);
void pvmd_host_set_last_index(unsigned index);

/* The master has given this index out, and perhaps later ones before. */
void pvmd_host_note_index(unsigned index);

/*
 * A row in the wire format: see doc/protocol.md. Reading returns an entry in state JOINING, a PVMC_E code, or
 * PVMC_EEXISTS.
 */
void pvmd_host_put_row(struct pvmc_buf *b, const struct pvmd_host *host);
int pvmd_host_get_row(struct pvmc_buf *b, struct pvmd_host **host);

/* Frees the whole table: the daemon's end. */
void pvmd_host_free_all(void);

#endif
