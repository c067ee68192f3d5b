/*
 * edit.h - the line editor of a terminal: editing, history (kept in ~/.pvm_history), completion with the tab key.
 *
 * While it waits for a key, messages of the virtual machine are taken and printed above the line.
 */
#ifndef EDIT_H
#define EDIT_H

/* Starts it; 0, or -1 after a message. */
int edit_open(void);

/* The next line, static storage, or NULL at the end of input or when the console is done. Ctrl-C begins a new line. */
const char *edit_line(void);

/* Saves the history and gives the terminal back. */
void edit_close(void);

#endif
