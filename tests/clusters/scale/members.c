/*
 * members.c - a task on each host of the running machine, and many more that sleep. Reads commands from standard input,
 * and answers each with lines "NAME VALUE", the last of which is "done COMMAND".
 *
 *   members SPARE    no task runs on this host, which comes and goes
 *
 *   start         a member on each other host
 *   change        SPARE is deleted and added: until all members have had their notices
 *   ring          each member sends to the next one, so that their daemons connect
 *   tasks COUNT   processes that sleep, on all hosts
 *   kill          ends these
 *   end           ends the members and this program
 */
#include <signal.h>
#include <time.h>
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_NEXT, TAG_RING, TAG_ADDED, TAG_GONE, TAG_SEEN, TAG_END, TAG_EXIT };

static struct {
    int count, *tids;
} members, tasks;

static char *spare;
static int spare_tid;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void say(const char *name, double value)
{
    printf("%s %.3f\n", name, value);
}

static void say_done(const char *command)
{
    printf("done %s\n", command);
    fflush(stdout);
}

/* ---- a member ---- */

static void tell(int tid, int tag)
{
    double at_s = now_s();
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkdouble(&at_s, 1, 1), 0);
    CHECK_EQ(pvm_send(tid, tag), 0);
}

static void watch(int mid)
{
    int tid;
    (void)mid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_GONE, 1, &tid), 0);
    tell(pvm_parent(), TAG_READY);
}

static void member(int argc, char **argv)
{
    int tag = 0, next;
    (void)argc, (void)argv;
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_ADDED, -1, NULL), 0);
    tell(pvm_parent(), TAG_READY);
    while (tag != TAG_END) {
        int mid = pvm_recv(-1, -1);
        CHECK(mid > 0);
        CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, NULL), 0);
        if (tag == TAG_READY) {
            watch(mid);
        } else if (tag == TAG_NEXT) {
            CHECK_EQ(pvm_upkint(&next, 1, 1), 0);
            tell(next, TAG_RING);
        } else if (tag == TAG_ADDED || tag == TAG_GONE || tag == TAG_RING) {
            tell(pvm_parent(), TAG_SEEN);
        }
    }
}

/* ---- members ---- */

/* Waits for a message of each member: when the last one was sent. */
static double last_of_all(int tag)
{
    double last_s = 0, at_s;
    for (int i = 0; i < members.count; i++) {
        CHECK(pvm_recv(-1, tag) > 0);
        CHECK_EQ(pvm_upkdouble(&at_s, 1, 1), 0);
        last_s = at_s > last_s ? at_s : last_s;
    }
    return last_s;
}

static void to_all(int tag, int value)
{
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_mcast(members.tids, members.count, tag), 0);
}

static int *room(int count)
{
    int *tids = calloc((size_t)count, sizeof *tids);
    CHECK(tids);
    return tids;
}

static void find_spare(void)
{
    struct pvmhostinfo *hosts;
    int count;
    CHECK_EQ(pvm_config(&count, NULL, &hosts), 0);
    members.count = count - 1;
    for (int i = 0; i < count; i++)
        if (!strcmp(hosts[i].hi_name, spare))
            spare_tid = hosts[i].hi_tid;
    CHECK(spare_tid);
}

static void start(void)
{
    char *arguments[] = {"member", NULL};
    double since_s = now_s();
    find_spare();
    members.tids = room(members.count);
    CHECK_EQ(
        pvm_spawn((char *)check_program(), arguments, PvmTaskHost | PvmHostCompl, spare, members.count, members.tids),
        members.count);
    last_of_all(TAG_READY);
    say("members_s", now_s() - since_s);
}

static void change(void)
{
    to_all(TAG_READY, spare_tid);
    last_of_all(TAG_READY);
    double since_s = now_s();
    int status;
    CHECK_EQ(pvm_delhosts(&spare, 1, &status), 1);
    say("deleted_s", now_s() - since_s);
    say("delete_seen_s", last_of_all(TAG_SEEN) - since_s);
    since_s = now_s();
    CHECK_EQ(pvm_addhosts(&spare, 1, &spare_tid), 1);
    say("added_s", now_s() - since_s);
    say("add_seen_s", last_of_all(TAG_SEEN) - since_s);
}

static void ring(void)
{
    double since_s = now_s();
    for (int i = 0; i < members.count; i++) {
        int next = members.tids[(i + 1) % members.count];
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        CHECK_EQ(pvm_pkint(&next, 1, 1), 0);
        CHECK_EQ(pvm_send(members.tids[i], TAG_NEXT), 0);
    }
    say("ring_s", last_of_all(TAG_SEEN) - since_s);
}

static void end_members(void)
{
    to_all(TAG_END, 0);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, members.count, members.tids), 0);
    for (int i = 0; i < members.count; i++)
        CHECK(pvm_recv(-1, TAG_EXIT) > 0);
}

/* ---- tasks ---- */

static void start_tasks(int count)
{
    char *arguments[] = {"3600", NULL};
    double since_s = now_s();
    tasks.count = count;
    tasks.tids = room(count);
    CHECK_EQ(pvm_spawn("/bin/sleep", arguments, PvmTaskDefault, NULL, count, tasks.tids), count);
    say("spawn_s", now_s() - since_s);
}

static void kill_tasks(void)
{
    double since_s = now_s();
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, tasks.count, tasks.tids), 0);
    for (int i = 0; i < tasks.count; i++)
        CHECK_EQ(pvm_sendsig(tasks.tids[i], SIGTERM), 0);
    for (int i = 0; i < tasks.count; i++)
        CHECK(pvm_recv(-1, TAG_EXIT) > 0);
    say("kill_s", now_s() - since_s);
    free(tasks.tids);
}

static void run(int argc, char **argv)
{
    char line[64];
    int count;
    CHECK_EQ(argc, 2);
    spare = argv[1];
    CHECK(pvm_mytid() > 0);
    while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n") != 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!strcmp(line, "start"))
            start();
        else if (!strcmp(line, "change"))
            change();
        else if (!strcmp(line, "ring"))
            ring();
        else if (sscanf(line, "tasks %d", &count) == 1)
            start_tasks(count);
        else if (!strcmp(line, "kill"))
            kill_tasks();
        say_done(line);
    }
    end_members();
    free(members.tids);
    say_done("end");
}

int main(int argc, char **argv)
{
    static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};
    return check_main(argc, argv, run, roles);
}
