/*
 * load - tasks on several hosts that exchange messages, use the mailbox and meet in barriers, while something outside
 * (`run`) kills, stops and cuts: load FOLDER HOSTS WORKERS
 *
 *   HOSTS    h1 to hN; this program runs on h1, and keeps the others in the machine
 *   WORKERS  for each host; besides there are a clerk and a member on each
 *
 * What ends is started again: hosts and tasks. Events are lines on standard output: "EVENT us what ...". When the file
 * FOLDER/stop appears, all is brought to rest and checked: nothing may be missing between those that live.
 *
 * Checked here: each worker is told exactly once of the end of each other (pvm_notify), nobody else is reported, each
 * pair hears from each other, and no task falls silent. Workers check their messages; the journals of clerks and
 * members are for `run`.
 */
#include <stdarg.h>
#include "load.h"
#include "tests/machine/runner/check.h"

enum { HOSTS_MAX = 8, SLOTS_MAX = 64, TICK_MS = 100, CHECK_EVERY_S = 2, AGAIN_S = 1 };

enum role { WORKER, CLERK, MEMBER };

static const char *const role_names[] = {"worker", "clerk", "member"};

struct host {
    char name[16];
    int tid;         /* of its daemon; 0: it is not in the machine */
    double again_at; /* not to be added before */
};

struct slot {
    enum role role;
    struct host *host;
    int tid; /* 0: to be started */
    int checked;
    double heard_at, again_at;
};

/* A worker's end, and who has told us of it. */
struct death {
    int tid;
    int exited; /* our own notice has come: nobody is added to `awaited` any more */
    int awaited[SLOTS_MAX], awaited_count;
    int told[SLOTS_MAX], told_count;
    double since;
    struct death *next; /* older */
};

static struct {
    const char *folder;
    struct host hosts[HOSTS_MAX];
    int host_count;
    struct slot slots[SLOTS_MAX];
    int slot_count;
    struct death *deaths;
    int checks;
    double check_at;
    int finishing, finished;
    long long died, lost, added, reports, messages, kib, late;
} all;

static void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void event(const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("EVENT %.0f %s\n", check_now() * 1e6, text);
}

static int is_worker(const struct slot *s)
{
    return s->tid && s->role == WORKER;
}

static struct slot *slot_of(int tid)
{
    for (int i = 0; i < all.slot_count; i++)
        if (tid && all.slots[i].tid == tid)
            return &all.slots[i];
    return NULL;
}

/* ---- deaths ---- */

static struct death *death_of(int tid)
{
    for (struct death *d = all.deaths; d; d = d->next)
        if (d->tid == tid)
            return d;
    struct death *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    *d = (struct death){.tid = tid, .since = check_now(), .next = all.deaths};
    return all.deaths = d;
}

static int has(const int *tids, int count, int tid)
{
    for (int i = 0; i < count; i++)
        if (tids[i] == tid)
            return i + 1;
    return 0;
}

static void await_no_more(struct death *d, int tid)
{
    int at = has(d->awaited, d->awaited_count, tid);
    if (at)
        d->awaited[at - 1] = d->awaited[--d->awaited_count];
}

static void take_report(int from)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    struct death *d = death_of(tid);
    if (has(d->told, d->told_count, from))
        check_failed(__FILE__, __LINE__, "t%x was told twice of the end of t%x", from, tid);
    CHECK(d->told_count < SLOTS_MAX);
    d->told[d->told_count++] = from;
    await_no_more(d, from);
    all.reports++;
}

/* Those that live now have been told of the task, and must hear of its end. */
static void worker_died(int tid)
{
    struct death *d = death_of(tid);
    if (d->exited)
        check_failed(__FILE__, __LINE__, "two notices of the end of t%x", tid);
    d->exited = 1;
    d->since = check_now();
    for (int i = 0; i < all.slot_count; i++)
        if (is_worker(&all.slots[i]) && !has(d->told, d->told_count, all.slots[i].tid))
            d->awaited[d->awaited_count++] = all.slots[i].tid;
    for (struct death *other = all.deaths; other; other = other->next)
        await_no_more(other, tid);
}

