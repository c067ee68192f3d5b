/*
 * launch.h - starts a daemon on another host by a command whose stdin and stdout lead to the daemon's.
 *
 * launch.c runs the command and reads its output; a launcher only makes the command line (launcher.h).
 */
#ifndef PVMD_LAUNCH_H
#define PVMD_LAUNCH_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include "launchers/launcher.h"
#include "startup.h"

struct pvmd_launch;

struct pvmd_launch_events {
    void (*started)(void *owner, const struct pvmd_start_line *line); /* the slave is ready to be called */
    void (*failed)(void *owner, int code, const char *why);           /* once, and not after started */
};

/*
 * Runs the launcher's command and writes `text` (copied) to its stdin. Events come from the loop only. Returns NULL and
 * the reason in why[size] on failure.
 */
struct pvmd_launch *pvmd_launch_start(struct ev_loop *loop, const struct pvmd_launcher *launcher,
                                      const struct pvmd_launch_order *order, const char *text,
                                      const struct pvmd_launch_events *events, void *owner, char *why, size_t size);

/* The command's latest line, or "", for the message of a time limit. */
const char *pvmd_launch_last_words(const struct pvmd_launch *l);

/* The slave is linked: the command may end by itself. No event follows; the launch frees itself. */
void pvmd_launch_release(struct pvmd_launch *l);

/* Ends the command and, since its channel closes, the slave. No event follows; the launch frees itself. */
void pvmd_launch_cancel(struct pvmd_launch *l);

/* Ends all commands and waits for them, at the daemon's end. */
void pvmd_launch_stop(void);

#endif
