/* control.h - messages from daemons, and from other tasks' libraries, to the library itself (context TC). */
#ifndef PVMI_CONTROL_H
#define PVMI_CONTROL_H

#include <stdbool.h>
#include "core/message/message.h"

struct pvmi_control {
    int tag;
    bool of_daemon; /* only daemons may send it; else only tasks */
    void (*take)(struct pvmc_message *m);
};

/* The control messages that rooms above handle. The table stays the caller's. Set on enrolment. */
void pvmi_control_serve(const struct pvmi_control *table, unsigned count);

/* The number that HOLD, RELEASE and GONE carry. A malformed message is logged and names no task: 0. */
pvmc_tid pvmi_control_tid(const struct pvmc_message *m);

/* Handles m if it is a control message; the reference stays the caller's. Called by link.c. */
bool pvmi_control_take(struct pvmc_message *m);

#endif
