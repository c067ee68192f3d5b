/*
 * team_pvm.c - a team of PVM tasks: messages between two of them, how they start and end.
 *
 * The first task watches all others, and they watch the first. If one of them dies, the first ends the others.
 */
#include "team.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pvm3.h>
#include "tally.h"

enum { TAG_TEAM = TEAM_TAG_MAX + 100, TAG_DONE, TAG_RELEASE, TAG_FAILED, TAG_DIED };

/* Marks a task that another one has started; whoever starts the first task must not. See options.c. */
static char member_option[] = "--member";

static struct {
    int rank, size;
    int tids[TEAM_MAX];
    int died_handler;
    long bytes;       /* packed since team_message() */
    const char *name; /* of the program */
} team = {0, 1, {0}, -1, 0, "team"};

int team_rank(void)
{
    return team.rank;
}

int team_size(void)
{
    return team.size;
}

/* ---- how it fails ---- */

static _Noreturn void end_all(void)
{
    for (int rank = 1; team.rank == 0 && rank < team.size; rank++)
        if (team.tids[rank] > 0)
            pvm_kill(team.tids[rank]);
    pvm_exit();
    exit(1);
}

/* Only the first task has the user's terminal, so it prints the line of any task. */
void team_fail(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (team.rank == 0) {
        fprintf(stderr, "%s: %s\n", team.name, text);
    } else {
        pvm_initsend(PvmDataDefault);
        pvm_pkstr(text);
        pvm_send(team.tids[0], TAG_FAILED);
    }
    end_all();
}

static int on_failed(int mid)
{
    char text[400];

    (void)mid;
    pvm_upkstr(text);
    team_fail("%s", text);
}

static int on_died(int mid)
{
    int tid = 0, rank = 0;

    (void)mid;
    pvm_upkint(&tid, 1, 1);
    while (rank < team.size - 1 && team.tids[rank] != tid)
        rank++;
    team_fail("task %d of %d has died", rank, team.size);
}

static void check(int info, const char *call)
{
    if (info < 0)
        team_fail("%s: %s", call, -info < pvm_nerr ? pvm_errlist[-info] : "unknown error");
}

/* ---- start and end ---- */

static void watch(int *tids, int count)
{
    team.died_handler = pvm_addmhf(-1, TAG_DIED, -1, on_died);
    check(team.died_handler, "pvm_addmhf");
    if (count > 0)
        check(pvm_notify(PvmTaskExit, TAG_DIED, count, tids), "pvm_notify");
}

static void spawn_others(int argc, char **argv)
{
    char path[4096] = "", **arguments = team_alloc(argc + 2, sizeof *arguments);
    int others = team.size - 1, started;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        team_fail("the program's own path is not known");
    for (int k = 1; k < argc; k++)
        arguments[k - 1] = argv[k];
    arguments[argc > 0 ? argc - 1 : 0] = member_option;
    started = pvm_spawn(path, arguments, PvmTaskDefault, "", others, team.tids + 1);
    free(arguments);
    if (started < others)
        team_fail("only %d of %d tasks have started: %s", 1 + (started > 0 ? started : 0), team.size,
                  pvm_errlist[started < 0 ? -started : -team.tids[others]]);
}

static void lead(int argc, char **argv, int tasks)
{
    team.size = tasks;
    if (tasks == 1)
        return;
    spawn_others(argc, argv);
    check(pvm_addmhf(-1, TAG_FAILED, -1, on_failed), "pvm_addmhf");
    watch(team.tids + 1, tasks - 1);
    check(pvm_initsend(PvmDataDefault), "pvm_initsend");
    check(pvm_pkint(&team.size, 1, 1), "pvm_pkint");
    check(pvm_pkint(team.tids, team.size, 1), "pvm_pkint");
    check(pvm_mcast(team.tids + 1, tasks - 1, TAG_TEAM), "pvm_mcast");
}

static void follow(int me)
{
    team.rank = 1; /* not the first: if this fails, there is no team to end */
    team.tids[0] = pvm_parent();
    watch(team.tids, 1);
    check(pvm_recv(team.tids[0], TAG_TEAM), "pvm_recv");
    check(pvm_upkint(&team.size, 1, 1), "pvm_upkint");
    check(pvm_upkint(team.tids, team.size, 1), "pvm_upkint");
    while (team.tids[team.rank] != me)
        team.rank++;
}

