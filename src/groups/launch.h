/*
 * launch.h - starts the group server, once, however many tasks need it at the same time.
 */
#ifndef PVMI_LAUNCH_H
#define PVMI_LAUNCH_H

/*
 * Returns the tid of the running server: of ours, or of one that another task started meanwhile. Errors are those of
 * pvm_spawn(), and PvmDSysErr when the server did not come up; a message says what to do.
 */
int pvmi_launch_server(void);

#endif
