/* enrol.h - how a process becomes a task (TM_CONNECT) and ceases to be one (TM_EXIT). */
#ifndef PVMD_ENROL_H
#define PVMD_ENROL_H

#include "clients.h"

int pvmd_enrol_connect(struct pvmd_client *c, const struct pvmd_request *r, struct pvmi_buf *body);
int pvmd_enrol_exit(struct pvmd_client *c, const struct pvmd_request *r, struct pvmi_buf *body);

#endif
