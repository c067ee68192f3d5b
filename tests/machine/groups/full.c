/*
 * full - the mailbox has no room for the record of a group: the group works, but does not survive its server.
 */
#include <signal.h>
#include "team.h"

enum { FILLERS = 5 }; /* one more than a full mailbox needs */

extern int gs_getgstid(void);

static const char complaint[] = "the mailbox cannot take group \"full\"";

/* Puts entries until there is no room, keeps them until told, and ends. */
static void filler(int argc, char **argv)
{
    int number = team_argument(argc, argv), n = 0, code = 0;
    char name[32];

    pvm_setopt(PvmAutoErr, 0);
    int mid = pvm_initsend(PvmDataDefault);
    for (; code >= 0; n++) {
        snprintf(name, sizeof name, "full%d.%d", number, n);
        code = pvm_putinfo(name, mid, PvmMboxDefault);
    }
    CHECK_EQ(code, PvmOutOfRes);
    check_send_int(pvm_parent(), TAG_TEAM_NOTE, n);
    check_receive_int(pvm_parent(), TAG_TEAM_GO);
    team_done();
}

static int count_records(void)
{
    struct pvmmboxinfo *classes;
    int n = 0;

    CHECK_EQ(pvm_getmboxinfo("pvmgs:*", &n, &classes), 0);
    return n;
}

static void kill_server(void)
{
    int server = gs_getgstid();

    CHECK(server > 0);
    CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
    check_wait_exit(1, &server);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct team fillers[FILLERS];

    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_joingroup("before"), 0);
    for (int i = 0; i < FILLERS; i++) {
        team_start(&fillers[i], "filler", i, 1, 1);
        check_receive_int(fillers[i].tids[0], TAG_TEAM_NOTE);
    }
    CHECK_EQ(pvm_joingroup("full"), 0);
    CHECK_EQ(pvm_gsize("full"), 1);
    CHECK_EQ(pvm_barrier("full", 1), 0);
    CHECK_EQ(count_records(), 1);
    for (int i = 0; i < check_limit_s() * 100 && !check_log_lines(complaint); i++)
        check_sleep_ms(10);
    CHECK_EQ(check_log_lines(complaint), 1);
    for (int i = 0; i < FILLERS; i++) {
        check_send_int(fillers[i].tids[0], TAG_TEAM_GO, 1);
        team_finish(&fillers[i]);
    }
    kill_server();
    CHECK_EQ(pvm_gsize("before"), 1);
    CHECK_EQ(pvm_barrier("full", 1), PvmNoGroup);
    CHECK_EQ(pvm_joingroup("full"), 0);
    kill_server();
    CHECK_EQ(pvm_gsize("full"), 1);
    CHECK_EQ(pvm_lvgroup("full"), 0);
    CHECK_EQ(pvm_lvgroup("before"), 0);
    CHECK_EQ(count_records(), 0);
}

static const struct check_role roles[] = {{"filler", filler}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
