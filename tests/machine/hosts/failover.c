/*
 * failover - the machine goes on when daemons are lost, its master's too, while tasks exchange messages on all hosts;
 * and it ends when no majority is left. PVM_HOST_TIMEOUT=3.
 *
 *   failover killed | stopped      the master of 3, seen from the next one
 *   failover third                 the same as `killed`, seen from the other host
 *   failover two                   of 5: the master, and then the next one
 *   failover both                  of 5: the master and another one at the same instant
 *   failover slaves                of 3: all but the master at the same instant
 *   failover half                  of 4: two, the master among them: the rest ends
 *   failover halt                  of 3: the machine is halted while it has no master
 *   failover steady                of 3: nothing is lost, but the mailbox changes without a pause for long
 */
#include <signal.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"
#include "tests/machine/runner/entry.h"
#include "tests/machine/runner/history.h"

enum {
    HOSTS_MAX = 5,
    TEAM_MAX = 2 * HOSTS_MAX,
    BYTES_MAX = 100000,
    HOST_TIMEOUT_S = 3,
    TAG_TEAM = 1,
    TAG_MESSAGE,
    TAG_STOP,
    TAG_COUNT,
    TAG_DONE,
    TAG_EXIT,
    TAG_HOST,
    TAG_ADDED,
    TAG_READY,
    TAG_VALUE,
    TAG_END
};

/* ---- tasks ---- */

/* Puts entries, and stays. */
static void owner(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(entry_put("mortal", 1, PvmMboxDefault), 0);
    CHECK_EQ(entry_put("heirloom", 2, PvmMboxPersistent), 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    pvm_recv(-1, TAG_END);
}

/* Waits for an entry that nobody puts before its parent does. */
static void waiter(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_send_int(pvm_parent(), TAG_VALUE, entry_get("awaited", 0, PvmMboxWaitForInfo));
}

/* ---- a team, each of which sends numbered messages to all others until it is stopped ---- */

static struct {
    int count, tids[TEAM_MAX];
    int exits[TEAM_MAX];     /* notices of this one's end */
    uint32_t sent[TEAM_MAX]; /* by us to it */
    uint32_t due[TEAM_MAX];  /* by it to us: known when it has stopped */
    int stopped[TEAM_MAX];
    struct history history;
} team;

static int index_of(int tid)
{
    int i = 0;
    while (i < team.count && team.tids[i] != tid)
        i++;
    CHECK(i < team.count);
    return i;
}

static void send_numbered(int i)
{
    static char data[BYTES_MAX];
    static unsigned state = 1;
    int big = check_random(&state) % 50 == 0;
    size_t bytes = HISTORY_BYTES_MIN + check_random(&state) % (big ? BYTES_MAX - HISTORY_BYTES_MIN : 2000);
    history_write(data, bytes, pvm_mytid(), team.tids[i], team.sent[i]++);
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkbyte(data, (int)bytes, 1), 0);
    int rc = pvm_send(team.tids[i], TAG_MESSAGE);
    if (rc == PvmSysErr)
        exit(0); /* our daemon is the one that was killed; if not, the program misses our TAG_DONE */
    CHECK_EQ(rc, 0);
}

static void take_numbered(int mid)
{
    static char data[BYTES_MAX];
    int bytes, tag, from;
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
    CHECK(bytes <= BYTES_MAX);
    CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
    const char *wrong = history_read(&team.history, from, data, (size_t)bytes);
    if (wrong)
        check_failed(__FILE__, __LINE__, "%s", wrong);
}

static void take_exit(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    CHECK_EQ(team.exits[index_of(tid)]++, 0);
    history_death(&team.history, tid);
}

static void tell_counts(void)
{
    for (int i = 0; i < team.count; i++)
        if (team.tids[i] != pvm_mytid())
            check_send_int(team.tids[i], TAG_COUNT, (int)team.sent[i]);
}

static void take_count(int mid)
{
    int bytes, tag, from, count;
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
    CHECK_EQ(pvm_upkint(&count, 1, 1), 0);
    team.due[index_of(from)] = (uint32_t)count;
    team.stopped[index_of(from)]++;
}

/* Handles what has come; returns the number of TAG_STOP. */
static int take_all(int wait_ms)
{
    struct timeval limit = {0, wait_ms * 1000};
    int stops = 0;
    for (int mid = pvm_trecv(-1, -1, &limit); mid > 0; mid = pvm_nrecv(-1, -1)) {
        int bytes, tag, from;
        CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
        if (tag == TAG_MESSAGE)
            take_numbered(mid);
        else if (tag == TAG_EXIT)
            take_exit();
        else if (tag == TAG_COUNT)
            take_count(mid);
        else
            stops += tag == TAG_STOP;
    }
    return stops;
}