static bool is_member(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[argc - 1], member_option) == 0;
}

void team_start(int argc, char **argv, int tasks)
{
    int me = pvm_mytid();

    if (argc > 0)
        team.name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    if (me < 0) /* libpvm has printed why */
        exit(1);
    team.tids[0] = me;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    if (is_member(argc, argv))
        follow(me);
    else
        lead(argc, argv, tasks);
    tally_count(true);
}

/* The first task learns that all others have finished, and only then lets them go: an end before is a death. */
static int release(int status)
{
    int theirs;

    for (int rank = 1; rank < team.size; rank++) {
        check(pvm_recv(team.tids[rank], TAG_DONE), "pvm_recv");
        check(pvm_upkint(&theirs, 1, 1), "pvm_upkint");
        status = theirs > status ? theirs : status;
    }
    pvm_delmhf(team.died_handler);
    pvm_initsend(PvmDataDefault);
    pvm_mcast(team.tids + 1, team.size - 1, TAG_RELEASE);
    return status;
}

/* Waits for the release, or for the notice that the first task has died. */
static void await_release(int status)
{
    pvm_delmhf(team.died_handler);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&status, 1, 1);
    pvm_send(team.tids[0], TAG_DONE);
    pvm_recv(-1, -1);
}

int team_end(int status)
{
    tally_count(false);
    if (team.rank > 0)
        await_release(status);
    else if (team.size > 1)
        status = release(status);
    pvm_exit();
    return status;
}

/* ---- messages ---- */

static void pack(enum team_type type, const void *values, int count, int stride)
{
    if (type == TEAM_INT)
        check(pvm_pkint((int *)values, count, stride), "pvm_pkint");
    else if (type == TEAM_FLOAT)
        check(pvm_pkfloat((float *)values, count, stride), "pvm_pkfloat");
    else
        check(pvm_pkdouble((double *)values, count, stride), "pvm_pkdouble");
}

static void unpack(enum team_type type, void *values, int count, int stride)
{
    if (type == TEAM_INT)
        check(pvm_upkint(values, count, stride), "pvm_upkint");
    else if (type == TEAM_FLOAT)
        check(pvm_upkfloat(values, count, stride), "pvm_upkfloat");
    else
        check(pvm_upkdouble(values, count, stride), "pvm_upkdouble");
}

static long bytes_of(enum team_type type, int count)
{
    return count * (long)(type == TEAM_INT ? sizeof(int) : type == TEAM_FLOAT ? sizeof(float) : sizeof(double));
}

/*
 * With PvmDataInPlace the values would not be copied into a message, but then a long pvm_send() waits for the receiver,
 * which may itself be sending: PvmDataRaw takes half the time when all send before they receive.
 */
void team_send(int to, int tag, enum team_type type, const void *values, int count)
{
    tally_enter();
    check(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pack(type, values, count, 1);
    check(pvm_send(team.tids[to], tag), "pvm_send");
    tally_message(bytes_of(type, count));
    tally_leave();
}

void team_receive(int from, int tag, enum team_type type, void *values, int count)
{
    tally_enter();
    check(pvm_recv(team.tids[from], tag), "pvm_recv");
    unpack(type, values, count, 1);
    tally_leave();
}

void team_message(void)
{
    tally_enter();
    check(pvm_initsend(PvmDataRaw), "pvm_initsend");
    team.bytes = 0;
    tally_leave();
}

void team_pack(enum team_type type, const void *values, int count, int stride)
{
    tally_enter();
    pack(type, values, count, stride);
    team.bytes += bytes_of(type, count);
    tally_leave();
}

void team_post(int to, int tag)
{
    tally_enter();
    check(pvm_send(team.tids[to], tag), "pvm_send");
    tally_message(team.bytes);
    tally_leave();
}

void team_take(int from, int tag)
{
    tally_enter();
    check(pvm_recv(team.tids[from], tag), "pvm_recv");
    tally_leave();
}

void team_unpack(enum team_type type, void *values, int count, int stride)
{
    tally_enter();
    unpack(type, values, count, stride);
    tally_leave();
}
