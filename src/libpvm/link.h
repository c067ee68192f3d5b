/*
 * link.h - the connection to our daemon. The one place that uses a transport; direct routes will join here.
 *
 * Messages that come in are handed on as they are complete: control messages to control.c, answers to request.c, those
 * with a handler to handler.c, all others to the inbox.
 */
#ifndef PVMI_LINK_H
#define PVMI_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include "../core/frame.h"
#include "../core/message.h"

/* Connects to the daemon that listens on socket `path`. 0, PVMI_EAGAIN (busy, try again), PVMI_EUNREACHABLE, ... */
int pvmi_link_open(const char *path);

/* Ends the connection without a word: the daemon sees us die. Also in a forked child, for the copies it inherited. */
void pvmi_link_close(void);

bool pvmi_link_is_up(void);

/* Largest payload of a frame, bytes. */
uint32_t pvmi_link_frame_max(void);

/*
 * Gives a frame to the kernel. 0: taken, maybe only in part (see pvmi_link_idle()); PVMI_EAGAIN: not taken, wait for
 * pvmi_link_ready(); PVMI_EDOWN. Now and then it takes in what has come, so that senders hear when to hold.
 */
int pvmi_link_send(struct pvmi_frame *f);

/* Whether a send may succeed again after PVMI_EAGAIN, or the link is down. */
bool pvmi_link_ready(void);

/* Whether nothing of a frame is left to send, or the link is down. */
bool pvmi_link_idle(void);

/* Moves what can be moved on all links, without waiting. Number of things that happened, or PVMI_EDOWN (the daemon). */
int pvmi_link_progress(void);

/*
 * As pvmi_link_progress(), for direct links only: what a waiting task polls, since it may cost no system call. 0 when
 * there are none. The daemon is heard by pvmi_link_progress(), which must be called every few microseconds, too.
 */
int pvmi_link_progress_direct(void);

/* A descriptor that is readable when progress has something to do; arm first, and do not sleep if that gives 1. */
int pvmi_link_fd(void);
int pvmi_link_arm(void);

/* Hands a complete message on, as above; takes over the reference. Called here, and for messages to ourselves. */
void pvmi_link_deliver(struct pvmi_message *m);

#endif
