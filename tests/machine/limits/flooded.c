/*
 * flooded - a task that waits for a message gets it, whatever others flood it with, and warns: flooded [HOSTS]
 *
 * No sender may be held here for good: in the first part the message is behind the flood of the same sender, in the
 * second its sender waits for the one that floods. PVM_INBOX_WARN is 8 MiB.
 */
#include "tests/machine/runner/check.h"

enum { TAG_TASKS = 1, TAG_FLOOD, TAG_FLOODED, TAG_WANTED, TAG_DONE, MESSAGES = 1000, BYTES = 40000 };

static const char warning[] = "(PVM_INBOX_WARN)";

/* Of 40 MB: at 8, 16 and 32 MiB. */
enum { WARNINGS_OF_FLOOD = 3 };

static void get_tasks(int tids[3])
{
    check_receive(pvm_parent(), TAG_TASKS);
    CHECK_EQ(pvm_upkint(tids, 3, 1), 0);
}

static void flood(int to)
{
    static char data[BYTES];
    for (int i = 0; i < MESSAGES; i++) {
        check_fill(data, BYTES, (unsigned)i);
        CHECK_EQ(pvm_psend(to, TAG_FLOOD, data, BYTES, PVM_BYTE), 0);
    }
}

static void flooder(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[3];
    get_tasks(tids);
    flood(tids[0]);
    check_send_int(tids[0], TAG_WANTED, 1);
    check_receive_int(tids[0], TAG_DONE);
    flood(tids[0]);
    check_send_int(tids[2], TAG_FLOODED, 2);
}

/* Sends what the waiter wants when the flooder has finished. */
static void third(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[3];
    get_tasks(tids);
    check_send_int(tids[0], TAG_WANTED, check_receive_int(tids[1], TAG_FLOODED));
}

static void take_flood(int from)
{
    static char data[BYTES];
    for (int i = 0; i < MESSAGES; i++) {
        check_receive(from, TAG_FLOOD);
        CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
        CHECK(check_same(data, BYTES, (unsigned)i));
    }
}

static void waiter(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[3];
    get_tasks(tids);
    CHECK_EQ(check_receive_int(tids[1], TAG_WANTED), 1);
    take_flood(tids[1]);
    check_send_int(tids[1], TAG_DONE, 0);
    CHECK_EQ(check_receive_int(tids[2], TAG_WANTED), 2);
    take_flood(tids[1]);
    check_send_int(pvm_parent(), TAG_DONE, 0);
}

/* The daemon may still have to read what the task has written. */
static void check_warnings(int count)
{
    double end = check_now() + check_limit_s();
    while (check_log_lines(warning) < count && check_now() < end)
        check_sleep_ms(10);
    CHECK_EQ(check_log_lines(warning), count);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[3];
    check_hosts(hosts);
    check_spawn("waiter", NULL, ".", 1, &tids[0]);
    check_spawn("flooder", NULL, check_host_name(hosts - 1), 1, &tids[1]);
    check_spawn("third", NULL, ".", 1, &tids[2]);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(tids, 3, 1), 0);
    CHECK_EQ(pvm_mcast(tids, 3, TAG_TASKS), 0);
    check_receive_int(tids[0], TAG_DONE);
    check_warnings(2 * WARNINGS_OF_FLOOD);
    check_wait_exit(3, tids);
}

static const struct check_role roles[] = {{"waiter", waiter}, {"flooder", flooder}, {"third", third}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
