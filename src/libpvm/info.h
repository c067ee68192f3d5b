/* info.h - what pvm_config(), pvm_tasks() and the like have shown to a thread, which it may read until it asks again.
 */
#ifndef PVMI_INFO_H
#define PVMI_INFO_H

/* Frees that of the calling thread, which ends. */
void pvmi_info_free_shown(void);

#endif
