/*
 * session.h - begin and end of every public group call.
 */
#ifndef PVMI_SESSION_H
#define PVMI_SESSION_H

#include "guard.h"

/*
 * Puts the user's state aside, enrols the task if need be, and checks the group's name. Continues in the server's
 * context. 0 or an error; either way pvmi_session_end() follows.
 *
 * A message handler of the user may begin a call while another one waits: that may look at groups, but not change them
 * or wait for other members. So calls that do say `alone`, and get PvmAlready. In another thread they wait until the
 * one that runs has ended.
 */
int pvmi_session_begin(struct pvmi_guard *guard, const char *group, int alone);

/* Restores the user's state; notes `code` as pvmi_guard_result() does and returns it. */
int pvmi_session_end(struct pvmi_guard *guard, int code);

/* A number below 8 for the current call of this thread, which no other call has that waits now. */
int pvmi_session_depth(void);

#endif
