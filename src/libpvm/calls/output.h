/* output.h - output of child tasks (pvm_catchout). */
#ifndef PVMI_OUTPUT_H
#define PVMI_OUTPUT_H

#include "core/message/message.h"

/* TC_OUTPUT came; reads m. */
void pvmi_output_take(struct pvmc_message *m);

/* These children were spawned and send their output, if caught, to us: pvm_exit() waits for its end. */
void pvmi_output_expect(const int *tids, int count);

/* A host is lost: no more output comes from its tasks. */
void pvmi_output_forget_host(pvmc_tid host);

/* Waits until all caught output has arrived, and prints that on stderr if it has to wait. 0 or PVMC_EDOWN. */
int pvmi_output_drain(void);

/* Stops catching and forgets all children. Unfinished lines are written. */
void pvmi_output_clear(void);

#endif
