/*
 * masters - kills the master of a machine of 3 to 5 hosts again and again, while a task on each host puts entries into
 * the mailbox, takes them out, and sends numbered messages to all others: masters [KILLS [SEED]]
 *
 * Some masters die while they add a host, some together with another host if a majority is left. Each round adds hosts
 * again. All tasks note what they did in a file. At the end it must hold: nobody got an entry that nobody put; no entry
 * was there twice; and an entry that was put and is missing was taken by a task that was killed before it could say so.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"
#include "tests/machine/runner/history.h"

enum {
    HOSTS_MIN = 3,
    HOSTS_MAX = 5,
    NUMBERS_MAX = 2000, /* of hosts, over all rounds */
    VALUES_MAX = 1 << 23,
    BYTES_MAX = 3000,
    PAUSE_MS = 2, /* of a task between what it does */
    TAG_TEAM = 1,
    TAG_MESSAGE,
    TAG_STOP,
    TAG_COUNT,
    TAG_DONE,
    TAG_EXIT,
    TAG_HOST,
    TAG_END
};

static unsigned random_state;

static int draw(int n)
{
    return (int)(check_random(&random_state) % (unsigned)n);
}

/* ---- the notes: "P" is about to put a value, "p" has, "T" is about to take one, "t" has, or has found none (-1) ----
 */

static int notes = -1;

static void open_notes(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/notes", getenv("HOME"));
    notes = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CHECK(notes >= 0);
}

static void note(char what, int value)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%c %d\n", what, value);
    CHECK_EQ(write(notes, line, (size_t)length), length);
}

/* ---- the mailbox ---- */

/* A task whose daemon was killed ends; if another one ends, the program sees it. */
static void check_call(int rc, const char *what)
{
    if (rc == PvmSysErr)
        exit(0);
    if (rc < 0)
        check_failed(__FILE__, __LINE__, "%s returned %d", what, rc);
}

static void put(int value)
{
    int mid = pvm_mkbuf(PvmDataDefault), old = pvm_setsbuf(mid);
    check_call(mid, "pvm_mkbuf");
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    pvm_setsbuf(old);
    note('P', value);
    check_call(pvm_putinfo("queue", mid, PvmMboxMultiInstance | PvmMboxPersistent | PvmMboxOverWritable),
               "pvm_putinfo");
    note('p', value);
    pvm_freebuf(mid);
}

/* Returns whether there was one. */
static int take(void)
{
    int value;
    note('T', 0);
    int mid = pvm_recvinfo("queue", 0, PvmMboxFirstAvail | PvmMboxReadAndDelete);
    if (mid == PvmNotFound) {
        note('t', -1);
        return 0;
    }
    check_call(mid, "pvm_recvinfo");
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    note('t', value);
    return 1;
}

/* ---- a task on each host ---- */

static struct {
    int count, tids[HOSTS_MAX];
} team;

static struct {
    int tid;
    uint32_t sent;
} pairs[NUMBERS_MAX];

static uint32_t *sent_to(int tid)
{
    int i = 0;
    while (i < NUMBERS_MAX && pairs[i].tid && pairs[i].tid != tid)
        i++;
    CHECK(i < NUMBERS_MAX);
    pairs[i].tid = tid;
    return &pairs[i].sent;
}

static struct history history;

static void send_numbered(int tid)
{
    static char data[BYTES_MAX];
    size_t bytes = HISTORY_BYTES_MIN + (size_t)draw(BYTES_MAX - HISTORY_BYTES_MIN);
    history_write(data, bytes, pvm_mytid(), tid, (*sent_to(tid))++);
    check_call(pvm_initsend(PvmDataRaw), "pvm_initsend");
    check_call(pvm_pkbyte(data, (int)bytes, 1), "pvm_pkbyte");
    check_call(pvm_send(tid, TAG_MESSAGE), "pvm_send");
}

static void check_history(const char *wrong)
{
    if (wrong)
        check_failed(__FILE__, __LINE__, "%s", wrong);
}

static void take_numbered(int from, int bytes)
{
    static char data[BYTES_MAX];
    CHECK(bytes <= BYTES_MAX);
    CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
    check_history(history_read(&history, from, data, (size_t)bytes));
}

static void take_team(void)
{
    CHECK_EQ(pvm_upkint(&team.count, 1, 1), 0);
    CHECK(team.count <= HOSTS_MAX);
    CHECK_EQ(pvm_upkint(team.tids, team.count, 1), 0);
}

static int counted; /* members of the last team that have told how many messages they sent to us */

static void take_count(int from)
{
    int count;
    CHECK_EQ(pvm_upkint(&count, 1, 1), 0);
    check_history(history_end(&history, from, (uint32_t)count));
    counted++;
}

