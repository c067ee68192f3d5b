/*
 * old.h - how programs of the 1990s detect features of the system: by the flags of conf/LINUX64.def. The programs here
 * are in the style of that time, so that aimk compiles them unchanged for PVM 3.4 and for dpvm.
 */
#include <sys/types.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <errno.h>

#ifdef HASSTDLIB
#include <stdlib.h>
#else
char *malloc(), *getenv();
#endif

#ifdef SYSVSTR
#include <string.h>
#define INDEX(s, c) strchr(s, c)
#else
#include <strings.h>
#define INDEX(s, c) index(s, c)
#endif

#ifdef NEEDENDIAN
#include <endian.h>
#endif
#if !defined(BYTE_ORDER)
#include <machine/endian.h>
#endif

#ifdef FDSETNOTSTRUCT
typedef fd_set descriptors;
#else
typedef struct fd_set descriptors;
#endif

#ifdef CTIMEISTIMET
typedef time_t clock_seconds;
#else
typedef long clock_seconds;
#endif

#ifndef HASERRORVARS
extern int errno, sys_nerr;
#ifdef SYSERRISCONST
extern const char *const sys_errlist[];
#else
extern char *sys_errlist[];
#endif
#endif
#ifdef USESTRERROR
#define REASON strerror(errno)
#else
#define REASON (errno < sys_nerr ? sys_errlist[errno] : "unknown error")
#endif

#ifdef SYSVSIGNAL
#define CHILD_SIGNAL SIGCLD
#else
#define CHILD_SIGNAL SIGCHLD
#endif

#ifndef SIGCLD
#define SIGCLD SIGCHLD
#endif

#include "pvm3.h"
#include "pvmproto.h"
#include "pvmtev.h"

#ifndef _PVM3_H_
#error "pvm3.h has another guard"
#endif

/* Exported by libpvm3 without a declaration in any header. */
int pvmlogerror __ProtoGlarp__((char *));
int pvmlogperror __ProtoGlarp__((char *));
int pvmbailout __ProtoGlarp__((int));
void pvmchkuid __ProtoGlarp__((int));
