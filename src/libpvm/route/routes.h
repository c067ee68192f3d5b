/*
 * routes.h - answers TC_ROUTES: what went from this task to which other, and by which route. Question and answer are in
 * doc/protocol.md; any program can ask (src/tools/pvm-info/links.c does).
 */
#ifndef PVMI_ROUTES_H
#define PVMI_ROUTES_H

#include "core/message/message.h"

/* TC_ROUTES came: the answer goes out when the call that received it is about to return. */
void pvmi_routes_take(struct pvmc_message *m);

#endif
