/* usage - what pvm_usage() says of tasks that wait, work, send and have messages to receive: usage [HOSTS]. */
#include <time.h>
#include "dpvm.h"
#include "tests/machine/runner/check.h"

enum {
    TAG_GO = 1,
    TAG_DATA,
    TAG_UNWANTED,
    TAG_ECHO,
    MESSAGES = 100,
    INTS = 1000,
    UNWANTED = 5,
    CHUNK = 1 << 20,
};

#define PATIENCE_S 20
#define WORK_US    100000

/* ---- the tasks that are looked at ---- */

static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_receive_int(pvm_parent(), TAG_GO);
}

static void worker(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_mytid();
    for (volatile long n = 0;; n++)
        ;
}

static void deaf(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_mytid();
    for (;;)
        pause();
}

static void talker(int argc, char **argv)
{
    static char chunk[CHUNK];
    (void)argc, (void)argv;
    for (int to = check_receive_int(pvm_parent(), TAG_GO);;) {
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        CHECK_EQ(pvm_pkbyte(chunk, CHUNK, 1), 0);
        CHECK_EQ(pvm_send(to, TAG_DATA), 0);
    }
}

static void echo(int argc, char **argv)
{
    (void)argv;
    int ints[INTS], bytes, tag, from;
    pvm_setopt(PvmRoute, argc > 1 ? PvmDontRoute : PvmAllowDirect);
    for (;;) {
        CHECK_EQ(pvm_bufinfo(check_receive(pvm_parent(), -1), &bytes, &tag, &from), 0);
        if (tag == TAG_GO)
            return;
        CHECK_EQ(pvm_upkint(ints, INTS, 1), 0);
        check_send_int(pvm_parent(), TAG_ECHO, 0);
    }
}

/* ---- looking ---- */

static struct pvmtaskusage look(int tid)
{
    struct pvmhostusage *hosts;
    int n;
    CHECK_EQ(pvm_usage(tid, &n, &hosts), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(hosts[0].hu_tid, pvm_tidtohost(tid));
    CHECK_EQ(hosts[0].hu_ntask, 1);
    CHECK_EQ(hosts[0].hu_tasks[0].tu_tid, tid);
    return hosts[0].hu_tasks[0];
}

/* Looks until the task does that, and has slept in it. */
static struct pvmtaskusage await(int tid, enum pvmdoes what)
{
    struct pvmtaskusage t;
    double end = check_now() + PATIENCE_S * check_slowness();
    do {
        t = look(tid);
        check_sleep_ms(5);
    } while ((t.tu_does != what || (what != PvmDoesWork && !t.tu_waits_us)) && check_now() < end);
    CHECK_EQ(t.tu_does, what);
    return t;
}

static const struct pvmrouteusage *route_of(const struct pvmtaskusage *t, int is_daemon)
{
    for (int i = 0; i < t->tu_nroute; i++)
        if ((strcmp(t->tu_routes[i].ru_name, "daemon") == 0) == is_daemon)
            return &t->tu_routes[i];
    return NULL;
}

static void sum(const struct pvmtaskusage *t, struct pvmrouteusage *all)
{
    memset(all, 0, sizeof *all);
    for (int i = 0; i < t->tu_nroute; i++) {
        all->ru_sent += t->tu_routes[i].ru_sent;
        all->ru_sent_bytes += t->tu_routes[i].ru_sent_bytes;
        all->ru_received += t->tu_routes[i].ru_received;
        all->ru_received_bytes += t->tu_routes[i].ru_received_bytes;
    }
}

static void check_waiting(const char *host)
{
    int tid;
    check_spawn("receiver", NULL, host, 1, &tid);
    for (int i = 0; i < UNWANTED; i++)
        check_send_int(tid, TAG_UNWANTED, i);
    struct pvmtaskusage t = await(tid, PvmDoesReceive), later;
    CHECK_EQ(t.tu_peer, pvm_mytid());
    CHECK_EQ(t.tu_tag, TAG_GO);
    CHECK_EQ(t.tu_pid, check_pid_of(tid));
    CHECK(t.tu_memory_bytes > 100000);
    do {
        check_sleep_ms(5);
        later = look(tid);
    } while (later.tu_waiting < UNWANTED);
    CHECK_EQ(later.tu_waiting, UNWANTED);
    CHECK(later.tu_waiting_bytes >= 4 * UNWANTED);
    check_send_int(tid, TAG_GO, 0);
    check_wait_exit(1, &tid);
}

static void check_work(const char *host)
{
    int tid;
    check_spawn("worker", NULL, host, 1, &tid);
    struct pvmtaskusage t = await(tid, PvmDoesWork), later;
    double end = check_now() + PATIENCE_S * check_slowness();
    do
        later = look(tid);
    while (later.tu_cpu_us < t.tu_cpu_us + WORK_US && check_now() < end);
    CHECK(later.tu_cpu_us >= t.tu_cpu_us + WORK_US);
    CHECK_EQ(later.tu_does, PvmDoesWork);
    CHECK_EQ(later.tu_waits_us, 0);
    CHECK_EQ(pvm_kill(tid), 0);
    check_wait_exit(1, &tid);
}

static void check_send(const char *host)
{
    int deaf_tid, talker_tid;
    check_spawn("deaf", NULL, host, 1, &deaf_tid);
    check_spawn("talker", NULL, NULL, 1, &talker_tid);
    check_send_int(talker_tid, TAG_GO, deaf_tid);
    struct pvmtaskusage t = await(talker_tid, PvmDoesSend);
    CHECK_EQ(t.tu_peer, deaf_tid);
    CHECK_EQ(t.tu_tag, TAG_DATA);
    CHECK_EQ(pvm_kill(talker_tid), 0);
    CHECK_EQ(pvm_kill(deaf_tid), 0);
    check_wait_exit(2, (int[]){talker_tid, deaf_tid});
}

static void exchange(int tid)
{
    static int ints[INTS];
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(ints, INTS, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_DATA), 0);
    check_receive_int(tid, TAG_ECHO);
}

