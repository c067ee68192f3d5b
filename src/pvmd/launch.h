/*
 * launch.h - starts a daemon on another host: a command of ours, whose stdin and stdout lead to the daemon's.
 *
 * launch.c runs the command and reads what comes; a launcher only says what to run. A new one is a file and a row in
 * the table.
 */
#ifndef PVMD_LAUNCH_H
#define PVMD_LAUNCH_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include "startup.h"

/* What a launcher has to know. */
struct pvmd_launch_order {
    const char *target;      /* host name for the launcher: ip= where given, else the host's name */
    const char *login;       /* NULL: the same user */
    const char *daemon_path; /* dx= or PVM_DPATH; NULL: where our own is, or in the PATH there */
};

/* A command line: texts of its own, NULL at the end. */
#define PVMD_COMMAND_MAX 24

struct pvmd_command {
    char *argv[PVMD_COMMAND_MAX + 1];
    unsigned count;
    bool failed; /* out of memory, or too long */
};

void pvmd_command_add(struct pvmd_command *c, const char *word);
__attribute__((format(printf, 2, 3))) void pvmd_command_addf(struct pvmd_command *c, const char *format, ...);
void pvmd_command_free(struct pvmd_command *c);

struct pvmd_launcher {
    const char *name;
    const char *label; /* what messages call its command */
    const char *summary;
    /* Adds the words of the command. NULL: the user types one, see add.c. */
    void (*command)(const struct pvmd_launch_order *o, struct pvmd_command *c);
};

/* All launchers; ends with name NULL. */
extern const struct pvmd_launcher *const pvmd_launchers[];
extern const struct pvmd_launcher pvmd_launch_password; /* not in the table: for so=pw only, and where we can ask */
extern const struct pvmd_launcher pvmd_launch_hoster;   /* nor this one: it is there while a hoster is */
extern const struct pvmd_launcher pvmd_launch_local, pvmd_launch_ssh, pvmd_launch_rsh, pvmd_launch_manual;

/* By name, or NULL. */
const struct pvmd_launcher *pvmd_launcher_find(const char *name);

/* This daemon's own program file. Static storage. */
const char *pvmd_launch_own_path(void);

/* The command for a remote host's shell that finds the daemon and starts it; the caller frees it, NULL: no memory. */
char *pvmd_launch_remote_command(const struct pvmd_launch_order *o);

/* ---- a launch under way ---- */

struct pvmd_launch;

struct pvmd_launch_events {
    void (*started)(void *owner, const struct pvmd_start_line *line); /* the slave is ready to be called */
    void (*failed)(void *owner, int code, const char *why);           /* once, and not after started */
};

/*
 * Runs the launcher's command and writes `text` (copied) to its stdin. Events come from the loop only. NULL with
 * why[size] when that cannot be done.
 */
struct pvmd_launch *pvmd_launch_start(struct ev_loop *loop, const struct pvmd_launcher *launcher,
                                      const struct pvmd_launch_order *order, const char *text,
                                      const struct pvmd_launch_events *events, void *owner, char *why, size_t size);

/* What the command has said so far, for the message of a time limit: its last line, or "". */
const char *pvmd_launch_last_words(const struct pvmd_launch *l);

/* The slave is linked: the command may end by itself. No event follows; the launch frees itself. */
void pvmd_launch_release(struct pvmd_launch *l);

/* Ends the command and, since its channel closes, the slave. No event follows; the launch frees itself. */
void pvmd_launch_cancel(struct pvmd_launch *l);

/* Ends all commands at once and waits for them: the daemon's end. */
void pvmd_launch_stop(void);

#endif
