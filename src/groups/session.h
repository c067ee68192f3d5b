/*
 * session.h - begin and end of every public group call.
 */
#ifndef PVMI_SESSION_H
#define PVMI_SESSION_H

#include "guard.h"

/*
 * Puts the user's state aside, enrols the task if need be, and checks the group's name. Continues in the server's
 * context. 0 or an error; either way pvmi_session_end() follows.
 */
int pvmi_session_begin(struct pvmi_guard *guard, const char *group);

/* Restores the user's state; notes `code` as pvmi_guard_result() does and returns it. */
int pvmi_session_end(struct pvmi_guard *guard, int code);

#endif
