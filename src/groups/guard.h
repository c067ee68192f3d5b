/*
 * guard.h - keeps what belongs to the user: a group call works in contexts, buffers and options of its own, and leaves
 * the caller's as they were.
 */
#ifndef PVMI_GUARD_H
#define PVMI_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct pvmi_guard {
    int context, send_buffer, receive_buffer, auto_error, reserved_tags, error;
    int (*match)(int mid, int tid, int tag);
    int depth, outer_depth; /* for session.c */
    bool alone;
    struct pvmi_guard *next; /* that waits to run alone */
    unsigned watched;
    struct pvmi_set *set;
};

/*
 * Puts the user's state aside and switches to `context`, with reserved tags allowed and errors silent. Other threads
 * see nothing of that; they are kept out of this library but for the time when we wait.
 */
void pvmi_guard_enter(struct pvmi_guard *g, int context);

/* Restores the user's state; frees the buffers that became active in between. */
void pvmi_guard_leave(struct pvmi_guard *g);

/* The same for a call that the program has jumped out of. */
void pvmi_guard_undo(struct pvmi_guard *g);

/*
 * What every public call returns through: hands on `code`; a negative one is noted in pvm_errno. PvmAutoErr does not
 * count here, as in PVM: programs ask for a member again and again until it is there.
 */
int pvmi_guard_result(int code);

/* Of libpvm3: its lock; state of our own, while other threads use that of the task; waiting for another thread. */
unsigned pvmi_call_enter(void);
struct pvmi_datum;
void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes);
struct pvmi_set *pvmi_lock_set_new(void);
void pvmi_lock_set_free(struct pvmi_set *set);
int pvmi_lock_wait(bool (*done)(void *arg), void *arg);
void pvmi_lock_tell(void);
const void *pvmi_lock_self(void);

/* Of libpvm3: calls that the program leaves by a jump (jump.h there). */
unsigned pvmi_jump_level(void);
void pvmi_jump_watch(void (*undo)(unsigned level));

/* Of libpvm3: reports an error of a call as PvmAutoErr asks for, and returns it. */
int lpvmerr(const char *call, int code);

#endif
