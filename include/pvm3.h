/*
 * pvm3.h - the C interface of PVM 3.4, as dpvm provides it.
 *
 * Names, values, prototypes and struct layouts are those of PVM 3.4.6, so that old programs compile unchanged.
 * Section 3 of the man pages describes each call; pvm_intro(3) is the index.
 */
#ifndef _PVM3_H_
#define _PVM3_H_

#include <sys/time.h>

#define PVM_VER           "3.4.6"
#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6

/* ---- encodings: pvm_initsend(), pvm_mkbuf() ---- */
#define PvmDataDefault 0
#define PvmDataRaw     1
#define PvmDataInPlace 2
#define PvmDataFoo     PvmDataDefault
#define PvmDataTrace   4

/* ---- pvm_spawn() flags ---- */
#define PvmTaskDefault   0
#define PvmTaskHost      1  /* where names a host */
#define PvmTaskArch      2  /* where names an architecture */
#define PvmTaskDebug     4  /* start under the debugger */
#define PvmTaskTrace     8  /* trace the task */
#define PvmMppFront      16 /* on the front end of an MPP */
#define PvmHostCompl     32 /* all hosts except those that where names */
#define PvmNoSpawnParent 64 /* the child gets no parent */

/* ---- pvm_notify() kinds ---- */
#define PvmTaskExit     1
#define PvmHostDelete   2
#define PvmHostAdd      3
#define PvmRouteAdd     4
#define PvmRouteDelete  5
#define PvmNotifyCancel 256 /* flag: cancel the request */

/* ---- pvm_setopt(), pvm_getopt() ---- */
#define PvmRoute             1
#define PvmDontRoute         1 /* value of PvmRoute: through the daemons only */
#define PvmAllowDirect       2 /* value of PvmRoute: accept direct routes (default) */
#define PvmRouteDirect       3 /* value of PvmRoute: ask for direct routes */
#define PvmDebugMask         2
#define PvmAutoErr           3
#define PvmOutputTid         4
#define PvmOutputCode        5
#define PvmTraceTid          6
#define PvmTraceCode         7
#define PvmTraceBuffer       8
#define PvmTraceOptions      9
#define PvmTraceFull         1 /* value of PvmTraceOptions */
#define PvmTraceTime         2 /* value of PvmTraceOptions */
#define PvmTraceCount        3 /* value of PvmTraceOptions */
#define PvmFragSize          10
#define PvmResvTids          11
#define PvmSelfOutputTid     12
#define PvmSelfOutputCode    13
#define PvmSelfTraceTid      14
#define PvmSelfTraceCode     15
#define PvmSelfTraceBuffer   16
#define PvmSelfTraceOptions  17
#define PvmShowTids          18
#define PvmPollType          19
#define PvmPollConstant      1 /* value of PvmPollType */
#define PvmPollSleep         2 /* value of PvmPollType */
#define PvmPollTime          20
#define PvmOutputContext     21
#define PvmTraceContext      22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext  24
#define PvmNoReset           25

/* ---- whose trace mask: pvm_settmask(), pvm_gettmask() ---- */
#define PvmTaskSelf  0
#define PvmTaskChild 1

#define PvmBaseContext 0

/* ---- mailbox: pvm_putinfo(), pvm_recvinfo(), pvm_delinfo() ---- */
#define PvmMboxDefault          0
#define PvmMboxPersistent       1  /* the entry outlives its owner */
#define PvmMboxMultiInstance    2  /* several entries under one name */
#define PvmMboxOverWritable     4  /* others may overwrite and delete */
#define PvmMboxFirstAvail       8  /* first entry at or above the index */
#define PvmMboxReadAndDelete    16 /* remove the entry, too */
#define PvmMboxWaitForInfo      32 /* wait until the entry is there */
#define PvmMboxMaxFlag          512
#define PvmMboxDirectIndexShift 10
#define PvmMboxMaxDirectIndex   (1U << (31 - PvmMboxDirectIndexShift))
#define PvmMboxDirectIndex(i)   /* -1, which no call accepts, if i is too large */                                     \
    ((unsigned)(i) < PvmMboxMaxDirectIndex ? (i) << PvmMboxDirectIndexShift : -1)