static void take_exit(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    struct slot *s = slot_of(tid);
    if (!s)
        check_failed(__FILE__, __LINE__, "a notice of the end of t%x, which is not there", tid);
    event("died %s t%x %s", role_names[s->role], tid, s->host->name);
    s->tid = 0;
    s->again_at = 0;
    all.died++;
    if (s->role == WORKER)
        worker_died(tid);
}

static void check_deaths(double now)
{
    for (struct death *d = all.deaths; d; d = d->next) {
        if (now - d->since < check_limit_s() || (d->exited && !d->awaited_count))
            continue;
        if (!d->exited)
            check_failed(__FILE__, __LINE__, "t%x was told of the end of t%x, which has not ended", d->told[0], d->tid);
        check_failed(__FILE__, __LINE__, "t%x was not told of the end of t%x within %d s (%d others were not, either)",
                     d->awaited[0], d->tid, check_limit_s(), d->awaited_count - 1);
    }
}

/* ---- messages ---- */

static void take_host_delete(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    for (int i = 0; i < all.host_count; i++) {
        struct host *h = &all.hosts[i];
        if (h->tid != tid)
            continue;
        event("lost %s t%x", h->name, tid);
        h->tid = 0;
        all.lost++;
        return;
    }
    check_failed(__FILE__, __LINE__, "a notice of the loss of host t%x, which is not there", tid);
}

static void take_totals(void)
{
    int totals[4];
    CHECK_EQ(pvm_upkint(totals, 4, 1), 0);
    all.messages += totals[0];
    all.kib += totals[1];
    all.late += totals[2];
    all.finished++;
}

static void take(int mid)
{
    int tag, from, number;
    CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &from), 0);
    struct slot *s = slot_of(from);
    if (s)
        s->heard_at = check_now();
    if (tag == TAG_DEATH)
        take_report(from);
    else if (tag == TAG_TASK_EXIT)
        take_exit();
    else if (tag == TAG_HOST_DELETE)
        take_host_delete();
    else if (tag == TAG_TOTALS)
        take_totals();
    else if (tag == TAG_STATUS && s && pvm_upkint(&number, 1, 1) == 0)
        s->checked = number;
    else if (tag != TAG_STATUS && tag != TAG_HELLO && tag != TAG_BEAT)
        check_failed(__FILE__, __LINE__, "unexpected tag %d from t%x", tag, from);
}

/* Takes all that is there, and waits for a moment if there is nothing. */
static void take_all(void)
{
    struct timeval tick = {.tv_usec = TICK_MS * 1000};
    int mid = pvm_trecv(-1, -1, &tick);
    while (mid > 0) {
        take(mid);
        mid = pvm_nrecv(-1, -1);
    }
    CHECK_EQ(mid, 0);
}

/* ---- hosts and tasks ---- */

static void host_added(struct host *h, int tid)
{
    event("add %s: %d", h->name, tid);
    h->again_at = check_now() + AGAIN_S;
    if (tid <= 0)
        return;
    h->tid = tid;
    all.added++;
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST_DELETE, 1, &tid), 0);
}

/* The tid of a host that is in the machine already, or what pvm_addhosts() said. */
static int tid_of_present(const struct host *h, int said)
{
    struct pvmhostinfo *hosts;
    int count = 0;
    CHECK_EQ(pvm_config(&count, NULL, &hosts), 0);
    for (int i = 0; i < count; i++)
        if (strcmp(hosts[i].hi_name, h->name) == 0)
            return hosts[i].hi_tid;
    return said;
}

/* All that are missing, in one call: they start at the same time. */
static void add_hosts(double now)
{
    struct host *missing[HOSTS_MAX];
    char *names[HOSTS_MAX];
    int tids[HOSTS_MAX], count = 0;
    for (int i = 0; i < all.host_count; i++) {
        if (all.hosts[i].tid || now < all.hosts[i].again_at)
            continue;
        missing[count] = &all.hosts[i];
        names[count++] = all.hosts[i].name;
    }
    if (!count)
        return;
    int added = pvm_addhosts(names, count, tids);
    if (added < 0)
        check_failed(__FILE__, __LINE__, "pvm_addhosts() of %d hosts is %d", count, added);
    for (int i = 0; i < count; i++)
        host_added(missing[i], tids[i] == PvmDupHost ? tid_of_present(missing[i], tids[i]) : tids[i]);
}