/* Returns the sender of a TAG_STOP, or 0. */
static int take_all(int wait_ms)
{
    struct timeval limit = {0, wait_ms * 1000};
    int stop = 0, mid;
    for (mid = pvm_trecv(-1, -1, &limit); mid > 0; mid = pvm_nrecv(-1, -1)) {
        int bytes, tag, from;
        CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
        if (tag == TAG_MESSAGE)
            take_numbered(from, bytes);
        else if (tag == TAG_TEAM)
            take_team();
        else if (tag == TAG_COUNT)
            take_count(from);
        else if (tag == TAG_STOP)
            stop = from;
    }
    check_call(mid, "pvm_trecv");
    return stop;
}

static void member(int argc, char **argv)
{
    int number, value, stop = 0;
    CHECK_EQ(argc, 2);
    CHECK_EQ(sscanf(argv[1], "%d,%u", &number, &random_state), 2);
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, number % 2 ? PvmRouteDirect : PvmDontRoute);
    open_notes();
    history_init(&history, pvm_mytid());
    value = number << 12;
    while (!stop) {
        if (draw(2) && (value + 1) >> 12 == number)
            put(value++);
        else
            take();
        for (int i = 0; i < team.count; i++)
            if (team.tids[i] != pvm_mytid())
                send_numbered(team.tids[i]);
        stop = take_all(PAUSE_MS);
    }
    for (int i = 0; i < team.count; i++)
        if (team.tids[i] != pvm_mytid())
            check_send_int(team.tids[i], TAG_COUNT, (int)*sent_to(team.tids[i]));
    for (double end = check_now() + check_limit_s(); counted < team.count - 1; take_all(10))
        CHECK(check_now() < end);
    check_send_int(stop, TAG_DONE, (int)history.messages);
    check_receive(stop, TAG_END);
}

/* ---- the machine, seen from outside ---- */

struct host {
    int number; /* index of the daemon */
    pid_t pid;
    int member_tid;
};

static struct host hosts[HOSTS_MAX];
static int host_count, last_number, seat;
static int host_tids[NUMBERS_MAX];

static void add_member(struct host *h)
{
    char argument[32];
    snprintf(argument, sizeof argument, "%d,%u", h->number, random_state + (unsigned)h->number);
    check_spawn("member", argument, daemons_name(h->number), 1, &h->member_tid);
}

static void add_host(void)
{
    struct host *h = &hosts[host_count];
    char *name = (char *)daemons_name(last_number + 1);
    int tid, added = pvm_addhosts(&name, 1, &tid);
    if (added != 1)
        check_failed(__FILE__, __LINE__, "host %s was not added: %d, status %d", name, added, tid);
    h->number = ++last_number;
    CHECK(last_number < NUMBERS_MAX);
    host_tids[h->number] = tid;
    h->pid = daemons_pid(h->number);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &tid), 0);
    add_member(h);
    host_count++;
}

static int find_master(void)
{
    for (double end = check_now() + check_limit_s(); check_now() < end; check_sleep_ms(2))
        for (int i = 0; i < host_count; i++)
            if (hosts[i].number == 0 || daemons_log_has(hosts[i].number, "this host is the master"))
                return i;
    check_failed(__FILE__, __LINE__, "no daemon is the master");
}

/* Becomes a task of a host that is not to be killed. */
static void sit_at(int number)
{
    int tids[HOSTS_MAX];
    seat = number;
    daemons_enrol_at(number);
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < host_count; i++)
        tids[i] = host_tids[hosts[i].number];
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, host_count, tids), 0);
}

static void tell_team(void)
{
    int tids[HOSTS_MAX];
    for (int i = 0; i < host_count; i++)
        tids[i] = hosts[i].member_tid;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&host_count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(tids, host_count, 1), 0);
    CHECK_EQ(pvm_mcast(tids, host_count, TAG_TEAM), 0);
}

/* Kills from a process of its own, after a while. */
static pid_t kill_later(const pid_t *pids, int n, int ms)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    check_sleep_ms(ms);
    for (int i = 0; i < n; i++)
        kill(pids[i], SIGKILL);
    _exit(0);
}

static void forget_host(int number)
{
    int i = 0;
    while (hosts[i].number != number)
        i++;
    daemons_remove_journal(number);
    hosts[i] = hosts[--host_count];
}

static struct {
    int kills, with_another, adding;
    double worst_s, total_s;
} figures;

