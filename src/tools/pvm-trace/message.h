/*
 * message.h - the trace messages that tasks and daemons send to a tracer (doc/tracing.md): event records, separated by
 * the marks of pvmtev.h. The first record of each kind from a task contains its description.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "event.h"
#include "store.h"

/* The known descriptions: the fields of each kind of record from each sender. */
struct message_layouts;

struct message_layouts *message_layouts_new(void);
void message_layouts_free(struct message_layouts *l);

/*
 * Reads the active receive buffer, a message from `sender`, and calls take() for each event, whose data is valid only
 * during that call. 0, or -1 when the message is malformed or has a record without a known description; events before
 * the error have been taken.
 */
int message_read(struct message_layouts *l, int sender, void (*take)(const struct event *e, void *arg), void *arg);

#endif