static int all_counted(void)
{
    for (int i = 0; i < team.count; i++)
        if (team.tids[i] != pvm_mytid() && !team.stopped[i] && !team.exits[i])
            return 0;
    return 1;
}

static void member(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    pvm_setopt(PvmRoute, strcmp(argv[1], "direct") == 0 ? PvmRouteDirect : PvmDontRoute);
    check_receive(pvm_parent(), TAG_TEAM);
    CHECK_EQ(pvm_upkint(&team.count, 1, 1), 0);
    CHECK_EQ(pvm_upkint(team.tids, team.count, 1), 0);
    history_init(&team.history, pvm_mytid());
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, team.count, team.tids), 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    while (!take_all(1))
        for (int i = 0; i < team.count; i++)
            if (team.tids[i] != pvm_mytid() && !team.exits[i])
                send_numbered(i);
    tell_counts();
    for (double end = check_now() + check_limit_s(); !all_counted();) {
        CHECK(check_now() < end);
        take_all(10);
    }
    for (int i = 0; i < team.count; i++) {
        const char *wrong = history_end(&team.history, team.tids[i], team.exits[i] ? UINT32_MAX : team.due[i]);
        if (wrong && team.tids[i] != pvm_mytid())
            check_failed(__FILE__, __LINE__, "%s", wrong);
    }
    check_send_int(pvm_parent(), TAG_DONE, (int)team.history.messages);
    check_receive(pvm_parent(), TAG_END); /* so that its end cannot be mistaken for a loss */
}

static void start_team(int hosts)
{
    team.count = 2 * hosts;
    for (int h = 0; h < hosts; h++) {
        check_spawn("member", "direct", check_host_name(h), 1, &team.tids[2 * h]);
        check_spawn("member", "daemons", check_host_name(h), 1, &team.tids[2 * h + 1]);
    }
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&team.count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(team.tids, team.count, 1), 0);
    CHECK_EQ(pvm_mcast(team.tids, team.count, TAG_TEAM), 0);
    for (int i = 0; i < team.count; i++)
        check_receive_int(team.tids[i], TAG_READY); /* a resource manager would take, and forget, their pvm_notify */
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, team.count, team.tids), 0);
}

static void stop_team(unsigned lost)
{
    int total = 0;
    for (int i = 0; i < team.count; i++)
        if (!(lost >> i / 2 & 1))
            check_send_int(team.tids[i], TAG_STOP, 0);
    for (int i = 0; i < team.count; i++)
        if (!(lost >> i / 2 & 1)) {
            int messages = check_receive_int(team.tids[i], TAG_DONE);
            CHECK(messages > 0);
            total += messages;
        }
    CHECK_EQ(pvm_nrecv(-1, TAG_EXIT), 0); /* each of the lost ones was reported once */
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    for (int i = 0; i < team.count; i++)
        if (!(lost >> i / 2 & 1))
            check_send_int(team.tids[i], TAG_END, 0);
    for (int i = 0; i < team.count; i++)
        if (!(lost >> i / 2 & 1))
            check_receive_int(-1, TAG_EXIT);
    printf("%d messages, none lost, doubled or out of order\n", total);
}

/* ---- losing daemons ---- */

static struct {
    int count, host_tids[HOSTS_MAX];
    pid_t pids[HOSTS_MAX];
} machine;

/* A machine of which we are a task on host `seat`. */
static void start_machine(int count, int seat)
{
    check_hosts(count);
    if (seat)
        daemons_enrol_at(seat);
    pvm_setopt(PvmAutoErr, 0);
    machine.count = count;
    struct pvmhostinfo *hosts;
    int n;
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    CHECK_EQ(n, count);
    for (int i = 0; i < count; i++) {
        machine.host_tids[i] = hosts[i].hi_tid;
        machine.pids[i] = daemons_pid(i);
    }
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, count, machine.host_tids), 0);
}

static double lose(unsigned lost, int signal)
{
    double start = check_now();
    for (int i = 0; i < machine.count; i++)
        if (lost >> i & 1)
            CHECK(kill(machine.pids[i], signal) == 0);
    return start;
}

