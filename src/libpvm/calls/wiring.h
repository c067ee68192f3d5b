/*
 * wiring.h - the one place that connects the rooms: which module handles which control message, listens to links, and
 * undoes what forks and jumps interrupt. Lower rooms provide hooks for that and know no room above them.
 */
#ifndef PVMI_WIRING_H
#define PVMI_WIRING_H

/* Sets all hooks. Repeating it changes nothing. Called on enrolment, before there is a link. */
void pvmi_wiring_install(void);

#endif
