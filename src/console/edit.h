/*
 * edit.h - the line editor: editing, history (in ~/.pvm_history), completion with the tab key.
 *
 * While it waits for a key, it handles messages of the virtual machine and prints them above the line.
 */
#ifndef EDIT_H
#define EDIT_H

/* Starts the editor; 0, or -1 after a message. */
int edit_open(void);

/* The next line in static storage; NULL at the end of input or when the console is done. Ctrl-C starts a new line. */
const char *edit_line(void);

/* Saves the history and restores the terminal. */
void edit_close(void);

#endif
