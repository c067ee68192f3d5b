/*
 * message.h - trace messages, as tasks and daemons send them to a tracer (doc/tracing.md): records of events with marks
 * around them, as pvmtev.h names them. The first record of a kind from a task describes itself; later ones do not.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "event.h"
#include "store.h"

/* What is known of records: the data of each kind from each sender. */
struct message_layouts;

struct message_layouts *message_layouts_new(void);
void message_layouts_free(struct message_layouts *l);

/*
 * Takes the active receive buffer, a message of `sender`, apart: take() is called for each event, whose data are valid
 * in it only. Returns 0, or -1 when the message is not one of events or refers to a description that never came; what
 * was before the fault has been taken.
 */
int message_read(struct message_layouts *l, int sender, void (*take)(const struct event *e, void *arg), void *arg);

#endif
