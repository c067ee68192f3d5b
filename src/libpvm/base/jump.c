/* jump.c - undoes what a call had begun when the program jumped out of it. */
#include "jump.h"
#include <stdint.h>
#include "core/log.h"
#include "call.h"
#include "lock.h"

#define LEVELS_MAX 8 /* handlers do not nest and match functions do not receive, so 3 is a lot */

/* The state that calls of a level find when they begin. */
struct ground {
    uintptr_t frame; /* of the function that began the level */
    struct pvmi_wanted *wanted, *offered;
    struct pvmi_set *set;
    unsigned deferred, depth;
};

static _Thread_local struct {
    bool waits; /* a call of the present level */
    unsigned level;
    struct ground grounds[LEVELS_MAX + 1]; /* level 0: all zero */
} self __attribute__((tls_model("initial-exec")));

static void (*undo_groups)(unsigned level);
const struct pvmi_jump_hooks *pvmi_jump_hooks;

/* With several threads every call checks anyway; see pvmi_call_enter(). */
static void show(void)
{
    bool threads = __atomic_load_n(&pvmi_call_watch, __ATOMIC_RELAXED) & PVMI_WATCH_THREADS;
    if (__builtin_expect(threads, 0) && pvmi_lock_is_ours())
        return;
    if (self.waits || self.level)
        pvmi_call_watch |= PVMI_WATCH_JUMP;
    else
        pvmi_call_watch &= ~(unsigned)PVMI_WATCH_JUMP;
}

bool pvmi_jump_wait_begin(void)
{
    bool outer = self.waits;
    self.waits = true;
    show();
    return outer;
}

void pvmi_jump_wait_end(bool outer)
{
    self.waits = outer;
    show();
}

void pvmi_jump_level_begin(struct pvmi_jump_level *outer)
{
    *outer = (struct pvmi_jump_level){self.waits, self.level};
    self.waits = false;
    if (self.level < LEVELS_MAX)
        self.level++;
    self.grounds[self.level] = (struct ground){.frame = (uintptr_t)__builtin_frame_address(0),
                                               .wanted = pvmi_inbox_ours,
                                               .offered = pvmi_offer_receive,
                                               .set = pvmi_lock_set(),
                                               .deferred = pvmi_handler_deferred,
                                               .depth = pvmi_call_depth()};
    show();
}

void pvmi_jump_level_end(const struct pvmi_jump_level *outer)
{
    self.waits = outer->waits;
    self.level = outer->level;
    show();
}

unsigned pvmi_jump_level(void)
{
    return self.level;
}

/* The program has jumped out of calls of the present level. */
static void undo(void)
{
    const struct ground *g = &self.grounds[self.level];
    pvmc_log(PVMC_LOG_DEBUG, "the program has jumped out of a call");
    self.waits = false;
    pvmi_lock_retake(g->set);
    pvmi_call_restore(g->depth + 1); /* calls that libgpvm3 makes now are not traced */
    pvmi_handler_deferred = g->deferred;
    if (pvmi_jump_hooks)
        pvmi_jump_hooks->undo(self.level, g->wanted, g->offered);
    if (undo_groups)
        undo_groups(self.level);
    if (pvmi_jump_hooks)
        pvmi_jump_hooks->undo_handler(self.level);
    pvmi_call_restore(g->depth);
    pvmi_lock_return(g->set);
    show();
}

void pvmi_jump_check(const void *frame)
{
    bool left = self.waits;
    while (self.level && (uintptr_t)frame > self.grounds[self.level].frame) {
        self.level--;
        left = true;
    }
    if (left)
        undo();
}

void pvmi_jump_watch(void (*function)(unsigned level))
{
    undo_groups = function;
}
