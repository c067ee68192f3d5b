/*
 * fortran.h - Fortran's calling convention, and helpers for routines that need more than one call of the C library.
 *
 * `generate` makes the routines from routines.txt, one source file each. A program linked with libfpvm3.a thus gets
 * only the routines that it uses, and needs no libgpvm3 if it uses no groups. The library calls only public functions
 * of PVM.
 *
 * The generated sources call all functions here. Unless stated otherwise, these return the result of the C function.
 */
#ifndef FORTRAN_H
#define FORTRAN_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "dpvm.h"
#include "pvm3.h"

/* The symbol of a routine for Fortran compilers on Linux. They pass the address of each argument and, after the last
 * argument, the length of each string. */
#define FORTRAN(name) name##_

typedef void fortran_function(int *type, void *x, void *y, int *n, int *info);
typedef int fortran_handler(int mid);

/* ---- text.c ---- */

/* Copies a Fortran string to a C string: up to its first NUL, or without trailing blanks. The caller frees it; NULL
 * when out of memory. */
char *fpvm_text(const char *text, size_t length);
/* Copies a text to a Fortran string, truncated or padded with blanks. */
void fpvm_fill(char *to, size_t length, const char *text);

/* ---- process.c ---- */

int fpvm_spawn(char *task, int flags, char *where, int count, int *tids);
void fpvm_siblings(int *count, int index, int *sibling); /* *sibling is PvmNoTask if there is none */
int fpvm_catchout(int on);
void fpvm_sleep(int seconds);

/* ---- machine.c ---- */

/* Store the next host or task of a list. They fetch a new list when the last one is exhausted or the count is -1. They
 * return 1, or the error of fetching the list, which leaves the arguments unchanged. */
int fpvm_config(int *nhost, int *narch, int *dtid, char *name, size_t name_length, char *arch, size_t arch_length,
                int *speed);
int fpvm_tasks(int where, int *ntask, int *tid, int *ptid, int *dtid, int *flag, char *aout, size_t aout_length);
int fpvm_addhost(char *host); /* returns the tid of its daemon, or an error */
int fpvm_delhost(char *host);
int fpvm_hostsync(int host, int *clock_s, int *clock_us, int *delta_s, int *delta_us);
int fpvm_startpvmd(char *arguments, int block); /* modifies arguments */

/* ---- message.c ---- */

int fpvm_trecv(int tid, int tag, int s, int us);
int fpvm_upkmesg(int mid); /* from message mid, or from the active one if mid is 0 */
int fpvm_getminfo(int mid, int *len, int *ctx, int *tag, int *wid, int *enc, int *crc, int *src, int *dst);
int fpvm_setminfo(int mid, int ctx, int tag, int wid, int src, int dst);

/* ---- data.c ---- */

int fpvm_pack(int what, void *data, int n, int stride);
int fpvm_unpack(int what, void *data, int n, int stride);

/* ---- mailbox.c ---- */

/* Stores the next entry, as fpvm_config() does for hosts, and sets *info to 0. After the last entry *info is
 * PvmNotFound, and on failure an error. */
void fpvm_getmboxinfo(char *pattern, char *name, size_t name_length, int *nclasses, int *nentries, int *index,
                      int *owner, int *flags, int *info);

/* ---- option.c ---- */

int fpvm_advise(int route);
int fpvm_serror(int on);
int fpvm_perror(const char *text, size_t length);

#endif
