/* output.h - output of child tasks (pvm_catchout). */
#ifndef PVMI_OUTPUT_H
#define PVMI_OUTPUT_H

#include "../core/message.h"

/* A message of output came (TC_OUTPUT). Called by control.c; reads m. */
void pvmi_output_take(struct pvmi_message *m);

/* These children were spawned, and their output comes to us if it is caught: wait for its end in pvm_exit(). */
void pvmi_output_expect(const int *tids, int count);

/* A host is lost: no output comes any more from its tasks. */
void pvmi_output_forget_host(pvmi_tid host);

/* Waits until all caught output is here; says so on stderr if it has to. 0 or PVMI_EDOWN. */
int pvmi_output_drain(void);

/* Catches no more and forgets all children; unfinished lines are written out. */
void pvmi_output_clear(void);

#endif
