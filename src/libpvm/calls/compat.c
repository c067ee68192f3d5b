/* compat.c - functions that PVM does not declare and that programs and bindings use nevertheless. */
#include "libpvm/base/compat.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "pvmproto.h"
#include "core/config.h"
#include "core/error.h"
#include "core/message/proto.h"
#include "libpvm/base/call.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/request.h"
#include "enrol.h"

int pvmbeatask(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmc_error_public(pvmi_task_need());
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

int pvmendtask(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_task.state == PVMI_TASK_OUT ? PvmOk : pvmc_error_public(pvmi_enrol_leave(false));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

int pvmsettaskname(char *name)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = !name ? PvmBadParam : pvmi_task.tid ? PvmExists : pvmi_enrol_set_name(name);
    rc = pvmi_return("pvmsettaskname", rc);
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

/* ---- text and environment ---- */

int pvmstrtoi(char *text)
{
    return text ? (int)strtol(text, NULL, 0) : 0;
}

int pvmputenv(char *text)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    char *name = equals ? strndup(text, equals - text) : NULL;
    int rc = name ? setenv(name, equals + 1, 1) : -1;
    free(name);
    return rc;
}

char *pvmgettmp(void)
{
    return (char *)pvmc_config_text(PVMC_SETTING_TMP);
}

char *pvmgetrsh(void)
{
    const char *set = pvmc_config_text(PVMC_SETTING_RSH);
    return *set ? (char *)set : "ssh";
}

/* A name in the daemon's folder that no file has now. The caller must create the file with O_EXCL. */
char *pvmtmpnam(char *name)
{
    static char own[PVMI_TMPNAM_BYTES];
    static unsigned count;
    char *to = name ? name : own;
    struct stat about;
    do
        snprintf(to, PVMI_TMPNAM_BYTES, "%.*s/pvmt%06d.%u", PVMI_TMPNAM_BYTES - 32, pvmgettmp(), (int)getpid(),
                 count++);
    while (!lstat(to, &about));
    return to;
}

/* ---- hosters and taskers ---- */

int pvmbailout(int code)
{
    (void)code;
    return 0;
}

/* On stdout, as PVM does. */
void pvmchkuid(int uid)
{
    if (uid || pvmc_config_bool(PVMC_SETTING_ALLOW_ROOT))
        return;
    printf("This program is not meant to run as root: what it starts would run as root, too. Start it as an ordinary "
           "user, or set PVM_ALLOW_ROOT=1 if you mean it.\n");
    exit(EXIT_FAILURE);
}

/* ---- time ---- */

int pvmgetclock(struct timeval *now)
{
    return gettimeofday(now, NULL);
}

int pvmsleep(int seconds)
{
    return seconds > 0 ? (int)sleep((unsigned)seconds) : 0;
}

/* ---- lines on stderr ---- */

int pvmlogerror(char *text)
{
    fprintf(stderr, "libpvm [%s]: %s", pvmi_identity(), text ? text : "");
    return 0;
}

int pvmlogperror(char *text)
{
    int error = errno;
    fprintf(stderr, "libpvm [%s] %s: %s\n", pvmi_identity(), text ? text : "(null)", strerror(error));
    errno = error;
    return 0;
}

int pvmlogprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "libpvm [%s] ", pvmi_identity());
    int count = vfprintf(stderr, format, args);
    va_end(args);
    return count;
}

int i_dump(int how)
{
    (void)how;
    return fprintf(stderr, "libpvm [%s]: i_dump() %zu bytes total\n", pvmi_identity(), mallinfo2().uordblks);
}

/* ---- names of system messages ---- */

#define NAME(tag)                                                                                                      \
    {                                                                                                                  \
        tag, #tag                                                                                                      \
    }

