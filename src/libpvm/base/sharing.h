/*
 * sharing.h - what a task learns from its yields: whether others want its core, and whether yields make room for them.
 * A state machine without a clock; wait.c feeds it.
 */
#ifndef PVMI_SHARING_H
#define PVMI_SHARING_H

#include <stdbool.h>
#include <stdint.h>

enum { PVMI_SHARED_MAX = 32 };
enum { PVMI_TAKEN_WEIGHT = 8 }; /* a used yield outweighs so many unused ones: the kernel often picks us again */
enum { PVMI_RIVAL_SHARE = 4 };
#define PVMI_WINDOW_NS INT64_C(20000000) /* several time slices */
#define PVMI_RIVAL_NS  INT64_C(5000000)  /* others take less by interrupts, by a kernel thread, by a lost time slice */

/* All zero: nothing is known. */
struct pvmi_sharing {
    int shared;       /* yields that another process used; from half of PVMI_SHARED_MAX on the core counts as shared */
    int64_t taken_ns; /* of the last yields, up to PVMI_WINDOW_NS, the time that others used ... */
    int64_t kept_ns;  /* ... and that the task had the core */
};

/* Whether processes that yields make room for share the core. */
static inline bool pvmi_sharing_is_on(const struct pvmi_sharing *s)
{
    return s->shared >= PVMI_SHARED_MAX / 2;
}

/*
 * Whether others use the core, and yields do not make room for them: they belong to another session, and Linux gives
 * each session its share whoever yields. Then only sleep makes room. One long yield is no evidence.
 */
static inline bool pvmi_sharing_defies_yields(const struct pvmi_sharing *s)
{
    return !pvmi_sharing_is_on(s) && s->taken_ns > PVMI_RIVAL_NS && s->taken_ns > s->kept_ns / PVMI_RIVAL_SHARE;
}

/* The task sleeps instead of yielding: what it knows of others' time grows old. */
static inline void pvmi_sharing_forget_half(struct pvmi_sharing *s)
{
    s->taken_ns /= 2;
}

/* A yield took `yield_ns`, after the task had the core for `kept_ns`. `taken`: another process used it. */
static inline void pvmi_sharing_learn(struct pvmi_sharing *s, bool taken, int64_t yield_ns, int64_t kept_ns)
{
    bool was_on = pvmi_sharing_is_on(s);
    if (taken)
        s->shared = s->shared < PVMI_SHARED_MAX - PVMI_TAKEN_WEIGHT ? s->shared + PVMI_TAKEN_WEIGHT : PVMI_SHARED_MAX;
    else if (s->shared > 0)
        s->shared--;
    s->taken_ns += taken ? yield_ns : 0;
    s->kept_ns += kept_ns + (taken ? 0 : yield_ns);
    if (was_on && !pvmi_sharing_is_on(s))
        s->taken_ns = s->kept_ns = 0; /* the others have gone, and what they took with them */
    if (s->taken_ns + s->kept_ns < PVMI_WINDOW_NS)
        return;
    s->taken_ns /= 2;
    s->kept_ns /= 2;
}

#endif