/* Kills the master, and perhaps another host, perhaps while a host is being added. */
static void kill_master(void)
{
    int master = find_master(), other = -1, victims[2], n = 1;
    pid_t pids[2] = {hosts[master].pid, 0};
    victims[0] = hosts[master].number;
    if (host_count == 5 && draw(4) == 0) {
        other = (master + 1 + draw(4)) % 5;
        pids[n] = hosts[other].pid;
        victims[n++] = hosts[other].number;
    }
    int next = draw(host_count);
    while (next == master || next == other)
        next = (next + 1) % host_count;
    if (seat != hosts[next].number)
        sit_at(hosts[next].number);
    check_sleep_ms(draw(200));
    int adds = host_count < HOSTS_MAX && draw(2), delay_ms = adds ? draw(150) : 0, status;
    double start = check_now() + delay_ms / 1e3;
    pid_t killer = kill_later(pids, n, delay_ms);
    if (adds)
        add_host();
    CHECK_EQ(waitpid(killer, &status, 0), killer);
    put(VALUES_MAX - 1 - figures.kills); /* a value that no member puts */
    double took = check_now() - start;
    for (int i = 0; i < n; i++) {
        int tid = check_receive_int(-1, TAG_HOST), v = 0;
        while (v < n && host_tids[victims[v]] != tid)
            v++;
        CHECK(v < n);
    }
    for (int i = 0; i < n; i++)
        forget_host(victims[i]);
    figures.kills++;
    figures.with_another += n > 1;
    figures.adding += adds;
    figures.total_s += took;
    if (took > figures.worst_s)
        figures.worst_s = took;
}

static void check_members(void)
{
    int n;
    CHECK_EQ(pvm_config(&n, NULL, NULL), 0);
    CHECK_EQ(n, host_count);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST), 0);
    for (int i = 0; i < host_count; i++)
        CHECK_EQ(pvm_pstat(hosts[i].member_tid), PvmOk);
}

static int stop_members(void)
{
    int total = 0;
    tell_team();
    for (int i = 0; i < host_count; i++)
        check_send_int(hosts[i].member_tid, TAG_STOP, 0);
    for (int i = 0; i < host_count; i++)
        total += check_receive_int(hosts[i].member_tid, TAG_DONE);
    for (int i = 0; i < host_count; i++)
        check_send_int(hosts[i].member_tid, TAG_END, 0);
    return total;
}

/* ---- what the notes must say ---- */

static void check_notes(void)
{
    static unsigned char begun[VALUES_MAX], done[VALUES_MAX], taken[VALUES_MAX];
    char path[4096], what;
    int value, puts = 0, takes = 0, open_takes = 0, missing = 0;
    snprintf(path, sizeof path, "%s/notes", getenv("HOME"));
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fscanf(f, "%c %d\n", &what, &value) == 2) {
        CHECK(value < VALUES_MAX);
        open_takes += (what == 'T') - (what == 't');
        if (what == 'P')
            begun[value]++;
        if (what == 'p')
            done[value]++;
        if (what != 't' || value < 0)
            continue;
        taken[value]++;
        takes++;
    }
    fclose(f);
    for (value = 0; value < VALUES_MAX; value++) {
        puts += done[value];
        missing += done[value] && !taken[value];
        if (begun[value] > 1 || taken[value] > begun[value])
            check_failed(__FILE__, __LINE__, "value %d: put %d times, taken %d times", value, begun[value],
                         taken[value]);
    }
    printf("mailbox: %d put, %d taken, none twice; %d missing, %d takes of killed tasks were under way\n", puts, takes,
           missing, open_takes);
    CHECK(missing <= open_takes);
    CHECK(remove(path) == 0);
}

static void master(int argc, char **argv)
{
    int kills = argc > 1 ? atoi(argv[1]) : 10;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    random_state = seed;
    printf("seed %u\n", seed);
    open_notes();
    pvm_setopt(PvmAutoErr, 0);
    host_tids[0] = daemons_host(0);
    check_spawn("member", "0,1", check_host_name(0), 1, &hosts[0].member_tid);
    hosts[0].pid = daemons_pid(0);
    host_count = 1;
    while (host_count < HOSTS_MAX)
        add_host();
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &host_tids[0]), 0);
    for (int round = 0; round < kills; round++) {
        tell_team();
        kill_master();
        check_members();
        while (host_count < HOSTS_MIN || (host_count < HOSTS_MAX && draw(3)))
            add_host();
        if (round % 10 == 9)
            printf("%d masters killed\n", round + 1);
    }
    int messages = stop_members();
    while (take())
        continue;
    check_notes();
    printf("%d masters killed, %d with another host, %d while a host was added; the mailbox worked after %.3f s on "
           "average, %.3f s at most; %d messages of the last members, none lost, doubled or out of order\n",
           figures.kills, figures.with_another, figures.adding, figures.total_s / figures.kills, figures.worst_s,
           messages);
    daemons_halt();
    for (int i = 0; i < host_count; i++)
        CHECK(daemons_wait_end(hosts[i].pid));
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