static const struct {
    int tag;
    const char *name;
} tag_names[] = {
    NAME(TM_CONNECT),     NAME(TM_CONN2),     NAME(TM_EXIT),      NAME(TM_ADDHOST),   NAME(TM_DELHOST),
    NAME(TM_CONFIG),      NAME(TM_MSTAT),     NAME(TM_HALT),      NAME(TM_TICKLE),    NAME(TM_SPAWN),
    NAME(TM_PSTAT),       NAME(TM_SENDSIG),   NAME(TM_TASK),      NAME(TM_MCA),       NAME(TM_NOTIFY),
    NAME(TM_DB),          NAME(TM_SCHED),     NAME(TM_TASKER),    NAME(TM_HOSTER),    NAME(TM_TRACER),
    NAME(TM_HOSTSYNC),    NAME(TM_SETOPT),    NAME(TM_GETOPT),    NAME(TM_CONTEXT),   NAME(TM_SHMCONN),
    NAME(TC_CONREQ),      NAME(TC_CONACK),    NAME(TC_TASKEXIT),  NAME(TC_NOOP),      NAME(TC_OUTPUT),
    NAME(TC_SETTRACE),    NAME(TC_SETTMASK),  NAME(TC_SETTRCBUF), NAME(TC_SETTRCOPT), NAME(TC_SHMAT),
    NAME(TC_OUTPUTX),     NAME(TC_SIBLINGS),  NAME(DM_ADD),       NAME(DM_ADDACK),    NAME(DM_EXEC),
    NAME(DM_EXECACK),     NAME(DM_SENDSIG),   NAME(DM_HTUPD),     NAME(DM_HTUPDACK),  NAME(DM_HTCOMMIT),
    NAME(DM_SLCONF),      NAME(DM_STARTACK),  NAME(DM_TASK),      NAME(DM_TASKACK),   NAME(DM_DELHOST),
    NAME(DM_DELHOSTACK),  NAME(DM_NULL),      NAME(DM_TASKOUT),   NAME(DM_PSTAT),     NAME(DM_PSTATACK),
    NAME(DM_HALT),        NAME(DM_MCA),       NAME(DM_NOTIFY),    NAME(DM_NOTIFYACK), NAME(DM_DB),
    NAME(DM_DBACK),       NAME(DM_RESET),     NAME(DM_RESETACK),  NAME(DM_HTDEL),     NAME(DM_HOSTSYNC),
    NAME(DM_HOSTSYNCACK), NAME(SM_SPAWN),     NAME(SM_EXEC),      NAME(SM_EXECACK),   NAME(SM_TASK),
    NAME(SM_CONFIG),      NAME(SM_ADDHOST),   NAME(SM_DELHOST),   NAME(SM_ADD),       NAME(SM_ADDACK),
    NAME(SM_NOTIFY),      NAME(SM_TASKX),     NAME(SM_HOSTX),     NAME(SM_HANDOFF),   NAME(SM_SCHED),
    NAME(SM_STHOST),      NAME(SM_STHOSTACK), NAME(SM_STTASK),
};

char *pvmnametag(int tag, int *found)
{
    static char number[16];
    for (unsigned i = 0; i < sizeof tag_names / sizeof tag_names[0]; i++)
        if (tag_names[i].tag == tag) {
            if (found)
                *found = 1;
            return (char *)tag_names[i].name;
        }
    if (found)
        *found = 0;
    snprintf(number, sizeof number, "%d", tag);
    return number;
}

/* ---- pvmreset ---- */

static bool is_in(int tid, const int *tids, int count)
{
    for (int i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static int kill_all_but(const int *spared, int count)
{
    struct pvmtaskinfo *tasks;
    int n, rc = pvm_tasks(0, &n, &tasks);
    for (int i = 0; !rc && i < n; i++)
        if (!is_in(tasks[i].ti_tid, spared, count))
            pvm_kill(tasks[i].ti_tid);
    return rc;
}

static int clean_mailbox(const int *spared, int count, const char *name, int index)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u8(&body, PVMC_MAILBOX_RESET);
    pvmc_buf_put_u32(&body, (uint32_t)count);
    for (int i = 0; i < count; i++)
        pvmc_buf_put_u32(&body, (uint32_t)spared[i]);
    pvmc_buf_put_string(&body, name ? name : "");
    pvmc_buf_put_i32(&body, index);
    int rc = pvmi_request(PVMC_TM_MAILBOX, &body, NULL);
    return rc < 0 ? rc : 0;
}

static int reset(int tid, bool kill_tasks, const char *name, int index)
{
    int *no_resets, n;
    int rc = pvm_getnoresets(&no_resets, &n);
    int *spared = rc ? NULL : malloc((n + 1) * sizeof *spared);
    if (!rc && !spared)
        rc = PvmNoMem;
    if (!rc) {
        if (n)
            memcpy(spared, no_resets, n * sizeof *spared);
        spared[n] = tid;
        rc = kill_tasks ? kill_all_but(spared, n + 1) : 0;
    }
    if (!rc)
        rc = clean_mailbox(spared, n + 1, name, index);
    free(spared);
    return rc;
}

int pvmreset(int tid, int kill_tasks, char *name, int index)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvmreset", reset(tid, kill_tasks, name, index));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
