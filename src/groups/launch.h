/*
 * launch.h - starts the group server once, even if many tasks need it at the same time.
 */
#ifndef PVMG_LAUNCH_H
#define PVMG_LAUNCH_H

/*
 * Returns the tid of the running server: the one started here, or one that another task started meanwhile. Errors are
 * those of pvm_spawn(), and PvmDSysErr when the server did not start; a message on stderr says what to do.
 */
int pvmg_launch_server(void);

#endif
