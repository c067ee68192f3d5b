/*
 * fake_daemon.h - a daemon for tests of libpvm: enrols tasks, forwards their frames to each other, and does on request
 * what a real daemon does rarely or never: hold a sender, lose a host, leave a message unfinished, break the protocol.
 *
 * It runs as a child process in a folder of its own; PVM_TMP names the folder in this process and its children.
 */
#ifndef FAKE_DAEMON_H
#define FAKE_DAEMON_H

#include <sys/types.h>

/* Tricks that a task requests with fake_daemon_do(); `number` is a tid unless stated otherwise. */
enum fake_trick {
    FAKE_HOLD = 1,     /* TC_HOLD for it, and TC_RELEASE half a second later */
    FAKE_GONE,         /* TC_GONE for this host */
    FAKE_BEGIN,        /* half a message from it, tag 77 */
    FAKE_ABORT,        /* aborts the unfinished message from it */
    FAKE_GAP,          /* a frame from it with a wrong number */
    FAKE_WRONG_OFFSET, /* two frames from it that do not fit together */
    FAKE_RENEW,        /* its tid is given to a new task, which numbers its frames from 0 */
    FAKE_WHOLE,        /* a message from it with one int, tag 78 */
    FAKE_OUTPUT,       /* output of it as a child of the requesting task: begin, one and a half lines; the rest by: */
    FAKE_OUTPUT_END,   /* the rest and EOF */
    FAKE_SIBLINGS,     /* TC_SIBLINGS with it, a failed one and the requesting task */
    FAKE_SHORT_ANSWER, /* the answer to this request has no body */
    FAKE_LATE_REFUSAL, /* once the task leaves, it refuses the task's offer of a direct link */
    FAKE_DIE,          /* exits without notice, before the call returns; the socket file stays */
};

/* Starts the daemon, creates its folder and sets PVM_TMP. */
void fake_daemon_start(void);

/* Ends the daemon and removes its folder; also required after FAKE_DIE. For a test that fails, the daemon does both. */
void fake_daemon_stop(void);

/* The result of pvm_tickle() for a trick. */
int fake_daemon_do(enum fake_trick trick, int number);

extern pid_t fake_daemon_pid;

#endif