static int host_at(int tid)
{
    int i = 0;
    while (i < machine.count && machine.host_tids[i] != tid)
        i++;
    CHECK(i < machine.count);
    return i;
}

/* A notice for each lost host and each of its tasks comes once, HostDelete first. */
static void check_notices(unsigned lost, double start, double limit_s)
{
    int hosts = __builtin_popcount(lost), exits[TEAM_MAX] = {0};
    unsigned told = 0;
    for (int i = 0; i < hosts; i++) {
        int host = host_at(check_receive_int(-1, TAG_HOST));
        CHECK(lost >> host & 1);
        CHECK(!(told >> host & 1));
        told |= 1u << host;
    }
    double took = check_now() - start;
    for (int i = 0; team.count && i < 2 * hosts; i++) {
        int tid = check_receive_int(-1, TAG_EXIT), at = index_of(tid);
        CHECK(lost >> at / 2 & 1);
        CHECK_EQ(exits[at]++, 0);
    }
    printf("HostDelete for %d hosts after %.3f s\n", hosts, took);
    CHECK(took < daemons_patience(limit_s));
    int n;
    struct pvmhostinfo *now;
    CHECK_EQ(pvm_config(&n, NULL, &now), 0);
    CHECK_EQ(n, machine.count - hosts);
    for (int i = 0; i < n; i++)
        CHECK(!(lost >> host_at(now[i].hi_tid) & 1));
}

/* ---- what the master does for tasks ---- */

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_VALUE, check_receive_int(pvm_parent(), TAG_VALUE));
}

static void manager(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmResvTids, 1);
    check_send_int(pvm_parent(), TAG_VALUE, pvm_reg_rm(NULL));
    check_receive_int(pvm_parent(), TAG_END);
}

static void check_mailbox(void)
{
    CHECK_EQ(entry_put("new", 7, PvmMboxDefault), 0);
    CHECK_EQ(entry_get("new", 0, PvmMboxDefault), 7);
    CHECK_EQ(entry_get("new", 0, PvmMboxReadAndDelete), 7);
    CHECK_EQ(entry_get("new", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_put("many", 1, PvmMboxMultiInstance), 0);
    CHECK_EQ(entry_put("many", 2, PvmMboxMultiInstance), 1);
    CHECK_EQ(pvm_delinfo("many", 1, PvmMboxDefault), 1);
    CHECK_EQ(pvm_delinfo("many", 0, PvmMboxDefault), 0);
}

static void check_hosts_and_spawn(int new_host)
{
    char name[64], *names[] = {name};
    int status, tid, host;
    snprintf(name, sizeof name, "127.0.0.%d", new_host + 1);
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_ADDED, -1, NULL), 0);
    CHECK_EQ(pvm_addhosts(names, 1, &status), 1);
    CHECK(check_receive(-1, TAG_ADDED) > 0);
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_ADDED, 0, NULL), 0);
    check_spawn("echo", NULL, name, 1, &tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_ADDED, 1, &tid), 0);
    check_send_int(tid, TAG_VALUE, 5);
    CHECK_EQ(check_receive_int(tid, TAG_VALUE), 5);
    CHECK_EQ(check_receive_int(-1, TAG_ADDED), tid);
    host = status;
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_ADDED, 1, &host), 0);
    CHECK_EQ(pvm_delhosts(names, 1, &status), 1);
    CHECK_EQ(check_receive_int(-1, TAG_ADDED), host);
    CHECK_EQ(pvm_mstat(name), PvmNoHost);
}

static void end_manager(int tid)
{
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_READY, 1, &tid), 0);
    check_send_int(tid, TAG_END, 0);
    check_receive_int(-1, TAG_READY);
}

static void check_manager(void)
{
    int tid;
    check_spawn("manager", NULL, NULL, 1, &tid);
    CHECK_EQ(check_receive_int(tid, TAG_VALUE), 0);
    CHECK_EQ(pvm_reg_rm(NULL), PvmAlready);
    end_manager(tid);
}

static void check_master_works(int new_host)
{
    check_mailbox();
    check_hosts_and_spawn(new_host);
    check_manager();
}

/* What was in the mailbox before, and a call that has waited for an entry since. */
static struct {
    int waiter_tid, manager_tid;
} before;

