/*
 * sim.h - the event engine of the simulated network: virtual time, ordered events, and a digest of the whole run.
 *
 * Names of the simulator begin with pvma_. Only one thread may use a simulation. An event is embedded in the object
 * that it belongs to, so the fast path allocates nothing. Simultaneous events run in the order in which they were
 * scheduled. No result depends on a clock or an address: one seed gives one run, to the last event.
 *
 * Virtual time is in picoseconds since the start (106 days fit): a cell on a 155 Mbit/s link takes 2831196.6 of them.
 * Running out of memory ends the program with a message, because an incomplete simulation has no valid result.
 */
#ifndef PVMA_SIM_H
#define PVMA_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t pvma_ps;

#define PVMA_NS    ((pvma_ps)1000)
#define PVMA_US    ((pvma_ps)1000000)
#define PVMA_MS    ((pvma_ps)1000000000)
#define PVMA_S     ((pvma_ps)1000000000000)
#define PVMA_NEVER INT64_MAX

/* The struct of `type` whose `member` is at `pointer`. */
#define PVMA_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Kinds of events. The numbers go into the digest: add new ones at the end. */
enum pvma_event_kind {
    PVMA_EVENT_CALL = 1,  /* pvma_sim_call() */
    PVMA_EVENT_USER,      /* stacks and programs above the network */
    PVMA_EVENT_STAGE,     /* a host's or a switch's processor has finished a job */
    PVMA_EVENT_LINK_FREE, /* a link can take the next cell */
    PVMA_EVENT_ARRIVAL,   /* a cell reaches the end of a link */
    PVMA_EVENT_CREDIT,    /* credits come back over a link */
    PVMA_EVENT_SWITCHED,  /* a cell has crossed a switch's fabric */
    PVMA_EVENT_SLOT,      /* a crossbar matches inputs and outputs */
    PVMA_EVENT_SEGMENT,   /* an adapter's next cell is due */
    PVMA_EVENT_SOURCE,    /* a background source's next cell is due */
    PVMA_EVENT_REFUSAL,   /* a call that cannot start is refused */
    PVMA_EVENT_OUTAGE,    /* a link goes down, comes back, or has been down for too long for its calls */
    PVMA_EVENT_OVERLAY,   /* a timer of the overlay of servers */
};

struct pvma_event {
    pvma_ps at;
    uint64_t order; /* among events of one instant */
    size_t place;   /* in the queue, from 1; 0: not scheduled */
    void (*run)(struct pvma_event *event);
    uint32_t kind;
};

struct pvma_sim;

/* Starts a simulation at time 0. Everything random in it follows from `seed`. */
struct pvma_sim *pvma_sim_new(uint64_t seed);

/* Drops all scheduled events and frees those of pvma_sim_call(). NULL is allowed. */
void pvma_sim_free(struct pvma_sim *sim);

/* The current time, with which a simulation begins: each cell asks for it several times. */
static inline pvma_ps pvma_sim_now(const struct pvma_sim *sim)
{
    return *(const pvma_ps *)(const void *)sim;
}

uint64_t pvma_sim_seed(const struct pvma_sim *sim);

/* Prepares an event and leaves it unscheduled. */
void pvma_event_init(struct pvma_event *event, enum pvma_event_kind kind, void (*run)(struct pvma_event *event));

bool pvma_event_is_scheduled(const struct pvma_event *event);

/* Schedules at a time, now or later; a scheduled event moves. The caller owns the event and must not move it. */
void pvma_sim_at(struct pvma_sim *sim, struct pvma_event *event, pvma_ps at);
void pvma_sim_after(struct pvma_sim *sim, struct pvma_event *event, pvma_ps delay);

/* Unschedules an event; one that is not scheduled is left alone. */
void pvma_sim_cancel(struct pvma_sim *sim, struct pvma_event *event);

/* Calls fn(arg) once at a time, now or later. It allocates, so use it off the fast path only. */
void pvma_sim_call(struct pvma_sim *sim, pvma_ps at, void (*fn)(void *arg), void *arg);

/* When the next event is due; PVMA_NEVER when there is none. */
pvma_ps pvma_sim_next(const struct pvma_sim *sim);

/* Runs the next event; false when there is none. */
bool pvma_sim_step(struct pvma_sim *sim);

/* Runs all events up to and including `until`; time then is `until`, unless pvma_sim_stop() was called. */
void pvma_sim_run_until(struct pvma_sim *sim, pvma_ps until);

/* Runs until no event is left or pvma_sim_stop() is called. */
void pvma_sim_run(struct pvma_sim *sim);

/* Called from an event: the running pvma_sim_run...() returns after it. */
void pvma_sim_stop(struct pvma_sim *sim);

/* Mixes a word into the digest, which already covers the kind and time of every event that ran. */
void pvma_sim_note(struct pvma_sim *sim, uint64_t word);

uint64_t pvma_sim_digest(const struct pvma_sim *sim);
uint64_t pvma_sim_event_count(const struct pvma_sim *sim);

/* Ends the program with a message. */
__attribute__((noreturn)) void pvma_out_of_memory(void);

/* Returns a zeroed block, to be released with free(); ends the program when out of memory. */
void *pvma_new(size_t bytes);

/* Like realloc(), but ends the program when out of memory. */
void *pvma_renew(void *block, size_t bytes);

/* Copies a text; ends the program when out of memory. */
char *pvma_copy_text(const char *text);

#endif
