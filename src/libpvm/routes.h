/*
 * routes.h - tells another task what went from us to whom, and by which route: TC_ROUTES. The question and its answer
 * are in doc/protocol.md; any program can ask (src/tools/links.c does).
 */
#ifndef PVMI_ROUTES_H
#define PVMI_ROUTES_H

#include "../core/message.h"

/* TC_ROUTES came: the answer goes out when the call that received it is about to return. Called by control.c. */
void pvmi_routes_take(struct pvmi_message *m);

#endif
