/* jump.c - what calls that the program has left by a jump had begun is undone. */
#include "jump.h"
#include <stdint.h>
#include "../core/log.h"
#include "call.h"
#include "handler.h"
#include "inbox.h"
#include "lock.h"
#include "receive.h"
#include "request.h"
#include "task.h"
#include "transfer.h"
#include "wait.h"

#define LEVELS_MAX 8 /* handlers do not nest, and match functions do not receive: 3 is much */

/* What calls of a level find when they begin. */
struct ground {
    uintptr_t frame; /* of the function that the level was begun in */
    struct pvmi_wanted *wanted;
    struct search *offered;
    struct pvmi_set *set;
    unsigned deferred, depth;
};

static _Thread_local struct {
    bool waits; /* a call of the present level */
    unsigned level;
    struct ground grounds[LEVELS_MAX + 1]; /* that of level 0 is all zero */
} self __attribute__((tls_model("initial-exec")));

static void (*undo_groups)(unsigned level);

/* With several threads all calls look; see pvmi_call_enter(). */
static void show(void)
{
    if (pvmi_lock_is_ours())
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
                                               .offered = pvmi_receive_offered(),
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

/* Calls of the present level have been left, with all that they had begun. */
static void undo(void)
{
    const struct ground *g = &self.grounds[self.level];
    pvmi_log(PVMI_LOG_DEBUG, "the program has jumped out of a call");
    self.waits = false;
    pvmi_lock_retake(g->set);
    pvmi_call_restore(g->depth + 1); /* what libgpvm3 calls now is no event */
    pvmi_inbox_left(g->wanted);
    pvmi_receive_left(g->offered);
    pvmi_handler_deferred = g->deferred;
    pvmi_wait_left();
    pvmi_request_left(self.level);
    pvmi_transfer_left(self.level);
    pvmi_task_left();
    if (undo_groups)
        undo_groups(self.level);
    pvmi_handler_left(self.level);
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
