/* context.h - message contexts of this host's tasks (TM_CONTEXT). */
#ifndef PVMD_CONTEXT_H
#define PVMD_CONTEXT_H

void pvmd_context_start(void);
void pvmd_context_stop(void);

#endif
