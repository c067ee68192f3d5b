/*
 * jump.h - calls that the program leaves by a jump: siglongjmp() or a C++ exception, out of a signal handler while the
 * call waits, or out of a message handler or match function.
 *
 * Such a call never ends, and its entries in lists and globals refer to stack frames that are gone. The thread's next
 * call undoes them first. PVMI_WATCH_JUMP makes it check: the bit is set while a call waits and while a function of the
 * program runs inside one. Other calls pay nothing.
 *
 * A function of the program that runs inside a call begins a new level, because it may call the library again. If a
 * call begins while another call of its level waits, the program has jumped out of the waiting one. If a call begins
 * above a level's frame in the stack, the program has jumped out of that level; until then its calls look like those of
 * the function itself.
 *
 * Only the thread itself notices a jump. So several threads may call the library, but no thread may jump out of a call
 * while others use the library.
 */
#ifndef PVMI_JUMP_H
#define PVMI_JUMP_H

#include <stdbool.h>
#include "active.h"

/* Brackets a wait. Pass what begin returned to end. */
bool pvmi_jump_wait_begin(void);
void pvmi_jump_wait_end(bool outer);

struct pvmi_jump_level {
    bool waits;     /* the call that the function runs in */
    unsigned level; /* of that call */
};

/* Brackets a function of the program. `outer` is on the caller's stack. */
void pvmi_jump_level_begin(struct pvmi_jump_level *outer);
void pvmi_jump_level_end(const struct pvmi_jump_level *outer);

/* The level of this thread's calls; 0 in the program itself. State that a call of level n keeps ends with level n. */
unsigned pvmi_jump_level(void);

/*
 * Hooks that undo what calls of a level and above have begun: `undo` first, then libgpvm3's function, then
 * `undo_handler`. `wanted` and `offered` are the values of pvmi_inbox_ours and pvmi_offer_receive when the level began.
 * Set on enrolment.
 */
struct pvmi_jump_hooks {
    void (*undo)(unsigned level, struct pvmi_wanted *wanted, struct pvmi_wanted *offered);
    void (*undo_handler)(unsigned level);
};
extern const struct pvmi_jump_hooks *pvmi_jump_hooks;

/* A call begins in that frame: undoes the calls that the thread has left. Called by call.c without the lock. */
void pvmi_jump_check(const void *frame);

/* For libgpvm3: `undo` ends its calls of that level and above. There is one such function. */
void pvmi_jump_watch(void (*undo)(unsigned level));

#endif