#define PvmMboxDirectIndexOf(flags) (((unsigned)(flags) >> PvmMboxDirectIndexShift) & (PvmMboxMaxDirectIndex - 1))

#define PVMNORESETCLASS "###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS  "###_PVM_HOSTER_###"
#define PVMTASKERCLASS  "###_PVM_TASKER_###"
#define PVMTRACERCLASS  "###_PVM_TRACER_###"
#define PVMRMCLASS      "###_PVM_RM_###"

/* ---- data types: pvm_psend(), pvm_precv(), pvm_reduce(), ... ---- */
#define PVM_STR    0
#define PVM_BYTE   1
#define PVM_SHORT  2
#define PVM_INT    3
#define PVM_FLOAT  4
#define PVM_CPLX   5
#define PVM_DOUBLE 6
#define PVM_DCPLX  7
#define PVM_LONG   8
#define PVM_USHORT 9
#define PVM_UINT   10
#define PVM_ULONG  11

/* ---- error codes ---- */
#define PvmOk           0   /* no error */
#define PvmBadParam     -2  /* bad parameter */
#define PvmMismatch     -3  /* barrier counts differ */
#define PvmOverflow     -4  /* value does not fit */
#define PvmNoData       -5  /* read past the end of a message */
#define PvmNoHost       -6  /* no such host */
#define PvmNoFile       -7  /* no such program */
#define PvmDenied       -8  /* permission denied */
#define PvmNoMem        -10 /* out of memory */
#define PvmBadMsg       -12 /* message cannot be decoded */
#define PvmSysErr       -14 /* local daemon does not answer */
#define PvmNoBuf        -15 /* no current buffer */
#define PvmNoSuchBuf    -16 /* no such buffer */
#define PvmNullGroup    -17 /* null group name */
#define PvmDupGroup     -18 /* already in the group */
#define PvmNoGroup      -19 /* no such group */
#define PvmNotInGroup   -20 /* not in the group */
#define PvmNoInst       -21 /* no such instance */
#define PvmHostFail     -22 /* a host failed */
#define PvmNoParent     -23 /* no parent task */
#define PvmNotImpl      -24 /* not implemented */
#define PvmDSysErr      -25 /* system error in a daemon */
#define PvmBadVersion   -26 /* versions differ */
#define PvmOutOfRes     -27 /* out of resources */
#define PvmDupHost      -28 /* host is there already */
#define PvmCantStart    -29 /* daemon cannot be started */
#define PvmAlready      -30 /* in progress already */
#define PvmNoTask       -31 /* no such task */
#define PvmNotFound     -32 /* no such entry */
#define PvmExists       -33 /* exists already */
#define PvmHostrNMstr   -34 /* hoster must run on the master host */
#define PvmParentNotSet -35 /* spawned with PvmNoSpawnParent */
#define PvmIPLoopback   -36 /* master's address is a loopback address */

#define PvmNoEntry  PvmNotFound /* older names */
#define PvmDupEntry PvmDenied

struct pvmhostinfo {
    int hi_tid;    /* tid of the host's daemon */
    char *hi_name; /* host name */
    char *hi_arch; /* architecture, such as LINUX64 */
    int hi_speed;  /* relative speed, 1000 by default */
    int hi_dsig;   /* data signature */
};

struct pvmtaskinfo {
    int ti_tid;     /* task */
    int ti_ptid;    /* its parent, or 0 */
    int ti_host;    /* tid of its daemon */
    int ti_flag;    /* status bits */
    char *ti_a_out; /* program name */
    int ti_pid;     /* process id */
};

struct pvmminfo {
    int len; /* bytes of body */
    int ctx; /* context */
    int tag; /* tag */
    int wid; /* wait id */
    int enc; /* encoding */
    int crc; /* checksum */
    int src; /* sender */
    int dst; /* destination */
};

