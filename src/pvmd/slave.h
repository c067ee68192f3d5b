/* slave.h - a daemon's part in being launched by its master; pvmd_slave_start() and _failed() are in join.h. */
#ifndef PVMD_SLAVE_H
#define PVMD_SLAVE_H

#include "startup.h"

/* What the master told us; NULL in a master. */
const struct pvmd_start_text *pvmd_slave_text(void);

/* Tasks and the master can connect: prints the start line, and watches the launcher's channel until we are linked. */
void pvmd_slave_ready(void);

/* The link to the master is up: lets go of the launcher. Does nothing the second time. */
void pvmd_slave_linked(void);

/* The daemon's end. */
void pvmd_slave_stop(void);

#endif
