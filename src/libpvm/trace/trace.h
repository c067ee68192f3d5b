/*
 * trace.h - trace events of this task: which calls are recorded, in what form (pvmtev(7)), and where they go. The
 * settings are in pvmi_self_trace (options.h); call pvmi_trace_update() after changing them.
 */
#ifndef PVMI_TRACE_H
#define PVMI_TRACE_H

#include "libpvm/base/call.h"
#include "core/message/message.h"

/* Sets or clears PVMI_WATCH_TRACE as the settings require. */
void pvmi_trace_update(void);

/*
 * Before main(): a spawned task with a trace mask traces from its first call on. That call enrols the task by `enrol`.
 */
void pvmi_trace_expect(int (*enrol)(void));

/* Records a call without arguments that was not known to be traced when it began. */
void pvmi_trace_late(int event, const struct pvmi_datum *data, size_t bytes);

/*
 * A message handler is about to be called with m, whose number is mid. `src`, `tag` and `ctx` are those of the handler.
 */
void pvmi_trace_handler(const struct pvmc_message *m, int mid, int src, int tag, int ctx);

/*
 * Sends an event of the program itself, packed with PvmDataTrace, to the destination. 0; PVMC_EPARAM: m is no such
 * event.
 */
int pvmi_trace_send_user(struct pvmc_message *m);

/* Turns m, to which the caller has the only reference, into a message of PvmDataTrace. 0 or PVMC_ENOMEM. */
int pvmi_trace_open_user(struct pvmc_message *m);

/* Packs what precedes n values of a PVM_ type in such a message. PVMC_EPARAM for types that have no events. */
int pvmi_trace_pack_type(struct pvmc_message *m, int type, int n);

/*
 * Sends the buffered events, and the sums of PvmTraceTime and PvmTraceCount. Called on leaving, while messages still
 * go.
 */
void pvmi_trace_finish(void);

/* The machine has been left: tracing ends, and descriptions must be sent again. */
void pvmi_trace_forget(void);

/* A task, or all tasks of a host, have ended: traces for them are dropped from now on. */
void pvmi_trace_lose(pvmc_tid tid);

#endif
