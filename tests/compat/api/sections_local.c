/* sections_local.c - enrolment, options, buffers, errors: calls that the library answers itself. */
#include <errno.h>
#include <sys/wait.h>
#include "probe.h"

static void before_enrolment(void)
{
    probe_quiet();
    CALL(pvm_getsbuf());
    CALL(pvm_getrbuf());
    CALL(pvm_getcontext());
    for (int what = 1; what <= 27; what++)
        FACT("option %d = %d", what, pvm_getopt(what));
    CALL(pvm_pkint(&(int){1}, 1, 1));
    ID(pvm_initsend(PvmDataRaw));
    CALL(pvm_pkint(&(int){1}, 1, 1));
    ID(pvm_mkbuf(PvmDataDefault));
    CALL(pvm_setopt(PvmShowTids, 0));
    CALL(strcmp(pvm_version(), "3.4.6"));
    CALL(pvm_errno);
    FACT("%s", pvm_strerror());
}

static void identity(void)
{
    int me, again, *siblings;

    probe_quiet();
    ID(me = pvm_mytid());
    CALL(pvm_mytid() == me);
    CALL(pvm_parent());
    CALL(pvm_tidtohost(me) == (me & 0x3ffc0000));
    CALL(pvm_tidtohost(-1));
    CALL(pvm_tidtohost(0));
    CALL(pvm_siblings(&siblings));
    FACT("sibling 0 is %s", probe_name(siblings[0]));
    CALL(pvm_exit());
    ID(again = pvm_mytid());
    CALL(again != me);
    CALL(pvm_parent());
    CALL(pvm_siblings(&siblings));
    CALL(siblings[0] == again);
    CALL(pvm_exit());
    CALL(pvm_exit());
}

static void options(void)
{
    static const int value_table[][2] = {
        {PvmRoute, PvmDontRoute},
        {PvmRoute, PvmRouteDirect},
        {PvmRoute, PvmAllowDirect},
        {PvmRoute, 0},
        {PvmRoute, 4},
        {PvmRoute, 9},
        {PvmRoute, -1},
        {PvmDebugMask, 0},
        {PvmAutoErr, 1},
        {PvmAutoErr, 0},
        {PvmAutoErr, -1},
        {PvmAutoErr, 4},
        {PvmAutoErr, 0},
        {PvmFragSize, 10},
        {PvmFragSize, 51},
        {PvmFragSize, 52},
        {PvmFragSize, 1048576},
        {PvmFragSize, 1048577},
        {PvmFragSize, 4080},
        {PvmResvTids, 1},
        {PvmResvTids, 0},
        {PvmShowTids, 0},
        {PvmShowTids, 1},
        {PvmPollType, PvmPollConstant},
        {PvmPollType, PvmPollSleep},
        {PvmPollTime, 10},
        {PvmOutputTid, 0},
        {PvmOutputTid, 12345},
        {PvmOutputCode, 77},
        {PvmOutputCode, 0},
        {PvmOutputContext, 5},
        {PvmOutputContext, 0},
        {PvmTraceTid, 0},
        {PvmTraceTid, 12345},
        {PvmTraceCode, 78},
        {PvmTraceCode, 0},
        {PvmTraceContext, 6},
        {PvmTraceContext, 0},
        {PvmTraceBuffer, 1000},
        {PvmTraceBuffer, 0},
        {PvmTraceOptions, PvmTraceFull},
        {PvmTraceOptions, PvmTraceTime},
        {PvmTraceOptions, PvmTraceCount},
        {PvmTraceOptions, 7},
        {PvmSelfOutputTid, 12345},
        {PvmSelfOutputTid, 0},
        {PvmSelfOutputCode, 5},
        {PvmSelfOutputContext, 1},
        {PvmSelfTraceContext, 1},
        {PvmSelfTraceCode, 6},
        {PvmSelfTraceBuffer, 100},
        {PvmSelfTraceBuffer, 0},
        {PvmSelfTraceOptions, 9},
        {PvmNoReset, 1},
        {PvmNoReset, 0},
        {0, 1},
        {26, 1},
        {99, 1},
        {-1, 1},
    };

    probe_quiet();
    pvm_mytid();
    for (int what = 1; what <= 27; what++)
        FACT("option %d = %d", what, pvm_getopt(what));
    for (size_t i = 0; i < sizeof value_table / sizeof *value_table; i++) {
        int what = value_table[i][0], value = value_table[i][1];
        int old = pvm_setopt(what, value);
        FACT("setopt(%d, %d) = %d, then %d", what, value, old, pvm_getopt(what));
    }
    CALL(pvm_getopt(0));
    CALL(pvm_getopt(-1));
    CALL(pvm_setopt(PvmOutputTid, pvm_mytid()));
    CALL(pvm_getopt(PvmOutputTid) == pvm_mytid());
    pvm_exit();
}

