/*
 * control.h - the control processors of all nodes: they take signalling cells, join them to messages, spend time on
 * each, and send messages on.
 */
#ifndef PVMA_CONTROL_H
#define PVMA_CONTROL_H

#include "network.h"
#include "signal.h"

/* By network.c: gives each node its control processor, and takes them away with all calls. */
void pvma_control_install(struct pvma_net *net);
void pvma_control_remove(struct pvma_net *net);

#endif
