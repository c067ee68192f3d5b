/*
 * fake_daemon.h - a daemon for tests of libpvm: enrols tasks, carries their frames to each other, and does on request
 * what a real daemon does rarely or never: hold a sender, lose a host, leave a message unfinished, break the protocol.
 *
 * It runs as a child process in a folder of its own; PVM_TMP names the folder in this process and its children.
 */
#ifndef FAKE_DAEMON_H
#define FAKE_DAEMON_H

#include <sys/types.h>

/* A task asks for these with fake_daemon_do(); `number` is a tid unless said otherwise. */
enum fake_trick {
    FAKE_HOLD = 1,     /* TC_HOLD for it, and TC_RELEASE half a second later */
    FAKE_GONE,         /* TC_GONE for this host */
    FAKE_BEGIN,        /* a half message from it, tag 77 */
    FAKE_ABORT,        /* void what it has begun */
    FAKE_GAP,          /* a frame from it whose number is wrong */
    FAKE_WRONG_OFFSET, /* two frames from it that do not fit together */
    FAKE_RENEW,        /* its tid goes to a new task, which numbers its frames from 0 */
    FAKE_WHOLE,        /* a message from it with one int, tag 78 */
    FAKE_OUTPUT,       /* output of it as a child of the asking task: begin, one and a half lines; the rest by: */
    FAKE_OUTPUT_END,   /* the rest and EOF */
    FAKE_SIBLINGS,     /* TC_SIBLINGS with it, a failed one and the asking task */
    FAKE_SHORT_ANSWER, /* the answer to this very request lacks its body */
    FAKE_DIE,          /* end without a word; the socket stays */
};

/* Starts it and sets PVM_TMP. The folder is made. */
void fake_daemon_start(void);

/* Ends it and removes its folder. Also when FAKE_DIE has ended it. */
void fake_daemon_stop(void);

/* What pvm_tickle() returns for a trick. */
int fake_daemon_do(enum fake_trick trick, int number);

extern pid_t fake_daemon_pid;

#endif
