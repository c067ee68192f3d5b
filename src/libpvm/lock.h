/*
 * lock.h - the one lock of the library, for programs that call it from several threads.
 *
 * A public call holds it from begin to end (call.h), but for three things that may last: waiting (wait.c), which gives
 * it back while it sleeps, handlers, and forks. So between two lines of the library that do not wait nothing changes;
 * where a function waits, anything may: other threads' calls come in between.
 *
 * What a call finds as "active" or "current" is a set of globals: send and receive buffer, context, match function,
 * pvm_errno. Usually all threads have one set together. With PVM_THREADS=1 each has its own, and so has a thread inside
 * a handler or a call of libgpvm. Whoever takes the lock after another thread puts its set into the globals: programs
 * with one thread pay nothing.
 */
#ifndef PVMI_LOCK_H
#define PVMI_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "buffer.h"

struct pvmi_set {
    struct pvmi_active send, receive;
    int context;
    int (*match)(int mid, int tid, int tag);
    int error;
    bool has_options; /* these two as well; else they are those of the task */
    int auto_err, resv_tids;
    struct pvmi_set *outer; /* what was ours before */
};

/* Enters and leaves the library. Recursive. Called by call.c alone, and only where PVMI_WATCH_THREADS is set. */
void pvmi_lock_take(void);
void pvmi_lock_give(void);

/* Sets PVMI_WATCH_THREADS, for ever, if the process has several threads. Called by call.c for calls not locked yet. */
void pvmi_lock_watch(void);

/* Whether this thread holds the lock. Never true in a process with one thread, unless PVM_THREADS is set. */
bool pvmi_lock_is_ours(void);

/* Gives the lock back for a while, however often it was taken. 0 if it is not ours: resume then does nothing. */
unsigned pvmi_lock_pause(void);
void pvmi_lock_resume(unsigned depth);

/* The same until `wake` is signalled; false when a time of pvmi_clock_us() was reached first. May wake for nothing. */
bool pvmi_lock_sleep(pthread_cond_t *wake, int64_t deadline_us);

/*
 * The thread goes on with a set of its own, equal to the present one, until it ends it: in between it may give the lock
 * back without losing its buffers. has_options: PvmAutoErr and PvmResvTids are in it. Nothing if the lock is not ours.
 */
void pvmi_lock_set_begin(struct pvmi_set *set, bool has_options);
void pvmi_lock_set_end(struct pvmi_set *set);

/* The same for libgpvm3: NULL if the lock is not ours, or out of memory. The end frees it. */
struct pvmi_set *pvmi_lock_set_new(void);
void pvmi_lock_set_free(struct pvmi_set *set);

/* For libgpvm3: waits for what another thread does, which then tells so. 0 or an error as of pvm_recv(). */
int pvmi_lock_wait(bool (*done)(void *arg), void *arg);
void pvmi_lock_tell(void);

/*
 * For jump.c, between whose calls the lock is ours: the thread has jumped out of the library, with the lock or without,
 * and goes on with the set that it had before that call; NULL: the first one. Nothing in a process that never locked.
 */
void pvmi_lock_retake(const struct pvmi_set *set);
void pvmi_lock_return(struct pvmi_set *set);

/* The set of this thread; NULL: none yet. */
struct pvmi_set *pvmi_lock_set(void);

/* A mark of this thread: differs from those of all others that live. */
const void *pvmi_lock_self(void);

/* Around fork(): no other thread is in the middle of something. The child has one thread. */
void pvmi_lock_before_fork(void);
void pvmi_lock_after_fork(bool child);

#endif
