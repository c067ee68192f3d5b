/*
 * hoster - a task that starts daemons instead of the master: on 127.0.0.2, through a shell; correct answers and wrong
 * ones.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"
#include "pvmproto.h"

enum { TAG_READY = 1, TAG_MODE, TAG_TRACER };

enum mode { GOOD, PLAIN, TWICE, FAIL, JUNK, OTHER_HOST, NO_HOST, MALFORMED, FORGED, SILENT, DIE };

/* ---- the hoster ---- */

/* The first line that the host's command prints. */
static void run(const char *command, char *line, size_t size)
{
    FILE *f = popen(command, "r");
    CHECK(f && fgets(line, (int)size, f));
    line[strcspn(line, "\n")] = '\0';
    pclose(f); /* the daemon must close it, or this never ends */
}

static void result_for(enum mode mode, const char *command, char *line, size_t size)
{
    if (mode == GOOD || mode == PLAIN || mode == TWICE)
        run(command, line, size);
    else if (mode == FORGED) /* a listener without the key */
        snprintf(line, size, "ddpro<6> arch<LINUX64> dsig<0x00408c41> port<9> ssh<> ip<127.0.0.1:9> key<%064d>", 7);
    else
        snprintf(line, size, "%s", mode == JUNK ? "Welcome to this host! ddpro<" : "PvmDupHost");
}

static void pack(int host, const char *line)
{
    CHECK_EQ(pvm_pkint(&host, 1, 1), 0);
    CHECK_EQ(pvm_pkstr((char *)line), 0);
}

static void answer(enum mode mode, int wait_id, int daemon, int host, const char *line)
{
    struct pvmminfo header;
    int count = mode == NO_HOST ? 0 : mode == MALFORMED ? 3 : 1;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    if (mode != PLAIN) /* PVM 3.4's man page has no count */
        CHECK_EQ(pvm_pkint(&count, 1, 1), 0);
    if (mode != NO_HOST)
        pack(mode == OTHER_HOST ? host + 0x40000 : host, line);
    CHECK_EQ(pvm_getminfo(pvm_getsbuf(), &header), 0);
    header.wid = wait_id;
    CHECK_EQ(pvm_setminfo(pvm_getsbuf(), &header), 0);
    CHECK_EQ(pvm_send(daemon, SM_STHOSTACK), 0);
    if (mode == TWICE)
        CHECK_EQ(pvm_send(daemon, SM_STHOSTACK), 0);
}

static void do_host(enum mode mode)
{
    char options[64], login[256], command[4096], other[256], vmid[256], line[8192];
    struct pvmminfo header;
    int n, host;
    pvm_getminfo(check_receive(-1, SM_STHOST), &header);
    CHECK(header.wid != 0);
    CHECK_EQ(header.ctx, PvmBaseContext);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(pvm_upkint(&host, 1, 1), 0);
    CHECK_EQ(pvm_upkstr(options), 0);
    CHECK_EQ(pvm_upkstr(login), 0);
    CHECK_EQ(pvm_upkstr(command), 0);
    CHECK_EQ(pvm_upkstr(other), 0);
    CHECK_EQ(pvm_upkstr(vmid), 0);
    CHECK_TEXT(login, "somebody@127.0.0.2");
    if (mode == DIE)
        raise(SIGKILL);
    if (mode == SILENT)
        return;
    result_for(mode, command, line, sizeof line);
    answer(mode, header.wid, header.src, host, line);
}

static void hoster(int argc, char **argv)
{
    (void)argc, (void)argv;
    int master = pvm_parent(), mode;
    pvm_setopt(PvmResvTids, 1);
    CHECK_EQ(pvm_reg_hoster(), 0);
    check_send_int(master, TAG_READY, 0);
    while ((mode = check_receive_int(master, TAG_MODE)) >= 0)
        do_host(mode);
    CHECK_EQ(pvm_reg_hoster(), 0);
}

/* ---- on another host ---- */

static void elsewhere(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_READY, pvm_reg_hoster());
    check_send_int(pvm_parent(), TAG_TRACER, pvm_reg_tracer(1, 2, 3, 4, NULL, 0, PvmTraceFull));
}

/* ---- the master ---- */

static int start_hoster(void)
{
    int tid;
    check_spawn("hoster", NULL, NULL, 1, &tid);
    check_receive_int(tid, TAG_READY);
    return tid;
}

static int add(int hoster, int mode)
{
    char *name = "127.0.0.2 lo=somebody";
    int status = 0;
    if (hoster)
        check_send_int(hoster, TAG_MODE, mode);
    int added = pvm_addhosts(&name, 1, &status);
    CHECK_EQ(added, status > 0);
    return status;
}

static void remove_host(void)
{
    char *name = "127.0.0.2";
    int status;
    CHECK_EQ(pvm_delhosts(&name, 1, &status), 1);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int hoster = start_hoster(), tid;
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_reg_hoster(), PvmAlready);
    CHECK_EQ(add(hoster, FAIL), PvmDupHost);
    CHECK_EQ(add(hoster, JUNK), PvmCantStart);
    CHECK_EQ(add(hoster, OTHER_HOST), PvmDSysErr);
    CHECK_EQ(add(hoster, NO_HOST), PvmDSysErr);
    CHECK_EQ(add(hoster, MALFORMED), PvmDupHost); /* the readable part counts */
    CHECK_EQ(add(hoster, FORGED), PvmCantStart);
    CHECK_EQ(add(hoster, SILENT), PvmCantStart); /* PVM_START_TIMEOUT */
    CHECK(add(hoster, GOOD) > 0);
    CHECK_EQ(pvm_reg_tracer(1, 2, 3, 4, NULL, 0, PvmTraceFull), 0);
    check_spawn("elsewhere", NULL, "127.0.0.2", 1, &tid);
    CHECK_EQ(check_receive_int(tid, TAG_READY), PvmHostrNMstr);
    CHECK_EQ(check_receive_int(tid, TAG_TRACER), PvmAlready); /* the machine has only one */
    CHECK_EQ(pvm_reg_tracer(1, 2, 3, 4, NULL, 0, PvmTraceFull), 0);
    check_wait_exit(1, &tid);
    remove_host();
    CHECK(add(hoster, PLAIN) > 0);
    remove_host();
    CHECK(add(hoster, TWICE) > 0);
    remove_host();
    CHECK(add(hoster, DIE) > 0); /* the daemon itself continues */
    remove_host();
    check_wait_exit(1, &hoster);
    CHECK(add(0, 0) > 0);
    remove_host();
    hoster = start_hoster();
    check_send_int(hoster, TAG_MODE, -1);
    check_wait_exit(1, &hoster);
    CHECK(add(0, 0) > 0);
}

static const struct check_role roles[] = {{"hoster", hoster}, {"elsewhere", elsewhere}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