struct pvmmboxinfo {
    char *mi_name;   /* class */
    int mi_nentries; /* entries in the class */
    int *mi_indices; /* their indices */
    int *mi_owners;  /* their owners' tids */
    int *mi_flags;   /* their flags */
};

#ifdef NOTMPNAM
#define PVMTMPNAMFUN(x) pvmtmpnam(x)
#define PVMTMPNAMLEN    128
#else
#define PVMTMPNAMFUN(x) tmpnam(x)
#ifdef L_tmpnam /* <stdio.h> was included before */
#define PVMTMPNAMLEN L_tmpnam
#else
#define PVMTMPNAMLEN 128
#endif
#endif

/* ---- old sources declare their own functions with this: int f __ProtoGlarp__((int, char *)); ---- */
#undef __ProtoGlarp__
#if defined(__STDC__) || defined(__cplusplus)
#define __ProtoGlarp__(x) x
#else
#define __ProtoGlarp__(x) ()
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern int pvm_errno;       /* code of the last error */
extern int pvm_nerr;        /* number of texts in pvm_errlist */
extern char *pvm_errlist[]; /* texts, indexed by the negated code */

/* ---- process control ---- */
int pvm_mytid(void);
int pvm_exit(void);
int pvm_parent(void);
int pvm_halt(void);
char *pvm_version(void);
int pvm_start_pvmd(int argc, char **argv, int block);
int pvm_spawn(char *file, char **argv, int flags, char *where, int count, int *tids);
int pvm_kill(int tid);
int pvm_sendsig(int tid, int signum);
int pvm_siblings(int **tids);

/* ---- information ---- */
int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hosts);
int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **tasks);
int pvm_pstat(int tid);
int pvm_mstat(char *host);
int pvm_tidtohost(int tid);
int pvm_archcode(char *arch);
int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta);
int pvm_tickle(int narg, int *argp, int *nresp, int *resp);

/* ---- hosts ---- */
int pvm_addhosts(char **names, int count, int *status);
int pvm_delhosts(char **names, int count, int *status);

/* ---- options and errors ---- */
int pvm_setopt(int what, int val);
int pvm_getopt(int what);
int pvm_export(char *name);
int pvm_unexport(char *name);
int pvm_perror(char *msg);
char *pvm_strerror(void);

/* ---- message buffers ---- */
int pvm_initsend(int encoding);
int pvm_mkbuf(int encoding);
int pvm_freebuf(int mid);
int pvm_getsbuf(void);
int pvm_setsbuf(int mid);
int pvm_getrbuf(void);
int pvm_setrbuf(int mid);
int pvm_bufinfo(int mid, int *len, int *tag, int *tid);
int pvm_getminfo(int mid, struct pvmminfo *info);
int pvm_setminfo(int mid, struct pvmminfo *info);

/* ---- packing: n items, one every stride ---- */
int pvm_packf(const char *format, ...);
int pvm_pkbyte(char *data, int n, int stride);
int pvm_pkcplx(float *data, int n, int stride);
int pvm_pkdcplx(double *data, int n, int stride);
int pvm_pkdouble(double *data, int n, int stride);
int pvm_pkfloat(float *data, int n, int stride);
int pvm_pkint(int *data, int n, int stride);
int pvm_pklong(long *data, int n, int stride);
int pvm_pkshort(short *data, int n, int stride);
int pvm_pkuint(unsigned int *data, int n, int stride);
int pvm_pkulong(unsigned long *data, int n, int stride);
int pvm_pkushort(unsigned short *data, int n, int stride);
int pvm_pkstr(char *text);
int pvm_pkmesg(int mid);
int pvm_pkmesgbody(int mid);

