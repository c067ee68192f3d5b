/*
 * manager.h - the resource manager: who it is for us (pvmi_task.manager), and what is asked of it instead of our
 * daemon, in the SM messages that such programs expect (man pvm_reg_rm).
 */
#ifndef PVMI_MANAGER_H
#define PVMI_MANAGER_H

#include <stdbool.h>
#include "../core/buf.h"
#include "../core/message.h"
#include "request.h"

/*
 * Puts a question for our daemon to the manager instead: true, and *code and *answer are as of pvmi_request(), body is
 * freed. False: nothing was done; it is the daemon's, or the manager has ended without an answer. Called by request.c.
 */
bool pvmi_manager_request(int tag, struct pvmi_buf *body, struct pvmi_answer *answer, int *code);

/* TC_MANAGER came: another manager, or none. Called by control.c. */
void pvmi_manager_set(struct pvmi_message *m);

#endif
