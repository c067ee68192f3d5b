/*
 * fortran.h - how Fortran calls C, and the few routines of PVM that need more than one call of the C library.
 *
 * The routines themselves are made from routines.txt by `generate`, one source each, so that a program that is linked
 * with libfpvm3.a gets only those it uses: without groups, it needs no libgpvm3. Only public functions of PVM are used.
 *
 * All functions here are called by those sources, and return what the C function returns unless it is said otherwise.
 */
#ifndef FORTRAN_H
#define FORTRAN_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "pvm3.h"

/* The name that Fortran compilers on Linux give a routine. They pass each argument's address and, behind the last
 * argument, the length of each string. */
#define FORTRAN(name) name##_

typedef void fortran_function(int *type, void *x, void *y, int *n, int *info);
typedef int fortran_handler(int mid);

/* ---- text.c ---- */

/* A C string for the text of a Fortran string: up to its first NUL, or without the blanks at its end. The caller frees
 * it. NULL without memory. */
char *pvmi_fortran_text(const char *text, size_t length);
/* Fills a Fortran string: cut when it is short, blanks behind when it is long. */
void pvmi_fortran_fill(char *to, size_t length, const char *text);

/* ---- process.c ---- */

int pvmi_fortran_spawn(char *task, int flags, char *where, int count, int *tids);
void pvmi_fortran_siblings(int *count, int index, int *sibling); /* PvmNoTask: no such one */
int pvmi_fortran_catchout(int on);
void pvmi_fortran_sleep(int seconds);

/* ---- machine.c ---- */

/* The next host or task of a list that is fetched when the last one was exhausted or the count is -1. Returns 1, or the
 * error of fetching it, which leaves everything else unchanged. */
int pvmi_fortran_config(int *nhost, int *narch, int *dtid, char *name, size_t name_length, char *arch,
                        size_t arch_length, int *speed);
int pvmi_fortran_tasks(int where, int *ntask, int *tid, int *ptid, int *dtid, int *flag, char *aout,
                       size_t aout_length);
int pvmi_fortran_addhost(char *host); /* tid of its daemon, or an error */
int pvmi_fortran_delhost(char *host);
int pvmi_fortran_hostsync(int host, int *clock_s, int *clock_us, int *delta_s, int *delta_us);
int pvmi_fortran_startpvmd(char *arguments, int block); /* writes to arguments */

/* ---- message.c ---- */

int pvmi_fortran_trecv(int tid, int tag, int s, int us);
int pvmi_fortran_upkmesg(int mid); /* from that message, or from the active one if mid is 0 */
int pvmi_fortran_getminfo(int mid, int *len, int *ctx, int *tag, int *wid, int *enc, int *crc, int *src, int *dst);
int pvmi_fortran_setminfo(int mid, int ctx, int tag, int wid, int src, int dst);

/* ---- data.c ---- */

int pvmi_fortran_pack(int what, void *data, int n, int stride);
int pvmi_fortran_unpack(int what, void *data, int n, int stride);

/* ---- mailbox.c ---- */

/* The next entry, as for hosts. Sets info to 0, PvmNotFound after the last entry, or an error. */
void pvmi_fortran_getmboxinfo(char *pattern, char *name, size_t name_length, int *nclasses, int *nentries, int *index,
                              int *owner, int *flags, int *info);

/* ---- option.c ---- */

int pvmi_fortran_advise(int route);
int pvmi_fortran_serror(int on);
int pvmi_fortran_perror(const char *text, size_t length);

#endif