static void introduce(int tid)
{
    int others[SLOTS_MAX], count = 0, one = 1;
    for (int i = 0; i < all.slot_count; i++)
        if (is_worker(&all.slots[i]) && all.slots[i].tid != tid)
            others[count++] = all.slots[i].tid;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(others, count, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_PEERS), 0);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&one, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&tid, 1, 1), 0);
    if (count)
        CHECK_EQ(pvm_mcast(others, count, TAG_PEERS), 0);
}

/* The host may be lost, or its daemon without descriptors: then again later. */
static void start_task(struct slot *s, double now)
{
    char count[16], *argv[] = {(char *)role_names[s->role], (char *)all.folder, count, NULL};
    int tid = 0;
    if (s->tid || !s->host->tid || now < s->again_at)
        return;
    snprintf(count, sizeof count, "%d", all.host_count);
    if (s->role != MEMBER)
        argv[2] = NULL;
    int started = pvm_spawn((char *)check_program(), argv, PvmTaskHost, s->host->name, 1, &tid);
    s->again_at = check_now() + AGAIN_S;
    if (started != 1) {
        event("spawn on %s: %d, status %d", s->host->name, started, tid);
        return;
    }
    s->tid = tid;
    s->checked = all.checks;
    s->heard_at = check_now();
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_TASK_EXIT, 1, &tid), 0);
    if (s->role == WORKER)
        introduce(tid);
}

static int count_missing(void)
{
    int missing = 0;
    for (int i = 0; i < all.host_count; i++)
        missing += !all.hosts[i].tid;
    for (int i = 0; i < all.slot_count; i++)
        missing += !all.slots[i].tid;
    return missing;
}

static void replace_all(void)
{
    add_hosts(check_now());
    for (int i = 0; i < all.slot_count; i++)
        start_task(&all.slots[i], check_now());
}

/* ---- who hangs ---- */

static void tell_workers(int tag, int number)
{
    int tids[SLOTS_MAX], count = 0;
    for (int i = 0; i < all.slot_count; i++)
        if (is_worker(&all.slots[i]))
            tids[count++] = all.slots[i].tid;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&number, 1, 1), 0);
    if (count)
        CHECK_EQ(pvm_mcast(tids, count, tag), 0);
}

static int has_all_checks(void)
{
    for (int i = 0; i < all.slot_count; i++)
        if (is_worker(&all.slots[i]) && all.slots[i].checked < all.checks)
            return 0;
    return 1;
}

static void check_silence(double now)
{
    int members = 0;
    double youngest = 0;
    for (int i = 0; i < all.slot_count; i++) {
        const struct slot *s = &all.slots[i];
        members += s->tid && s->role == MEMBER;
        if (!s->tid || s->role != CLERK || now - s->heard_at < check_limit_s())
            continue;
        check_failed(__FILE__, __LINE__, "clerk t%x on %s has been silent for %d s", s->tid, s->host->name,
                     check_limit_s());
    }
    for (int i = 0; i < all.slot_count; i++)
        if (all.slots[i].tid && all.slots[i].role == MEMBER && all.slots[i].heard_at > youngest)
            youngest = all.slots[i].heard_at;
    if (members == all.host_count && now - youngest > check_limit_s())
        check_failed(__FILE__, __LINE__, "%d members have not passed a barrier for %d s", members, check_limit_s());
}

/* Asks all workers from time to time whether they have heard from all. */
static void check_workers(double now)
{
    if (!has_all_checks()) {
        for (int i = 0; i < all.slot_count; i++) {
            const struct slot *s = &all.slots[i];
            if (is_worker(s) && s->checked < all.checks && now - all.check_at > check_limit_s())
                check_failed(__FILE__, __LINE__, "worker t%x on %s has not heard from all within %d s", s->tid,
                             s->host->name, check_limit_s());
        }
        return;
    }
    if (now - all.check_at < CHECK_EVERY_S)
        return;
    all.check_at = now;
    tell_workers(TAG_CHECK, ++all.checks);
}

