/*
 * password.h - lets ssh ask for a password at the daemon's terminal (so=pw).
 *
 * Launchers' commands have no terminal. For each question ssh runs the program in SSH_ASKPASS, which is the daemon's
 * own: it finds the terminal in PVMD_ASK_AT, asks there, and ends.
 */
#ifndef PVMD_PASSWORD_H
#define PVMD_PASSWORD_H

#include <stdbool.h>

#define PVMD_ASK_AT           "DPVM_ASK_AT" /* environment variable: a terminal's file */
#define PVMD_PASSWORD_LIMIT_S 120           /* for the user to type, together with all hosts that wait for their turn */

/* The terminal in whose foreground this daemon runs, or NULL if there is none. Static storage. */
const char *pvmd_password_terminal(void);

/* Whether somebody can be asked: at that terminal, or by the user's own SSH_ASKPASS. */
bool pvmd_password_can_ask(void);

/* Asks at the terminal and writes the answer to standard output. Returns the exit code for main(). */
int pvmd_password_ask(const char *terminal, const char *question);

/* The daemon's end: restores the terminal if a question was cut off. */
void pvmd_password_stop(void);

#endif
