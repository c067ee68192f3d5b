/*
 * manager.h - the resource manager (pvmi_task.manager), which is asked instead of our daemon, with the SM messages that
 * such programs expect (man pvm_reg_rm).
 */
#ifndef PVMI_MANAGER_H
#define PVMI_MANAGER_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/message/message.h"
#include "request.h"

/*
 * Asks the manager instead of our daemon. True: *code and *answer are as for pvmi_request(), and body is freed. False:
 * nothing was done, because the question is for the daemon or the manager has ended without an answer.
 */
bool pvmi_manager_request(int tag, struct pvmc_buf *body, struct pvmi_answer *answer, int *code);

/* TC_MANAGER came: there is another manager, or none. */
void pvmi_manager_set(struct pvmc_message *m);

#endif
