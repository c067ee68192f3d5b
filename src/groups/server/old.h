/*
 * old.h - requests of PVM 3.4's own tools, pvm_gstat and pvmgroups, whose binaries run on dpvm, too (../proto.h).
 */
#ifndef OLD_H
#define OLD_H

#include <stdbool.h>

/* Does what a request without a body asks for. False: it is no such request, and nothing has been done. */
bool old_request(int from, int operation);

#endif
