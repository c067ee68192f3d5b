/*
 * compat.h - functions and variables that PVM exports without declaring them in pvm3.h. Old programs and libraries
 * declare and use them themselves.
 */
#ifndef PVMI_COMPAT_H
#define PVMI_COMPAT_H

#include <stdarg.h>
#include <stdbool.h>
#include "pvmtev.h"

/* Reports `code` if negative, as pvmi_return() does for public codes; returns it. Also used by libgpvm3. */
int lpvmerr(const char *call, int code);

extern int pvmdebmask;           /* PvmDebugMask */
extern int pvmmyctx;             /* current context */
extern struct Pvmtracer pvmctrc; /* output and trace destinations and trace mask of tasks we spawn */
extern struct Pvmtevinfo pvmtevinfo[];
extern struct Pvmtevdid pvmtevdidlist[];

int pvm_vpackf(const char *format, va_list args);
int pvm_vunpackf(const char *format, va_list args);

/* Enrols unless that has happened: PvmOk or an error, without a line on stderr. */
int pvmbeatask(void);

/* Leaves the machine without waiting for children's output: PvmOk or an error. */
int pvmendtask(void);

/*
 * The name of a system message tag such as "TM_CONNECT", and *found is 1; else the number, and *found is 0. Static
 * storage. `found` may be NULL.
 */
char *pvmnametag(int tag, int *found);

/* A number in C notation: decimal, 0x hexadecimal, 0 octal; 0 if there is none. */
int pvmstrtoi(char *text);

/* putenv() with a copy of `text`, "NAME=value". 0 or -1. */
int pvmputenv(char *text);

/* Unpacks a string into memory that the caller frees. */
int pvmupkstralloc(char **text);

/* Sets the name that `ps` shows in place of the program's; PvmExists after enrolment. Copied. */
int pvmsettaskname(char *name);

/* Print a line on stderr that begins with our identity. The first returns 0, the second the length as printf() does. */
int pvmlogerror(char *text);
int pvmlogprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints our identity, `text` and the text of errno on stderr. Keeps errno; returns 0. */
int pvmlogperror(char *text);

/*
 * In PVM's daemon this ends the process; in its library, and so here, it does nothing. 0. Programs may define their
 * own.
 */
int pvmbailout(int code);

/* Exits with code 1 and a message on stdout if `uid` is root's, unless PVM_ALLOW_ROOT is set. */
void pvmchkuid(int uid);

/*
 * Prints on stderr how much memory the process has allocated. `how` is accepted for the reference's sake and ignored.
 */
int i_dump(int how);

int pvmsleep(int seconds);
int pvmgetclock(struct timeval *now);

/*
 * Resets the machine: kills all other tasks without PvmNoReset if kill_tasks, and removes mailbox entries of class
 * `name` (NULL or "*": all) and index (-1: all) that none of the spared tasks owns.
 */
int pvmreset(int tid, int kill_tasks, char *name, int index);

/* Lists the message handlers on stdout, after a heading from the caller's name, task id and text. */
int pvmdisplaymhfinfo(char *who, char *text, int tid);

#define PVMI_TMPNAM_BYTES 128 /* PVMTMPNAMLEN with -DNOTMPNAM */

#endif
