/* message.h - messages of the quorum as bytes: the body of DM_QUORUM. Layout: doc/protocol.md. */
#ifndef PVMD_QUORUM_MESSAGE_H
#define PVMD_QUORUM_MESSAGE_H

#include "core/buf.h"
#include "quorum.h"

void pvmd_quorum_put(struct pvmc_buf *b, const struct pvmd_quorum_message *m);

/*
 * Reads one. Its data points into the buffer, its sets into static memory that is valid until the next call. 0 or a
 * PVMC_E code.
 */
int pvmd_quorum_get(struct pvmc_buf *b, struct pvmd_quorum_message *m);

#endif
