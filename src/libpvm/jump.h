/*
 * jump.h - calls that the program leaves by a jump: siglongjmp() or a C++ exception, out of a signal handler while the
 * call waits, or out of a message handler or match function.
 *
 * Such a call never ends, and what it has put into lists and globals refers to stack frames that are gone. So the
 * thread's next call undoes that before anything else. PVMI_WATCH_JUMP tells it to look: the bit is set while a call
 * waits and while a function of the program runs inside one. Calls that do neither pay nothing.
 *
 * Each function of the program that runs inside a call begins a level, because it may call the library again. A call
 * that begins while another one of its level waits shows that this one was left. A level was left when a call begins
 * above the level's frame in the stack; until then its calls look like those of the function itself.
 *
 * Only the thread itself notices. So several threads may call the library, but a thread must not leave a call while
 * others use the library.
 */
#ifndef PVMI_JUMP_H
#define PVMI_JUMP_H

#include <stdbool.h>

/* Brackets a wait; end with what begin returned. */
bool pvmi_jump_wait_begin(void);
void pvmi_jump_wait_end(bool outer);

struct pvmi_jump_level {
    bool waits;     /* the call that the function runs in */
    unsigned level; /* of that call */
};

/* Brackets functions of the program. `outer` is on the caller's stack. */
void pvmi_jump_level_begin(struct pvmi_jump_level *outer);
void pvmi_jump_level_end(const struct pvmi_jump_level *outer);

/* The level of this thread's calls: 0 in the program itself. What a call of level n keeps ends with level n. */
unsigned pvmi_jump_level(void);

/* A call begins, in that frame: undoes what the thread has left. Called by call.c without the lock. */
void pvmi_jump_check(const void *frame);

/* For libgpvm3: `undo` ends what calls of that level and above keep. One function, once. */
void pvmi_jump_watch(void (*undo)(unsigned level));

#endif