/* ---- unpacking ---- */
int pvm_unpackf(const char *format, ...);
int pvm_upkbyte(char *data, int n, int stride);
int pvm_upkcplx(float *data, int n, int stride);
int pvm_upkdcplx(double *data, int n, int stride);
int pvm_upkdouble(double *data, int n, int stride);
int pvm_upkfloat(float *data, int n, int stride);
int pvm_upkint(int *data, int n, int stride);
int pvm_upklong(long *data, int n, int stride);
int pvm_upkshort(short *data, int n, int stride);
int pvm_upkuint(unsigned int *data, int n, int stride);
int pvm_upkulong(unsigned long *data, int n, int stride);
int pvm_upkushort(unsigned short *data, int n, int stride);
int pvm_upkstr(char *text);
int pvm_upkmesg(void);

/* ---- sending and receiving ---- */
int pvm_send(int tid, int tag);
int pvm_mcast(int *tids, int count, int tag);
int pvm_psend(int tid, int tag, void *data, int n, int type);
int pvm_recv(int tid, int tag);
int pvm_nrecv(int tid, int tag);
int pvm_trecv(int tid, int tag, struct timeval *timeout);
int pvm_probe(int tid, int tag);
int pvm_precv(int tid, int tag, void *data, int n, int type, int *rtid, int *rtag, int *rlen);
int pvm_tprecv(int tid, int tag, struct timeval *timeout, void *data, int n, int type, int *rtid, int *rtag,
               int *rlen); /* dpvm's extension: pvm_precv() with a time limit */
int (*pvm_recvf(int (*match)(int mid, int tid, int tag)))(int mid, int tid, int tag);
int pvm_getfds(int **fds);

/* ---- contexts and message handlers ---- */
int pvm_newcontext(void);
int pvm_freecontext(int ctx);
int pvm_getcontext(void);
int pvm_setcontext(int ctx);
int pvm_addmhf(int src, int tag, int ctx, int (*handler)(int mid));
int pvm_delmhf(int mhid);

/* ---- events ---- */
int pvm_notify(int what, int tag, int count, int *tids);

/* ---- mailbox ---- */
int pvm_putinfo(char *name, int mid, int flags);
int pvm_recvinfo(char *name, int index, int flags);
int pvm_delinfo(char *name, int index, int flags);
int pvm_getmboxinfo(char *pattern, int *nclasses, struct pvmmboxinfo **info);
int pvm_getnoresets(int **tids, int *n);
int pvm_insert(char *name, int req, int data);
int pvm_lookup(char *name, int req, int *data);
int pvm_delete(char *name, int req);

/* ---- system tasks ---- */
int pvm_reg_rm(struct pvmhostinfo **hosts);
int pvm_reg_hoster(void);
int pvm_reg_tasker(void);
int pvm_reg_tracer(int tctx, int ttag, int octx, int otag, char *tmask, int tbuf, int topt);

/* ---- groups (libgpvm3) ---- */
int pvm_joingroup(char *group);
int pvm_lvgroup(char *group);
int pvm_gsize(char *group);
int pvm_gettid(char *group, int inst);
int pvm_getinst(char *group, int tid);
int pvm_barrier(char *group, int count);
int pvm_bcast(char *group, int tag);
int pvm_freezegroup(char *group, int size);
int pvm_reduce(void (*func)(int *type, void *x, void *y, int *n, int *info), void *data, int n, int type, int tag,
               char *group, int root);
int pvm_scatter(void *result, void *data, int n, int type, int tag, char *group, int root);
int pvm_gather(void *result, void *data, int n, int type, int tag, char *group, int root);
void PvmMax(int *type, void *x, void *y, int *n, int *info);
void PvmMin(int *type, void *x, void *y, int *n, int *info);
void PvmSum(int *type, void *x, void *y, int *n, int *info);
void PvmProduct(int *type, void *x, void *y, int *n, int *info);

/* ---- miscellaneous ---- */
char *pvmtmpnam(char *name);
char *pvmgetrsh(void);
char *pvmgettmp(void);

#if defined(EOF)
int pvm_catchout(FILE *file); /* include <stdio.h> before this header to see it */
#endif

#ifdef __cplusplus
}
#endif

#endif
