/*
 * password.h - lets ssh ask for a password at the daemon's terminal (so=pw).
 *
 * Launchers' commands have no terminal. ssh runs the program in SSH_ASKPASS for each question that it has; that is this
 * daemon's own file, which finds the terminal in PVMD_ASK_AT and asks there instead of being a daemon.
 */
#ifndef PVMD_PASSWORD_H
#define PVMD_PASSWORD_H

#include <stdbool.h>

#define PVMD_ASK_AT           "DPVM_ASK_AT" /* environment variable: a terminal's file */
#define PVMD_PASSWORD_LIMIT_S 120           /* what a user may take to type, with all hosts that wait for their turn */

/* The terminal in whose foreground this daemon runs, or NULL if there is none. Static storage. */
const char *pvmd_password_terminal(void);

/* Whether somebody can be asked: at that terminal, or by the user's own SSH_ASKPASS. */
bool pvmd_password_can_ask(void);

/* Asks at the terminal and writes the answer's line to standard output. Exit code for main(). */
int pvmd_password_ask(const char *terminal, const char *question);

/* The daemon's end: the terminal shows again what is typed, should a question have been cut off. */
void pvmd_password_stop(void);

#endif
