/* sim.c - the event engine: a heap with four children per node, flatter and kinder to the cache than a binary one. */
#include "sim.h"
#include <stdlib.h>
#include <string.h>
#include "core/log.h"

struct slot { /* the key is copied beside the event, so a comparison touches one cache line */
    pvma_ps at;
    uint64_t order;
    struct pvma_event *event;
};

struct call {
    struct pvma_event event;
    struct pvma_sim *sim;
    struct call *next, **previous;
    void (*fn)(void *arg);
    void *arg;
};

struct pvma_sim {
    pvma_ps now; /* first, where pvma_sim_now() looks */
    uint64_t seed, order, digest, ran;
    struct slot *heap; /* index 0 is unused */
    size_t count, size;
    struct call *calls;
    bool stopped;
};

void pvma_out_of_memory(void)
{
    pvmc_log(PVMC_LOG_ERROR, "the simulated network is out of memory; simulate fewer hosts or less traffic");
    exit(EXIT_FAILURE);
}

void *pvma_new(size_t bytes)
{
    void *block = calloc(1, bytes ? bytes : 1);
    if (!block)
        pvma_out_of_memory();
    return block;
}

void *pvma_renew(void *block, size_t bytes)
{
    void *larger = realloc(block, bytes ? bytes : 1);
    if (!larger)
        pvma_out_of_memory();
    return larger;
}

char *pvma_copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(pvma_new(bytes), text, bytes);
}

struct pvma_sim *pvma_sim_new(uint64_t seed)
{
    struct pvma_sim *sim = pvma_new(sizeof *sim);
    sim->seed = seed;
    sim->size = 64;
    sim->heap = pvma_new(sim->size * sizeof *sim->heap);
    pvma_sim_note(sim, seed);
    return sim;
}

void pvma_sim_free(struct pvma_sim *sim)
{
    if (!sim)
        return;
    while (sim->calls) {
        struct call *call = sim->calls;
        sim->calls = call->next;
        free(call);
    }
    free(sim->heap);
    free(sim);
}

_Static_assert(offsetof(struct pvma_sim, now) == 0, "pvma_sim_now() looks at the beginning");

uint64_t pvma_sim_seed(const struct pvma_sim *sim)
{
    return sim->seed;
}

/* ---- the heap ---- */

/* One comparison of 128 bits, without a branch to guess. */
static bool earlier(const struct slot *a, const struct slot *b)
{
    unsigned __int128 key_a = (unsigned __int128)(uint64_t)a->at << 64 | a->order;
    unsigned __int128 key_b = (unsigned __int128)(uint64_t)b->at << 64 | b->order;

    return key_a < key_b;
}

static void put(struct pvma_sim *sim, size_t place, struct slot slot)
{
    sim->heap[place] = slot;
    slot.event->place = place;
}

static void rise(struct pvma_sim *sim, size_t place, struct slot slot)
{
    while (place > 1) {
        size_t parent = (place + 2) / 4;
        if (!earlier(&slot, &sim->heap[parent]))
            break;
        put(sim, place, sim->heap[parent]);
        place = parent;
    }
    put(sim, place, slot);
}

static void sink(struct pvma_sim *sim, size_t place, struct slot slot)
{
    for (;;) {
        size_t first = 4 * place - 2, best = first;
        if (first > sim->count)
            break;
        if (first + 3 <= sim->count) {
            size_t left = first + earlier(&sim->heap[first + 1], &sim->heap[first]);
            size_t right = first + 2 + earlier(&sim->heap[first + 3], &sim->heap[first + 2]);
            best = earlier(&sim->heap[right], &sim->heap[left]) ? right : left;
        } else {
            for (size_t child = first + 1; child <= sim->count; child++)
                best = earlier(&sim->heap[child], &sim->heap[best]) ? child : best;
        }
        if (!earlier(&sim->heap[best], &slot))
            break;
        put(sim, place, sim->heap[best]);
        place = best;
    }
    put(sim, place, slot);
}

