/* enrol.h - how a process becomes a task and ceases to be one. */
#ifndef PVMD_ENROL_H
#define PVMD_ENROL_H

#include "clients.h"

/* Handle TM_CONNECT and TM_EXIT. Return 0, or a PVMC_E code for a malformed request. */
int pvmd_enrol_connect(struct pvmd_client *c, const struct pvmd_request *r, struct pvmc_buf *body);
int pvmd_enrol_exit(struct pvmd_client *c, const struct pvmd_request *r, struct pvmc_buf *body);

#endif
