/*
 * listing.h - questions about one host or all: each host answers with rows, and the task gets the rows of all hosts in
 * order.
 *
 * The body of a question is u32 where: the tid of a task or host; 0: all hosts. That of an answer is u32 n, n rows.
 */
#ifndef PVMD_LISTING_H
#define PVMD_LISTING_H

#include "pvmd/net/rpc.h"
#include "pvmd/tasks/tasks.h"

/* Appends this host's rows for `where`; returns their number. */
typedef uint32_t pvmd_listing_put(struct pvmc_buf *rows, pvmc_tid where);

/* At the host that is asked: answers with its rows. 0, or a PVMC_E code for a malformed body. */
int pvmd_listing_answer(const struct pvmd_question *q, struct pvmc_buf *body, pvmd_listing_put *put);

/* At the host of the task that asks: passes its request on as `question`, and answers it later. Codes as above. */
int pvmd_listing_ask(const struct pvmd_request *r, struct pvmc_buf *body, enum pvmd_dm question);

/* Whether `where` covers this task of ours: it names the task or our host, or is 0. */
bool pvmd_listing_covers(pvmc_tid where, const struct pvmd_task *task);

#endif