/* Which buffer ids are reused, and when. */
static void buffer_numbers(void)
{
    int made[3], sent[3], received, me;

    probe_quiet();
    me = pvm_mytid();
    made[0] = pvm_mkbuf(PvmDataDefault);
    pvm_freebuf(made[0]);
    CALL(pvm_bufinfo(made[0], NULL, NULL, NULL));
    CALL(pvm_mkbuf(PvmDataDefault) == made[0]);
    for (int i = 0; i < 2; i++)
        made[i] = pvm_mkbuf(PvmDataDefault);
    CALL(made[0] != made[1]);
    pvm_freebuf(made[0]);
    pvm_freebuf(made[1]);
    made[2] = pvm_mkbuf(PvmDataDefault);
    CALL(made[2] == made[1]);
    CALL(made[2] == made[0]);
    for (int i = 0; i < 3; i++)
        sent[i] = pvm_initsend(PvmDataDefault);
    CALL(sent[0] == sent[1]);
    CALL(sent[0] == sent[2]);
    CALL(pvm_bufinfo(sent[1], NULL, NULL, NULL));
    pvm_send(me, 5);
    received = pvm_recv(me, 5);
    CALL(received == sent[2]);
    CALL(pvm_nrecv(me, 5)); /* frees the old one */
    CALL(pvm_bufinfo(received, NULL, NULL, NULL));
}

static void buffers(void)
{
    int first, second;

    probe_quiet();
    pvm_mytid();
    CALL(pvm_send(pvm_mytid(), 1));
    CALL(pvm_pkint(&(int){1}, 1, 1));
    CALL(pvm_upkint(&(int){1}, 1, 1));
    CALL(pvm_initsend(3));
    CALL(pvm_initsend(-1));
    CALL(pvm_initsend(5));
    CALL(pvm_mkbuf(3));
    CALL(pvm_mkbuf(-1));
    ID(first = pvm_initsend(PvmDataDefault));
    CALL(pvm_getsbuf() == first);
    ID(pvm_mkbuf(PvmDataRaw));
    ID(pvm_mkbuf(PvmDataInPlace));
    ID(pvm_mkbuf(PvmDataTrace));
    ID(second = pvm_mkbuf(PvmDataFoo));
    CALL(pvm_getsbuf() == first);
    CALL(pvm_setsbuf(second) == first);
    CALL(pvm_getsbuf() == second);
    CALL(pvm_setsbuf(0) == second);
    CALL(pvm_getsbuf());
    CALL(pvm_setsbuf(99999));
    CALL(pvm_setsbuf(-2));
    CALL(pvm_setrbuf(0));
    CALL(pvm_setrbuf(99999));
    CALL(pvm_setrbuf(-2));
    CALL(pvm_setrbuf(first));
    CALL(pvm_getrbuf() == first);
    CALL(pvm_setrbuf(0) == first);
    CALL(pvm_freebuf(first));
    CALL(pvm_freebuf(first));
    CALL(pvm_freebuf(0));
    CALL(pvm_freebuf(-1));
    CALL(pvm_freebuf(99999));
    CALL(pvm_bufinfo(0, NULL, NULL, NULL));
    CALL(pvm_bufinfo(-1, NULL, NULL, NULL));
    CALL(pvm_bufinfo(99999, NULL, NULL, NULL));
    CALL(pvm_bufinfo(second, NULL, NULL, NULL));
    CALL(pvm_setsbuf(second));
    CALL(pvm_freebuf(second)); /* the active one */
    CALL(pvm_getsbuf());
    CALL(pvm_pkint(&(int){1}, 1, 1));
    pvm_exit();
}

