/*
 * legacy.h - requests of PVM 3.4's own tools, pvm_gstat and pvmgroups, whose binaries also run on dpvm (../proto.h).
 */
#ifndef PVMG_LEGACY_H
#define PVMG_LEGACY_H

#include <stdbool.h>

/* Handles a request without a body; false when it is not a legacy request. */
bool pvmg_legacy_request(int from, int operation);

#endif
