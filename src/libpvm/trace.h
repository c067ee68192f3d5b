/*
 * trace.h - trace events of this task: which calls are recorded, in what form (pvmtev(7)), and where they go. What is
 * traced, where to and how is in pvmi_self_trace (options.h); after changing that, pvmi_trace_update().
 */
#ifndef PVMI_TRACE_H
#define PVMI_TRACE_H

#include "call.h"
#include "../core/message.h"

/* Sees whether calls are to be watched for events: PVMI_WATCH_TRACE. Called by options.c and by the functions below. */
void pvmi_trace_update(void);

/* Before main(): a spawned task with a trace mask traces from its first call on. Called by options.c. */
void pvmi_trace_expect(void);

/* A call begins and ends; `bytes` is the size of data. Called by call.c, for outermost calls. */
void pvmi_trace_begin(int event, const struct pvmi_datum *data, size_t bytes);
void pvmi_trace_end(int event, const struct pvmi_datum *data, size_t bytes);

/* A call without arguments has ended that was not known to be traced when it began. */
void pvmi_trace_late(int event, const struct pvmi_datum *data, size_t bytes);

/* A message handler is about to be called with m, which has the number mid; `src`, `tag`, `ctx`: what it was set for.
 */
void pvmi_trace_handler(const struct pvmi_message *m, int mid, int src, int tag, int ctx);

/* An event of the program itself, packed with PvmDataTrace, goes where traces go. 0, PVMI_EPARAM: it is not such. */
int pvmi_trace_send_user(struct pvmi_message *m);

/* Makes a message, to which the caller has the only reference, one of PvmDataTrace. 0 or PVMI_ENOMEM. */
int pvmi_trace_open_user(struct pvmi_message *m);

/* What goes before n values of a PVM_ type in such a message. PVMI_EPARAM for types that have no events. */
int pvmi_trace_pack_type(struct pvmi_message *m, int type, int n);

/* Sends what is buffered, and the sums of PvmTraceTime and PvmTraceCount. Called on leaving, while messages go. */
void pvmi_trace_finish(void);

/* The machine is left: nothing is traced, all descriptions must be sent again. */
void pvmi_trace_forget(void);

/* A task has ended or all of a host have: traces that went there go nowhere now. Called by control.c. */
void pvmi_trace_lose(pvmi_tid tid);

#endif
