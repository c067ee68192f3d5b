/*
 * request.h - the table of what tasks may ask their daemon: which message, in which state, how long at least. Anything
 * else is logged, counted, and costs the task its connection.
 */
#ifndef PVMD_REQUEST_H
#define PVMD_REQUEST_H

#include "clients.h"

/* A frame of a request in context TM. Called by clients.c. */
void pvmd_request_frame(struct pvmd_client *c, const struct pvmi_frame *f);

/* The frame of an answer: code and body (may be NULL; both together at most 64 KiB). NULL when out of memory. */
struct pvmi_frame *pvmd_request_answer_frame(const struct pvmd_request *r, int code, const struct pvmi_buf *body);

#endif
