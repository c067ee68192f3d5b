/*
 * guard.h - saves and restores the user's state: a group call works with its own context, buffers and options and
 * leaves the caller's unchanged.
 */
#ifndef PVMG_GUARD_H
#define PVMG_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct pvmg_guard {
    int context, send_buffer, receive_buffer, auto_error, reserved_tags, error;
    int (*match)(int mid, int tid, int tag);
    int depth, outer_depth; /* for session.c */
    bool exclusive;
    struct pvmg_guard *next; /* in the queue of exclusive calls */
    unsigned watched;
    struct pvmi_set *set;
};

/*
 * Saves the user's state and switches to `context`, with reserved tags allowed and PvmAutoErr off. Other threads do not
 * see the change; they enter this library only while the call waits.
 */
void pvmg_guard_enter(struct pvmg_guard *g, int context);

/* Restores the user's state and frees the buffers that the call made active. */
void pvmg_guard_leave(struct pvmg_guard *g);

/* The same for a call that the program has left by a jump. */
void pvmg_guard_undo(struct pvmg_guard *g);

/*
 * Every public call returns through this function: it returns `code` and stores a negative one in pvm_errno. As in PVM,
 * PvmAutoErr has no effect here: programs poll for a member until it has joined.
 */
int pvmg_guard_result(int code);

/* From libpvm3: its lock, a separate set of active state for this call, and waiting for another thread. */
unsigned pvmi_call_enter(void);
struct pvmi_datum;
void pvmi_call_end(unsigned watched, int event, const struct pvmi_datum *data, size_t bytes);
struct pvmi_set *pvmi_lock_set_new(void);
void pvmi_lock_set_free(struct pvmi_set *set);
int pvmi_lock_wait(bool (*done)(void *arg), void *arg);
void pvmi_lock_tell(void);
const void *pvmi_lock_self(void);

/* From libpvm3: calls that the program leaves by a jump (libpvm/base/jump.h). */
unsigned pvmi_jump_level(void);
void pvmi_jump_watch(void (*undo)(unsigned level));

/* From libpvm3: reports an error of a call according to PvmAutoErr and returns it. */
int lpvmerr(const char *call, int code);

#endif