static void show_minfo(int mid)
{
    struct pvmminfo i;

    if (CALL(pvm_getminfo(mid, &i)) == 0)
        FACT("len=%d ctx=%d tag=%d wid=%d enc=0x%x crc=%d from %s to %s", i.len, i.ctx, i.tag, i.wid, i.enc, i.crc,
             probe_name(i.src), probe_name(i.dst));
}

static void message_info(void)
{
    struct pvmminfo i;
    int mid, bytes, tag, tid;

    probe_quiet();
    pvm_mytid();
    CALL(pvm_getminfo(0, &i));
    CALL(pvm_getminfo(99999, &i));
    CALL(pvm_getminfo(-1, &i));
    for (int encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++) {
        mid = pvm_initsend(encoding);
        pvm_pkint((int[]){1, 2}, 2, 1);
        show_minfo(mid);
        pvm_send(pvm_mytid(), 7);
        show_minfo(pvm_recv(-1, 7));
    }
    mid = pvm_initsend(PvmDataDefault);
    pvm_getminfo(mid, &i);
    i.ctx = 3, i.tag = 4, i.wid = 5, i.crc = 6, i.len = 100, i.enc = 1, i.src = 7, i.dst = 8;
    CALL(pvm_setminfo(mid, &i));
    show_minfo(mid);
    CALL(pvm_setminfo(0, &i));
    CALL(pvm_setminfo(99999, &i));
    pvm_send(pvm_mytid(), 9);
    show_minfo(pvm_recv(-1, 9));
    CALL(pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid));
    FACT("bytes=%d tag=%d from %s", bytes, tag, probe_name(tid));
    pvm_exit();
}

static void errors(void)
{
    pvm_mytid();
    FACT("%d texts", pvm_nerr);
    for (int i = 0; i < pvm_nerr; i++)
        FACT("%d %s", i, pvm_errlist[i]);
    fflush(stdout);
    CALL(pvm_initsend(9)); /* AutoErr 1: a line on stderr */
    CALL(pvm_errno);
    CALL(pvm_perror("my words"));
    CALL(pvm_perror(""));
    CALL(pvm_perror(NULL));
    FACT("%s", pvm_strerror());
    CALL(lpvmerr("my_function", PvmNoHost));
    CALL(pvm_errno);
    CALL(pvm_mytid() > 0);
    FACT("%s", pvm_strerror());
    pvm_setopt(PvmAutoErr, 0);
    CALL(pvm_initsend(9));
    CALL(pvm_setopt(PvmAutoErr, 2));
    pvm_freebuf(99999);
    FACT("not reached: AutoErr 2 ends the program");
}

static void errors_abort(void)
{
    pvm_mytid();
    CALL(pvm_setopt(PvmAutoErr, 3));
    pvm_freebuf(99999);
    FACT("not reached: AutoErr 3 aborts the program");
}

/*
 * pvmchkuid() may end the program, so it runs in a child. Both libraries print on stdout in the same cases, with texts
 * of their own.
 */
