/* info.h - small requests of tasks: queries (CONFIG, MSTAT, PSTAT, TASKS, USAGE, HOSTSYNC), signals, options, roles. */
#ifndef PVMD_INFO_H
#define PVMD_INFO_H

void pvmd_info_start(void);
void pvmd_task_list_start(void);
void pvmd_usage_start(void);
void pvmd_tickle_start(void);

#endif
