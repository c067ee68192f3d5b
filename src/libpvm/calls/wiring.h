/*
 * wiring.h - the one place that connects the rooms: which module takes which control message, hears of links, and
 * undoes what forks and jumps interrupt. Lower rooms have hooks for that and know nobody above them.
 */
#ifndef PVMI_WIRING_H
#define PVMI_WIRING_H

/* Fills in all hooks. Doing it again changes nothing. Called on enrolment, before there is a link. */
void pvmi_wiring_install(void);

#endif