static void check_user(int uid, const char *allowed)
{
    char words[8192];
    int ends[2], status;
    size_t length = 0;
    ssize_t n;
    if (allowed)
        setenv("PVM_ALLOW_ROOT", allowed, 1);
    else
        unsetenv("PVM_ALLOW_ROOT");
    fflush(NULL);
    if (pipe(ends))
        exit(1);
    if (fork() == 0) {
        dup2(ends[1], STDOUT_FILENO);
        pvmchkuid(uid);
        _exit(77);
    }
    close(ends[1]);
    while ((n = read(ends[0], words, sizeof words)) > 0)
        length += (size_t)n;
    close(ends[0]);
    wait(&status);
    FACT("user %d, PVM_ALLOW_ROOT=%s: exit code %d, %s", uid, allowed ? allowed : "(not set)", WEXITSTATUS(status),
         length ? "explained" : "silent");
}

/* Calls of old hosters and taskers for their errors. */
static void complaints(void)
{
    static const int errors[] = {0, ENOENT, EACCES, 999};
    for (int i = 0; i < 4; i++) {
        errno = errors[i];
        CALL(pvmlogperror("complaint"));
        CALL(errno);
    }
    errno = ENOENT;
    CALL(pvmlogperror(""));
    CALL(pvmbailout(0));
    CALL(pvmbailout(3));
    check_user(0, NULL);
    check_user(0, "1");
    check_user(1, NULL);
    check_user(-1, NULL);
}

static void helpers(void)
{
    struct timeval now = {0, 0};
    int known;
    char name[PVMTMPNAMLEN] = "";

    probe_quiet();
    CALL(pvmstrtoi("42"));
    CALL(pvmstrtoi("0x2a"));
    CALL(pvmstrtoi("052"));
    CALL(pvmstrtoi("-42"));
    CALL(pvmstrtoi(""));
    CALL(pvmputenv("PROBE_VARIABLE=17"));
    FACT("%s", getenv("PROBE_VARIABLE"));
    pvmgetclock(&now);
    CALL(now.tv_sec > 1000000000);
    CALL(pvm_archcode("LINUX64") == pvm_archcode("LINUX64"));
    CALL(strcmp(pvmgettmp(), getenv("PVM_TMP")));
    FACT("%s", pvmnametag(7, &known));
    FACT("known %d", known);
    FACT("%s", strncmp(pvmtmpnam(name), getenv("PVM_TMP"), strlen(getenv("PVM_TMP"))) ? "elsewhere" : "below PVM_TMP");
    CALL(access(name, F_OK));
    setenv("PVM_EXPORT", "HOME", 1);
    CALL(pvm_export("PATH"));
    FACT("%s", getenv("PVM_EXPORT"));
    CALL(pvm_export("HOME"));
    FACT("%s", getenv("PVM_EXPORT"));
    CALL(pvm_export(""));
    CALL(pvm_unexport("HOME"));
    FACT("%s", getenv("PVM_EXPORT"));
    CALL(pvm_unexport("NEVER"));
    CALL(pvm_unexport("PATH"));
    FACT("%s", getenv("PVM_EXPORT"));
    pvm_mytid();
    complaints();
}

/* Names for "ps", which must be set before the first call. */
static void task_name(void)
{
    struct pvmtaskinfo *info;
    int n;

    probe_quiet();
    CALL(pvmsettaskname("my-name"));
    CALL(pvm_tasks(pvm_mytid(), &n, &info));
    FACT("\"%s\"", info[0].ti_a_out);
    CALL(pvmsettaskname("too-late"));
    CALL(pvmsettaskname(NULL));
    CALL(pvm_tasks(pvm_mytid(), &n, &info));
    FACT("\"%s\"", info[0].ti_a_out);
}

static void export_null(void)
{
    probe_quiet();
    CALL(pvm_export(NULL));
    CALL(pvm_unexport(NULL));
}

const struct probe_section probe_local_table[] = {
    {"before", before_enrolment},
    {"identity", identity},
    {"options", options},
    {"buffers", buffers},
    {"buffer-numbers", buffer_numbers},
    {"minfo", message_info},
    {"errors", errors},
    {"errors-abort", errors_abort},
    {"helpers", helpers},
    {"task-name", task_name},
    {"export-null", export_null},
    {NULL, NULL},
};
