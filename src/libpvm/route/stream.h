/*
 * stream.h - messages that leave while they are packed: pvm_initsendto().
 *
 * A stream belongs to a message and to one receiver. At the end of each call, what has been packed meanwhile leaves in
 * frames, if it is worth a frame and the route has room: packing never waits in real time. The message keeps its whole
 * body, so a program that sends it to somebody else after all loses nothing: the frames are then taken back by an
 * abort, and the message is sent as if it had never been a stream. So it is if it is freed unsent.
 *
 * While another message is being sent to the receiver (it is claimed), the stream rests: a multicast by the daemon has
 * reserved numbers, and a transfer numbers its frames as it goes.
 */
#ifndef PVMI_STREAM_H
#define PVMI_STREAM_H

#include <stdbool.h>
#include "core/message/message.h"

/*
 * Opens a stream of m, which is empty, to m->dst with its tag, context and source. In virtual time it waits until there
 * is a link, if there can be one. Does nothing, and the message leaves as a whole, if m is in place or a trace event,
 * for a message to ourselves, and while another stream to that receiver is open. 0 or an error.
 */
int pvmi_stream_open(struct pvmc_message *m);

/* Whether m has an open stream. */
bool pvmi_stream_has(const struct pvmc_message *m);

/*
 * Sends the rest of m, which has one, and ends it. If destination, tag, context or wait id have changed, takes back
 * what has left, and sends m as a whole. 0 or an error, as pvmi_send_message().
 */
int pvmi_stream_send(struct pvmc_message *m);

/* m is sent by other means: takes back what has left, if m has an open stream. */
void pvmi_stream_cancel(const struct pvmc_message *m);

/* Takes back all streams, as far as that needs no wait: the task leaves. Then forgets them. */
void pvmi_stream_cancel_all(void);
void pvmi_stream_forget_all(void);

#endif
