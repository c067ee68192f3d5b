/*
 * session.h - entry and exit of every public group call.
 */
#ifndef PVMG_SESSION_H
#define PVMG_SESSION_H

#include "guard.h"

/*
 * Saves the user's state, enrols the task if necessary, checks the group's name and switches to the server's context. 0
 * or an error; either way pvmg_session_end() must follow.
 *
 * A message handler of the user may start a call while another one waits. Such a nested call may query groups, but not
 * change them or wait for other members: calls that do are `exclusive` and get PvmAlready there. In another thread an
 * exclusive call waits until the running one has ended.
 */
int pvmg_session_begin(struct pvmg_guard *guard, const char *group, int exclusive);

/* Restores the user's state and returns `code` through pvmg_guard_result(). */
int pvmg_session_end(struct pvmg_guard *guard, int code);

/* Whether no call is under way and the task is still enrolled as in the last one. */
bool pvmg_session_is_idle(void);

/* A number below 8 that identifies the current call of this thread among all that wait now. */
int pvmg_session_depth(void);

#endif
