/* tasks.h - whether tasks of the running machine wait for what will not come. */
#ifndef DOCTOR_TASKS_H
#define DOCTOR_TASKS_H

#include <jansson.h>

/* Enrols in a process of its own; to be called if the daemon answers. */
void tasks_judge(json_t *results);

#endif
