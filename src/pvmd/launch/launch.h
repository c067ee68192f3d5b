/*
 * launch.h - starts a daemon on another host by a command whose stdin and stdout lead to the daemon's.
 *
 * launch.c runs the command and reads its output; a launcher only makes the command line (launchers/launcher.h).
 */
#ifndef PVMD_LAUNCH_H
#define PVMD_LAUNCH_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include "launchers/command.h"
#include "startup.h"

struct pvmd_launch;

struct pvmd_launch_events {
    void (*started)(void *owner, const struct pvmd_start_line *line); /* the slave is ready to be called */
    /*
     * Once, and not after started. `reached`: the other host itself has told the reason, so a launch from elsewhere
     * would end in the same way.
     */
    void (*failed)(void *owner, int code, bool reached, const char *why);
};

/*
 * Runs a command, which messages call `label`, and writes `text` to its stdin; all three are copied. Events come from
 * the loop only. Returns NULL and the reason in why[size] on failure.
 */
struct pvmd_launch *pvmd_launch_start(struct ev_loop *loop, const char *label, struct pvmd_command *command,
                                      const char *text, const struct pvmd_launch_events *events, void *owner, char *why,
                                      size_t size);

/* The command's latest line, or "", for the message of a time limit. */
const char *pvmd_launch_last_words(const struct pvmd_launch *l);

/* The slave is linked: the command may end by itself. No event follows; the launch frees itself. */
void pvmd_launch_release(struct pvmd_launch *l);

/* Ends the command and, since its channel closes, the slave. No event follows; the launch frees itself. */
void pvmd_launch_cancel(struct pvmd_launch *l);

/* Ends all commands and waits for them, at the daemon's end. */
void pvmd_launch_stop(void);

#endif