static void go_on(void)
{
    take_all();
    replace_all();
    check_deaths(check_now());
    check_silence(check_now());
    check_workers(check_now());
}

/* ---- the end ---- */

static int is_to_stop(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/stop", all.folder);
    return access(path, F_OK) == 0;
}

/* All hosts and tasks are there again, and all have heard from all once more. */
static void come_to_rest(void)
{
    double end = check_now() + 2 * check_limit_s();
    int wanted = 0;
    event("stopping");
    while (!wanted || all.checks < wanted || !has_all_checks()) {
        if (check_now() > end)
            check_failed(__FILE__, __LINE__, "the machine is not whole again: %d hosts and tasks are missing",
                         count_missing());
        go_on();
        if (!wanted && !count_missing())
            wanted = all.checks + 2;
    }
    event("at rest");
}

/* Ends those of a role; returns when they have. */
static void end_role(enum role role)
{
    for (int i = 0; i < all.slot_count; i++) {
        struct slot *s = &all.slots[i];
        if (!s->tid || s->role != role)
            continue;
        if (role == MEMBER)
            CHECK_EQ(pvm_kill(s->tid), 0);
        else
            check_send_int(s->tid, TAG_FINISH, 0);
    }
    double end = check_now() + check_limit_s();
    for (int i = 0; i < all.slot_count; i++)
        while (all.slots[i].tid && all.slots[i].role == role) {
            if (check_now() > end)
                check_failed(__FILE__, __LINE__, "%s t%x does not end", role_names[role], all.slots[i].tid);
            take_all();
        }
}

static void end_workers(void)
{
    int count = 0;
    double end = check_now() + check_limit_s();
    for (int i = 0; i < all.slot_count; i++)
        count += is_worker(&all.slots[i]);
    tell_workers(TAG_END, 0);
    while (all.finished < count) {
        if (check_now() > end)
            check_failed(__FILE__, __LINE__, "%d of %d workers finished", all.finished, count);
        struct timeval tick = {.tv_usec = TICK_MS * 1000};
        int tag, mid = pvm_trecv(-1, -1, &tick);
        if (mid <= 0)
            continue;
        CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, NULL), 0);
        if (tag == TAG_TOTALS)
            take_totals();
    }
}

static void master(int argc, char **argv)
{
    if (argc != 4)
        check_failed(__FILE__, __LINE__, "usage: load FOLDER HOSTS WORKERS");
    all.folder = argv[1];
    all.host_count = atoi(argv[2]);
    int workers = atoi(argv[3]);
    CHECK(all.host_count >= 1 && all.host_count <= HOSTS_MAX && all.host_count * (workers + 2) <= SLOTS_MAX);
    pvm_setopt(PvmAutoErr, 0);
    CHECK(pvm_joingroup((char *)"nemesis.server") >= 0); /* so the group server is on this host */
    for (int i = 0; i < all.host_count; i++) {
        struct host *h = &all.hosts[i];
        snprintf(h->name, sizeof h->name, "h%d", i + 1);
        h->tid = i ? 0 : pvm_tidtohost(pvm_mytid());
        for (int k = 0; k < workers + 2; k++)
            all.slots[all.slot_count++] = (struct slot){.host = h,
                                                        .role = k < workers    ? WORKER
                                                                : k == workers ? CLERK
                                                                               : MEMBER};
    }
    all.check_at = check_now();
    while (!is_to_stop())
        go_on();
    come_to_rest();
    end_role(CLERK);
    end_role(MEMBER);
    end_workers();
    printf("TOTALS died=%lld lost=%lld added=%lld reports=%lld messages=%lld kib=%lld late=%lld\n", all.died, all.lost,
           all.added, all.reports, all.messages, all.kib, all.late);
}

static const struct check_role roles[] = {{"worker", worker}, {"clerk", clerk}, {"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
