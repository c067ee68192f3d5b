/*
 * routes.h - answers TC_ROUTES: how much this task has sent to which other task, and by which route. Question and
 * answer are in doc/protocol.md; any program can ask (src/tools/pvm-info/links.c does).
 */
#ifndef PVMI_ROUTES_H
#define PVMI_ROUTES_H

#include "core/message/message.h"

/* TC_ROUTES has arrived: the answer is sent just before the call that received it returns. */
void pvmi_routes_take(struct pvmc_message *m);

#endif
