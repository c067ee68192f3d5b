/*
 * machine.h - looks at the virtual machine: asks daemons, tasks and the group server at regular times, and takes the
 * messages that come by themselves: events of traced tasks, their output, and answers.
 */
#ifndef WEB_MACHINE_H
#define WEB_MACHINE_H

#include "output.h"
#include "snapshot.h"
#include "spacetime.h"
#include "traffic.h"

struct machine {
    struct snapshot snapshot;
    struct traffic traffic;
    struct spacetime spacetime;
    struct output output;
    json_t *mailbox, *groups; /* as last seen */
    bool mailbox_changed, groups_changed;
};

extern struct machine machine;

/*
 * The console has enrolled (console.h): prepares contexts and, if `traces`, registers as the tracer of programs that
 * are started from now on. *why: if that fails, the reason, else NULL. False: out of contexts.
 */
bool machine_open(bool traces, const char **why);

/* Tasks that are spawned from now on by this process send their output here. */
void machine_collect_output(void);

/* Takes messages for at most some milliseconds. False: some may be left. */
bool machine_take_messages(void);

/* Asks what is due. `watched`: somebody looks, so that tasks are asked for their traffic, too. */
void machine_look(bool watched);

/* Milliseconds until it is due again. */
int machine_due_ms(void);

/* Adds everything, or what has changed, to an object. */
void machine_tell(json_t *to, bool all);

void machine_close(void);

#endif
