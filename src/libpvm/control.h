/* control.h - messages from daemons, and from other tasks' libraries, to the library itself (context TC). */
#ifndef PVMI_CONTROL_H
#define PVMI_CONTROL_H

#include <stdbool.h>
#include "../core/message.h"

/* Handles m if it is a control message; the reference stays the caller's. Called by link.c. */
bool pvmi_control_take(struct pvmi_message *m);

#endif