/* Every message counts once at each end, by the route that it took. */
static void check_traffic(const char *host, int by_daemon)
{
    int tid;
    struct pvmrouteusage own_before, own_after, other_before, other_after;
    struct pvmtaskusage own, other;
    check_spawn("echo", by_daemon ? "daemon" : NULL, host, 1, &tid);
    pvm_setopt(PvmRoute, by_daemon ? PvmDontRoute : PvmAllowDirect);
    do { /* until there is a link, which then takes all */
        exchange(tid);
        other = await(tid, PvmDoesReceive);
    } while (!by_daemon && !route_of(&other, 0));
    CHECK(!by_daemon == !!route_of(&other, 0));
    sum(&other, &other_before);
    long long by_route = route_of(&other, by_daemon)->ru_received;
    own = look(pvm_mytid()); /* ends the validity of `other` */
    sum(&own, &own_before);
    for (int i = 0; i < MESSAGES; i++)
        exchange(tid);
    own = look(pvm_mytid());
    sum(&own, &own_after);
    other = await(tid, PvmDoesReceive);
    sum(&other, &other_after);
    CHECK_EQ(other_after.ru_received - other_before.ru_received, MESSAGES);
    CHECK_EQ(other_after.ru_received_bytes - other_before.ru_received_bytes, MESSAGES * INTS * (int)sizeof(int));
    CHECK_EQ(other_after.ru_sent - other_before.ru_sent, MESSAGES);
    CHECK_EQ(own_after.ru_sent - own_before.ru_sent, MESSAGES);
    CHECK_EQ(own_after.ru_sent_bytes - own_before.ru_sent_bytes, MESSAGES * INTS * (int)sizeof(int));
    CHECK_EQ(own_after.ru_received - own_before.ru_received, MESSAGES);
    CHECK_EQ(route_of(&other, by_daemon)->ru_received - by_route, MESSAGES);
    check_send_int(tid, TAG_GO, 0);
    check_wait_exit(1, &tid);
}

static void check_meeting(void)
{
    int tid;
    check_spawn("member", NULL, check_host_name(0), 1, &tid);
    CHECK(pvm_joingroup("usage") >= 0);
    check_receive_int(tid, TAG_GO);
    await(tid, PvmDoesMeet);
    CHECK_EQ(pvm_barrier("usage", 2), 0);
    CHECK_EQ(pvm_lvgroup("usage"), 0);
    check_wait_exit(1, &tid);
}

static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(pvm_joingroup("usage") >= 0);
    while (pvm_gsize("usage") < 2)
        check_sleep_ms(1);
    check_send_int(pvm_parent(), TAG_GO, 0);
    CHECK_EQ(pvm_barrier("usage", 2), 0);
}

/* All hosts in order; a host; what is not there. */
static void check_places(int hosts_wanted)
{
    struct pvmhostusage *hosts;
    int n, tasks = 0, count;
    struct pvmtaskinfo *list;
    CHECK_EQ(pvm_tasks(0, &count, &list), 0);
    CHECK_EQ(pvm_usage(0, &n, &hosts), 0);
    CHECK_EQ(n, hosts_wanted);
    for (int i = 0; i < n; i++) {
        CHECK(hosts[i].hu_processors > 0 && hosts[i].hu_memory_bytes > hosts[i].hu_available_bytes);
        CHECK(hosts[i].hu_available_bytes > 0 && hosts[i].hu_busy_us > 0 && hosts[i].hu_daemon_memory_bytes > 0);
        for (int j = 0; j < hosts[i].hu_ntask; j++, tasks++)
            CHECK_EQ(hosts[i].hu_tasks[j].tu_tid, list[tasks].ti_tid);
    }
    CHECK_EQ(tasks, count);
    int own = pvm_tidtohost(pvm_mytid());
    CHECK_EQ(pvm_usage(own, &n, &hosts), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(pvm_usage(own | 0x3ffff, &n, &hosts), 0); /* no such task: a host without it */
    CHECK_EQ(hosts[0].hu_ntask, 0);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_usage(0x3f40000, &n, &hosts), PvmNoHost);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    const char *last = check_host_name(hosts - 1);
    check_waiting(last);
    check_work(last);
    check_send(last);
    check_traffic(last, 1);
    check_traffic(last, 0);
    check_places(hosts);
    check_meeting();
}

int main(int argc, char **argv)
{
    static const struct check_role roles[] = {
        {"receiver", receiver}, {"worker", worker}, {"deaf", deaf}, {"talker", talker},
        {"echo", echo},         {"member", member}, {NULL, NULL}};
    return check_main(argc, argv, master, roles);
}
