/*
 * request.h - the table of requests that tasks may make of their daemon: in which state, and how long. Any other
 * request is logged and counted, and the task's connection is closed.
 */
#ifndef PVMD_REQUEST_H
#define PVMD_REQUEST_H

#include "clients.h"

/* Processes a frame of a request in context TM. Called by clients.c. */
void pvmd_request_frame(struct pvmd_client *c, const struct pvmc_frame *f);

/* Builds the frame of an answer from code and body (may be NULL), at most 64 KiB together. NULL: out of memory. */
struct pvmc_frame *pvmd_request_answer_frame(const struct pvmd_request *r, int code, const struct pvmc_buf *body);

#endif