/* Removes the event at a place and fills the gap with the last one. */
static void take_out(struct pvma_sim *sim, size_t place)
{
    sim->heap[place].event->place = 0;
    struct slot last = sim->heap[sim->count--];
    if (place > sim->count)
        return;
    if (place > 1 && earlier(&last, &sim->heap[(place + 2) / 4]))
        rise(sim, place, last);
    else
        sink(sim, place, last);
}

/* ---- events ---- */

void pvma_event_init(struct pvma_event *event, enum pvma_event_kind kind, void (*run)(struct pvma_event *event))
{
    memset(event, 0, sizeof *event);
    event->kind = kind;
    event->run = run;
}

bool pvma_event_is_scheduled(const struct pvma_event *event)
{
    return event->place != 0;
}

void pvma_sim_cancel(struct pvma_sim *sim, struct pvma_event *event)
{
    if (event->place)
        take_out(sim, event->place);
}

void pvma_sim_at(struct pvma_sim *sim, struct pvma_event *event, pvma_ps at)
{
    pvma_sim_cancel(sim, event);
    if (sim->count + 1 >= sim->size) {
        sim->size *= 2;
        sim->heap = pvma_renew(sim->heap, sim->size * sizeof *sim->heap);
    }
    event->at = at < sim->now ? sim->now : at;
    event->order = sim->order++;
    rise(sim, ++sim->count, (struct slot){event->at, event->order, event});
}

void pvma_sim_after(struct pvma_sim *sim, struct pvma_event *event, pvma_ps delay)
{
    pvma_sim_at(sim, event, sim->now + delay);
}

static void run_call(struct pvma_event *event)
{
    struct call *call = PVMA_OF(event, struct call, event);
    void (*fn)(void *) = call->fn;
    void *arg = call->arg;
    *call->previous = call->next;
    if (call->next)
        call->next->previous = call->previous;
    free(call);
    fn(arg);
}

void pvma_sim_call(struct pvma_sim *sim, pvma_ps at, void (*fn)(void *arg), void *arg)
{
    struct call *call = pvma_new(sizeof *call);
    pvma_event_init(&call->event, PVMA_EVENT_CALL, run_call);
    call->fn = fn;
    call->arg = arg;
    call->next = sim->calls;
    call->previous = &sim->calls;
    if (call->next)
        call->next->previous = &call->next;
    sim->calls = call;
    pvma_sim_at(sim, &call->event, at);
}

/* ---- running ---- */

pvma_ps pvma_sim_next(const struct pvma_sim *sim)
{
    return sim->count ? sim->heap[1].at : PVMA_NEVER;
}

void pvma_sim_note(struct pvma_sim *sim, uint64_t word)
{
    uint64_t mixed = (sim->digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sim->digest = mixed ^ mixed >> 29;
}

bool pvma_sim_step(struct pvma_sim *sim)
{
    if (!sim->count)
        return false;
    struct pvma_event *event = sim->heap[1].event;
    take_out(sim, 1);
    sim->now = event->at;
    sim->ran++;
    pvma_sim_note(sim, (uint64_t)event->at << 5 ^ event->kind);
    event->run(event);
    return true;
}

void pvma_sim_run_until(struct pvma_sim *sim, pvma_ps until)
{
    sim->stopped = false;
    while (!sim->stopped && pvma_sim_next(sim) <= until && pvma_sim_step(sim))
        ;
    if (!sim->stopped && sim->now < until)
        sim->now = until;
}

void pvma_sim_run(struct pvma_sim *sim)
{
    sim->stopped = false;
    while (!sim->stopped && pvma_sim_step(sim))
        ;
}

void pvma_sim_stop(struct pvma_sim *sim)
{
    sim->stopped = true;
}

uint64_t pvma_sim_digest(const struct pvma_sim *sim)
{
    return sim->digest;
}

uint64_t pvma_sim_event_count(const struct pvma_sim *sim)
{
    return sim->ran;
}
