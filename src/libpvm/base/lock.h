/*
 * lock.h - the lock of the library, for programs that call it from several threads.
 *
 * A public call holds the lock from begin to end (call.h), except while it waits (wait.c), while a message handler
 * runs, and during a fork. So nothing changes between two lines of the library that do not wait; across a wait anything
 * may change, because other threads' calls run meanwhile.
 *
 * What a call finds as "active" or "current" is a set of globals (active.h): send and receive buffer, context, match
 * function, pvm_errno. By default all threads share one set. With PVM_THREADS=1 each thread has its own, and so has a
 * thread inside a handler or a call of libgpvm. A thread that takes the lock after another one puts its set into the
 * globals. Programs with one thread pay nothing.
 */
#ifndef PVMI_LOCK_H
#define PVMI_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "active.h"

struct pvmi_set {
    struct pvmi_active send, receive;
    int context;
    int (*match)(int mid, int tid, int tag);
    int error;
    bool has_options; /* the next two belong to the set; else they are the task's */
    int auto_err, resv_tids;
    struct pvmi_set *outer; /* the thread's set before this one */
};

/* Enters and leaves the library. Recursive. Called only by call.c, and only if PVMI_WATCH_THREADS is set. */
void pvmi_lock_take(void);
void pvmi_lock_give(void);

/* Sets PVMI_WATCH_THREADS for good if the process has several threads. Called by call.c for calls not locked yet. */
void pvmi_lock_watch(void);

/* Whether this thread holds the lock. Never true in a process with one thread, unless PVM_THREADS is set. */
bool pvmi_lock_is_ours(void);

/*
 * Gives the lock back, however often it was taken, and takes it again. 0 if this thread does not hold it: resume then
 * does nothing.
 */
unsigned pvmi_lock_pause(void);
void pvmi_lock_resume(unsigned depth);

/*
 * The same until `wake` is signalled. False when the time deadline_us of pvmc_clock_us() came first (INT64_MAX: never).
 * May return without either.
 */
bool pvmi_lock_sleep(pthread_cond_t *wake, int64_t deadline_us);

/*
 * Gives the thread a private copy of the current set until it ends the copy, so that it may release the lock without
 * losing its buffers. has_options: PvmAutoErr and PvmResvTids belong to the copy. Does nothing if the thread does not
 * hold the lock.
 */
void pvmi_lock_set_begin(struct pvmi_set *set, bool has_options);
void pvmi_lock_set_end(struct pvmi_set *set);

/* The same for libgpvm3. NULL if the thread does not hold the lock, or out of memory. Ending the set frees it. */
struct pvmi_set *pvmi_lock_set_new(void);
void pvmi_lock_set_free(struct pvmi_set *set);

/* For libgpvm3: announces a change that another thread may wait for, see pvmi_lock_wait() in wait.h. */
void pvmi_lock_tell(void);

/*
 * For jump.c: the thread has jumped out of the library, with or without the lock. Retake takes the lock, return
 * releases it; the thread continues with the set it had before that call (NULL: its first). They do nothing in a
 * process that never locked.
 */
void pvmi_lock_retake(const struct pvmi_set *set);
void pvmi_lock_return(struct pvmi_set *set);

/* The set of this thread; NULL: none yet. */
struct pvmi_set *pvmi_lock_set(void);

/* Identifies this thread among all that live. */
const void *pvmi_lock_self(void);

/* Around fork(): no other thread is in the middle of a call. The child has one thread. */
void pvmi_lock_before_fork(void);
void pvmi_lock_after_fork(bool child);

/* ---- hooks of the rooms above ---- */

extern bool pvmi_lock_news; /* something has happened that other threads may be waiting for */

/* Wakes the threads whose wait is over; called before the lock is released if pvmi_lock_news is set. Set by wait.c. */
extern void (*pvmi_lock_settle)(void);

/* In a forked child: drops what other threads had begun. Set on enrolment. */
extern void (*pvmi_lock_forget_others)(void);

/* The table of message buffers; NULL: it is empty. Set by buffer.c with the first buffer. */
struct pvmi_lock_buffers {
    struct pvmc_message *(*find)(int mid);
    void (*free)(int mid);
};
extern const struct pvmi_lock_buffers *pvmi_lock_buffers;

/*
 * Calls `end` in each thread that ends after it has used the library. Listing a function again does nothing; there is
 * room for four.
 */
void pvmi_lock_at_thread_end(void (*end)(void));

#endif