static void prepare_mailbox(int waiter_host)
{
    int tid;
    check_spawn("owner", NULL, check_host_name(0), 1, &tid);
    check_receive_int(tid, TAG_READY);
    CHECK_EQ(entry_put("ours", 3, PvmMboxDefault), 0);
    CHECK_EQ(entry_put("persistent", 4, PvmMboxPersistent), 0);
    check_spawn("waiter", NULL, check_host_name(waiter_host), 1, &before.waiter_tid);
    check_receive_int(before.waiter_tid, TAG_READY);
    check_sleep_ms(100); /* its call waits; if not yet, it will be asked after the loss: no failure either */
}

/* All other tasks have enrolled before: their calls do not go to it. */
static void prepare_manager(int host)
{
    check_spawn("manager", NULL, check_host_name(host), 1, &before.manager_tid);
    CHECK_EQ(check_receive_int(before.manager_tid, TAG_VALUE), 0);
}

static void check_mailbox_kept(void)
{
    CHECK_EQ(entry_get("mortal", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("heirloom", 0, PvmMboxDefault), 2);
    CHECK_EQ(entry_get("ours", 0, PvmMboxDefault), 3);
    CHECK_EQ(entry_get("persistent", 0, PvmMboxDefault), 4);
    CHECK_EQ(pvm_nrecv(before.waiter_tid, TAG_VALUE), 0);
    CHECK_EQ(entry_put("awaited", 6, PvmMboxDefault), 0);
    CHECK_EQ(check_receive_int(before.waiter_tid, TAG_VALUE), 6);
}

/* The resource manager of before is still the one, and ends. */
static void check_manager_kept(void)
{
    CHECK_EQ(pvm_reg_rm(NULL), PvmAlready);
    end_manager(before.manager_tid);
}

/* The first call that the master must answer. */
static void check_answers_again(double start, double limit_s)
{
    CHECK_EQ(entry_put("first", 9, PvmMboxDefault), 0);
    double took = check_now() - start;
    printf("the mailbox works after %.3f s\n", took);
    CHECK(took < daemons_patience(limit_s));
}

/* ---- cases ---- */

static void end_machine(unsigned killed)
{
    daemons_halt();
    for (int i = 0; i < machine.count; i++)
        if (killed >> i & 1)
            daemons_remove_journal(i);
        else
            CHECK(daemons_wait_end(machine.pids[i]));
}

static void check_killed(int seat)
{
    start_machine(3, seat);
    prepare_mailbox(seat == 1 ? 2 : 1);
    start_team(3);
    prepare_manager(seat == 1 ? 2 : 1);
    check_sleep_ms(500);
    double start = lose(1, SIGKILL);
    check_answers_again(start, 2);
    check_manager_kept();
    check_notices(1, start, 2);
    check_mailbox_kept();
    check_master_works(3);
    stop_team(1);
    end_machine(1);
}

/* The stopped master does not know that it has been replaced when it goes on, but must not answer its own task. */
static void stale_reader(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    for (int value; (value = entry_get("changing", 0, PvmMboxDefault)) >= 0;)
        CHECK_EQ(value, 1);
}

static void check_stopped(void)
{
    int reader;
    start_machine(3, 1);
    prepare_mailbox(2);
    CHECK_EQ(entry_put("changing", 1, PvmMboxDefault), 0);
    check_spawn("stale_reader", NULL, check_host_name(0), 1, &reader);
    check_receive_int(reader, TAG_READY);
    pid_t reader_pid = check_pid_of(reader);
    start_team(3);
    check_sleep_ms(500);
    double start = lose(1, SIGSTOP);
    check_answers_again(start, HOST_TIMEOUT_S + 3);
    check_notices(1, start, HOST_TIMEOUT_S + 3);
    check_mailbox_kept();
    CHECK_EQ(entry_put("changing", 2, PvmMboxDefault), 0);
    CHECK_EQ(entry_get("changing", 0, PvmMboxReadAndDelete), 2);
    check_master_works(3);
    CHECK(kill(machine.pids[0], SIGCONT) == 0);
    CHECK(daemons_wait_end(machine.pids[0]));
    CHECK(daemons_wait_end(reader_pid));
    stop_team(1);
    end_machine(0);
}

/* Not our own host. */
static int next_master(void)
{
    int i = 1;
    while (i < 3 && !daemons_log_has(i, "this host is the master"))
        i++;
    return i;
}

static void check_two(void)
{
    start_machine(5, 4);
    prepare_mailbox(4);
    start_team(5);
    check_sleep_ms(300);
    double start = lose(1, SIGKILL);
    check_answers_again(start, 2);
    check_notices(1, start, 2);
    int next = next_master();
    start = lose(1U << next, SIGKILL);
    check_answers_again(start, 2);
    CHECK_EQ(check_receive_int(-1, TAG_HOST), machine.host_tids[next]);
    check_receive_int(-1, TAG_EXIT);
    check_receive_int(-1, TAG_EXIT);
    check_mailbox_kept();
    check_master_works(5);
    stop_team(1 | 1U << next);
    end_machine(1 | 1U << next);
}

static void check_both(void)
{
    start_machine(5, 2);
    prepare_mailbox(4);
    start_team(5);
    check_sleep_ms(300);
    double start = lose(1 | 8, SIGKILL);
    check_answers_again(start, 3);
    check_notices(1 | 8, start, 4);
    check_mailbox_kept();
    check_master_works(5);
    stop_team(1 | 8);
    end_machine(1 | 8);
}

static void check_slaves(void)
{
    start_machine(3, 0);
    start_team(3);
    CHECK_EQ(entry_put("ours", 3, PvmMboxDefault), 0);
    check_sleep_ms(300);
    double start = lose(2 | 4, SIGKILL);
    check_answers_again(start, 1);
    check_notices(2 | 4, start, 1);
    CHECK_EQ(entry_get("ours", 0, PvmMboxDefault), 3);
    check_master_works(3);
    stop_team(2 | 4);
}

/* Two of four are no majority, since the other two might be living. */
static void check_half(void)
{
    start_machine(4, 1);
    signal(SIGTERM, SIG_IGN); /* our daemon ends, and its tasks */
    double start = lose(1 | 4, SIGKILL);
    CHECK(entry_put("new", 1, PvmMboxDefault) < 0);
    CHECK(daemons_wait_end(machine.pids[1]));
    CHECK(daemons_wait_end(machine.pids[3]));
    double took = check_now() - start;
    printf("the machine ends after %.3f s\n", took);
    CHECK(took < daemons_patience(HOST_TIMEOUT_S + 4));
    CHECK(daemons_log_has(1, "no majority of the hosts can be reached"));
    CHECK(daemons_log_has(3, "no majority of the hosts can be reached"));
    daemons_remove_journal(0);
}

static void halter(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_receive_int(pvm_parent(), TAG_END);
    pvm_halt();
}

/* The request is with the stopped master when that is killed. */
static void check_halt(void)
{
    int tid;
    start_machine(3, 1);
    check_spawn("halter", NULL, check_host_name(2), 1, &tid);
    check_receive_int(tid, TAG_READY);
    signal(SIGTERM, SIG_IGN);
    lose(1, SIGSTOP);
    check_send_int(tid, TAG_END, 0);
    check_sleep_ms(500);
    lose(1, SIGKILL);
    CHECK(daemons_wait_end(machine.pids[1]));
    CHECK(daemons_wait_end(machine.pids[2]));
    daemons_remove_journal(0);
}

static void putter(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (double end = check_now() + 4 * HOST_TIMEOUT_S; check_now() < end;) {
        CHECK(entry_put("steady", 1, PvmMboxMultiInstance | PvmMboxPersistent | PvmMboxOverWritable) >= 0);
        CHECK_EQ(entry_get("steady", 0, PvmMboxFirstAvail | PvmMboxReadAndDelete), 1);
    }
}

/* The master waits for answers of the others nearly all the time, but for none of them long. */
static void check_steady(void)
{
    int tids[6];
    start_machine(3, 1);
    for (int i = 0; i < 3; i++)
        check_spawn("putter", NULL, check_host_name(i), 2, &tids[2 * i]);
    check_wait_exit(6, tids);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    end_machine(0);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "killed") == 0)
        check_killed(1);
    else if (strcmp(what, "third") == 0)
        check_killed(2);
    else if (strcmp(what, "stopped") == 0)
        check_stopped();
    else if (strcmp(what, "two") == 0)
        check_two();
    else if (strcmp(what, "both") == 0)
        check_both();
    else if (strcmp(what, "slaves") == 0)
        check_slaves();
    else if (strcmp(what, "half") == 0)
        check_half();
    else if (strcmp(what, "halt") == 0)
        check_halt();
    else if (strcmp(what, "steady") == 0)
        check_steady();
    else
        CHECK(!"usage: failover killed | third | stopped | two | both | slaves | half | halt | steady");
}

static const struct check_role roles[] = {{"owner", owner},   {"waiter", waiter},   {"member", member},
                                          {"echo", echo},     {"manager", manager}, {"stale_reader", stale_reader},
                                          {"halter", halter}, {"putter", putter},   {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
