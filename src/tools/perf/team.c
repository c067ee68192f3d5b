/* team.c - spawns members and exchanges messages with them; handles the end of a member or the daemon, and signals. */
#include "team.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "pvm3.h"
#include "tools/pvm-info/links.h"
#include "launch.h"
#include "member.h"

enum {
    READY_LIMIT_S = 60, /* for a spawned task to enrol */
    END_LIMIT_S = 10,   /* for members to leave */
    ASK_LIMIT_S = 2,    /* for a member to report its links */
    TICK_US = 200000,   /* between checks for signals and updates of the progress line */
    TEXT_MAX = 512,
};

struct team {
    struct team *next;
    int count;  /* number of spawned members */
    int gone;   /* number of members that have ended */
    bool ended; /* their end is expected */
    const struct options *options;
    int tids[MEMBERS_MAX];
};

static struct team *teams; /* list of all teams */
static volatile sig_atomic_t caught;

static struct {
    int done, total;
    char what[64];
    double start_us;
    bool shown;
} progress;

/* ---- progress ---- */

static void wipe_progress(void)
{
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    progress.shown = false;
}

static void show_progress(void)
{
    double seconds = (now_us() - progress.start_us) / 1e6;
    if (progress.total == 0 || seconds < 1 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[Kpvm-perf: point %d of %d (%s), %.0f s", progress.done + 1, progress.total, progress.what,
            seconds);
    progress.shown = true;
}

void team_progress(int done, int total, const char *what)
{
    if (progress.total == 0)
        progress.start_us = now_us();
    progress.done = done;
    progress.total = total;
    snprintf(progress.what, sizeof progress.what, "%s", what);
    wipe_progress();
}

/* ---- the end ---- */

static void note_signal(int number)
{
    caught = number;
    signal(number, SIG_DFL); /* a second signal ends us at once; the members then notice and end */
}

static struct team *team_of(int tid, int *rank)
{
    for (struct team *t = teams; t; t = t->next)
        for (*rank = 0; *rank < t->count; ++*rank)
            if (t->tids[*rank] == tid)
                return t;
    return NULL;
}

/* Handles the notice that a task has ended; returns its team, or NULL if the end was expected. */
static struct team *take_gone(int *rank)
{
    int tid = 0;
    pvm_upkint(&tid, 1, 1);
    struct team *t = team_of(tid, rank);
    if (t)
        t->gone++;
    return t && !t->ended ? t : NULL;
}

static void wait_for_end(struct team *t)
{
    struct timeval tick = {.tv_usec = TICK_US};
    double limit = now_us() + END_LIMIT_S * 1e6;
    int unused, mid = 0;
    while (t->gone < t->count && now_us() < limit && mid >= 0) {
        mid = pvm_trecv(-1, TAG_GONE, &tick);
        if (mid > 0)
            take_gone(&unused);
    }
}

static void kill_all(void)
{
    for (struct team *t = teams; t; t = t->next) {
        t->ended = true;
        for (int i = 0; i < t->count; i++)
            pvm_kill(t->tids[i]);
    }
    for (struct team *t = teams; t; t = t->next)
        wait_for_end(t);
}

static void finish(void)
{
    wipe_progress();
    kill_all();
    pvm_exit();
    while (teams) {
        struct team *t = teams;
        teams = t->next;
        free(t);
    }
}

void team_fail(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    wipe_progress();
    fprintf(stderr, "pvm-perf: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    finish();
    exit(EXIT_FAILURE);
}

static void obey_signal(void)
{
    fflush(stdout);
    finish();
    raise(caught);
}

/* ---- messages ---- */

/* Handles a message other than the expected one: only the end of a member matters. */
static void refuse(int tag)
{
    int rank;
    struct team *t = tag == TAG_GONE ? take_gone(&rank) : NULL;
    if (t)
        team_fail("task %d of the team (t%x) has ended unexpectedly", rank, (unsigned)t->tids[rank]);
}

/* Receives the next message with this tag; returns its sender. */
static int receive(int wanted, double limit_us, const char *what)
{
    struct timeval tick = {.tv_usec = TICK_US};
    for (;;) {
        int tag, tid, mid = pvm_trecv(-1, -1, &tick);
        if (caught)
            obey_signal();
        if (mid < 0)
            team_fail("the PVM daemon no longer answers");
        if (mid == 0 && limit_us > 0 && now_us() > limit_us)
            team_fail("%s", what);
        show_progress();
        if (mid == 0)
            continue;
        pvm_bufinfo(mid, NULL, &tag, &tid);
        if (tag == wanted)
            return tid;
        refuse(tag);
    }
}

/* ---- starting ---- */

void team_open(void)
{
    if (pvm_mytid() < 0)
        exit(EXIT_FAILURE); /* libpvm has printed the reason */
    pvm_setopt(PvmAutoErr, 0);
    pvm_export("PVM_TRANSPORT");
    pvm_setopt(PvmShowTids, 0);
    pvm_catchout(stderr); /* errors of members before they can report them */
    signal(SIGINT, note_signal);
    signal(SIGTERM, note_signal);
    signal(SIGHUP, note_signal);
}

static const char *host_name(const struct options *o, int rank)
{
    int host = launch_host_of(rank, o->host_count);
    return host < 0 ? "." : o->hosts[host];
}

/* Spawns the ranks from t->count on, with one call for consecutive ranks on the same host. */
static void start_members(struct team *t, int count)
{
    char why[TEXT_MAX];
    while (t->count < count) {
        const char *host = host_name(t->options, t->count);
        int n = 1;
        while (t->count + n < count && strcmp(host_name(t->options, t->count + n), host) == 0)
            n++;
        if (launch_members(host, n, t->tids + t->count, why, sizeof why) < 0)
            team_fail("%s", why);
        if (pvm_notify(PvmTaskExit, TAG_GONE, n, t->tids + t->count) < 0)
            team_fail("pvm_notify failed: %s", pvm_strerror());
        t->count += n;
    }
}

static void say_team(const struct team *t)
{
    const struct options *o = t->options;
    pvm_initsend(PvmDataDefault);
    pvm_pkint((int *)&t->count, 1, 1);
    pvm_pkint((int *)t->tids, t->count, 1);
    pvm_pkint((int *)&o->host_count, 1, 1);
    for (int i = 0; i < o->host_count; i++)
        pvm_pkstr(o->hosts[i]);
    if (pvm_mcast((int *)t->tids, t->count, TAG_TEAM) < 0)
        team_fail("pvm_mcast failed: %s", pvm_strerror());
}

struct team *team_start(const struct options *o, const char *transport, int count)
{
    struct team *t = calloc(1, sizeof *t);
    if (!t)
        team_fail("out of memory");
    t->options = o;
    t->next = teams;
    teams = t;
    if (transport)
        setenv("PVM_TRANSPORT", transport, 1);
    start_members(t, count);
    for (int i = 0; i < count; i++)
        receive(TAG_READY, now_us() + READY_LIMIT_S * 1e6, "the spawned tasks have not enrolled in time");
    say_team(t);
    return t;
}

/* ---- measuring ---- */

static void take_outcome(const struct team *t, int tid, struct outcome *sum)
{
    struct outcome one;
    static char text[4096];
    if (pvm_upkdouble((double *)&one, DOUBLES_OF(one), 1) < 0 || pvm_upkstr(text) < 0)
        team_fail("t%x has sent a malformed message", (unsigned)tid);
    if (text[0])
        team_fail("%s", text);
    double verified = sum->verified + one.verified;
    if (tid == t->tids[0])
        *sum = one;
    sum->verified = verified;
}

void team_measure(struct team *t, const struct point *point, struct outcome *outcome)
{
    *outcome = (struct outcome){0};
    pvm_initsend(PvmDataDefault);
    pvm_pkint((int *)point, INTS_OF(*point), 1);
    if (pvm_mcast(t->tids, t->count, TAG_POINT) < 0)
        team_fail("pvm_mcast failed: %s", pvm_strerror());
    for (int i = 0; i < t->count; i++)
        take_outcome(t, receive(TAG_OUTCOME, 0, ""), outcome);
}

static void add_route(char *routes, size_t size, const char *route)
{
    if (!strstr(routes, route))
        snprintf(routes + strlen(routes), size - strlen(routes), "%s%s", *routes ? ", " : "", route);
}

void team_ask_link(const struct team *t, struct team_link *out)
{
    struct links_report report = {.tid = t->tids[0]};
    *out = (struct team_link){.routes = ""};
    links_ask(&report, 1, ASK_LIMIT_S);
    for (int i = 0; i < report.count; i++)
        for (int j = 1; j < t->count; j++)
            if (report.peers[i].tid == t->tids[j]) {
                add_route(out->routes, sizeof out->routes, report.peers[i].route);
                out->direct_frames += report.peers[i].direct.tx_frames;
                out->daemon_frames += report.peers[i].daemon.tx_frames;
            }
    links_free(&report, 1);
}

void team_end(struct team *t)
{
    t->ended = true;
    pvm_initsend(PvmDataDefault);
    pvm_mcast(t->tids, t->count, TAG_END);
    wait_for_end(t);
    for (struct team **at = &teams; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    free(t);
}
