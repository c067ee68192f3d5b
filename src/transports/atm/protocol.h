/* protocol.h - PVM_ATM_PROTOCOL: the protocol that assures the links, or none. */
#ifndef PVMT_ATM_PROTOCOL_H
#define PVMT_ATM_PROTOCOL_H

#include <stddef.h>
#include "fore_atm.h"

#define PVMT_ATM_PROTOCOL_MAX atm_ece_duplicating

/* Reads the setting. Returns 0, or PVMC_EPARAM with the reason in why[size]. */
int pvmt_atm_protocol(Atm_protocol *protocol, char *why, size_t size);

/* "native", "sscop", ... */
const char *pvmt_atm_protocol_name(Atm_protocol protocol);

#endif
