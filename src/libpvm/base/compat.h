/*
 * compat.h - functions and variables that PVM exports without declaring them in pvm3.h. Old programs and libraries
 * declare and use them themselves.
 */
#ifndef PVMI_COMPAT_H
#define PVMI_COMPAT_H

#include <stdarg.h>
#include <stdbool.h>
#include "../../include/pvmtev.h"

/* Reports `code` if negative, as pvmi_return() does for public codes; returns it. Also used by libgpvm3. */
int lpvmerr(const char *call, int code);

extern int pvmdebmask;           /* PvmDebugMask */
extern int pvmmyctx;             /* current context */
extern struct Pvmtracer pvmctrc; /* output and trace destinations and trace mask of tasks we spawn */
extern struct Pvmtevinfo pvmtevinfo[];
extern struct Pvmtevdid pvmtevdidlist[];

int pvm_vpackf(const char *format, va_list args);
int pvm_vunpackf(const char *format, va_list args);

/* Enrols if that has not happened: PvmOk or an error, without a line on stderr. */
int pvmbeatask(void);

/* Leaves the machine without waiting for children's output: PvmOk or an error. */
int pvmendtask(void);

/* Name of a system message tag such as "TM_CONNECT" and *found 1; else the number and 0. Static storage. found may be
 * NULL. */
char *pvmnametag(int tag, int *found);

/* A number in C notation: decimal, 0x hexadecimal, 0 octal; 0 if there is none. */
int pvmstrtoi(char *text);

/* putenv() with a copy of `text`, "NAME=value". 0 or -1. */
int pvmputenv(char *text);

/* Unpacks a string into memory that the caller frees. */
int pvmupkstralloc(char **text);

/* Name to show in `ps` instead of the program's: before enrolment, else PvmExists. Copied. */
int pvmsettaskname(char *name);

/* A line on stderr that begins with who we are, and ends as the caller says: 0; the second the length, as printf(). */
int pvmlogerror(char *text);
int pvmlogprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on stderr: who we are, `text` and what errno says. Keeps errno; 0. */
int pvmlogperror(char *text);

/* PVM's daemon ends here; in its library, and so here, nothing happens: 0. Programs may bring one of their own. */
int pvmbailout(int code);

/* Ends the program with exit code 1 and words on stdout if `uid` is root's, unless PVM_ALLOW_ROOT is set. */
void pvmchkuid(int uid);

/* Tells on stderr how much memory the process has allocated. `how` is what the reference took; all mean the same. */
int i_dump(int how);

int pvmsleep(int seconds);
int pvmgetclock(struct timeval *now);

/*
 * Cleans the machine up: kills all tasks but ourselves and those with PvmNoReset if kill_tasks, and removes mailbox
 * entries of class `name` (NULL or "*": all) and index (-1: all) unless such tasks own them.
 */
int pvmreset(int tid, int kill_tasks, char *name, int index);

/* Lists the message handlers on stdout under a caller's name, words and task id. */
int pvmdisplaymhfinfo(char *who, char *text, int tid);

#define PVMI_TMPNAM_BYTES 128 /* PVMTMPNAMLEN with -DNOTMPNAM */

#endif
