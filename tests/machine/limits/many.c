/* many - a thousand tasks on one host start, enrol, answer, are listed, and end: many [TASKS]. */
#include "tests/machine/runner/check.h"

enum { TAG_READY = 1, TAG_NUMBER, TAG_BACK, TASKS_MAX = 4000 };

static void child(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_READY, 0);
    struct timeval limit = {120 * check_slowness(), 0};
    int number;
    CHECK(pvm_trecv(pvm_parent(), TAG_NUMBER, &limit) > 0);
    CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
    check_send_int(pvm_parent(), TAG_BACK, number);
}

static void master(int argc, char **argv)
{
    static int tids[TASKS_MAX];
    int tasks = argc > 1 ? atoi(argv[1]) : 1000, n;
    CHECK(tasks > 0 && tasks <= TASKS_MAX);
    double start = check_now();
    check_spawn("child", NULL, NULL, tasks, tids);
    double spawned = check_now();
    for (int i = 0; i < tasks; i++)
        check_receive_int(-1, TAG_READY);
    printf("%d tasks: pvm_spawn %.0f ms, all enrolled after %.0f ms\n", tasks, (spawned - start) * 1e3,
           (check_now() - start) * 1e3);
    CHECK_EQ(pvm_tasks(0, &n, NULL), 0);
    CHECK_EQ(n, tasks + 1);
    for (int i = 0; i < tasks; i++)
        check_send_int(tids[i], TAG_NUMBER, i);
    for (int i = 0; i < tasks; i++)
        CHECK_EQ(check_receive_int(tids[i], TAG_BACK), i);
    check_wait_exit(tasks, tids);
    CHECK_EQ(pvm_tasks(0, &n, NULL), 0);
    CHECK_EQ(n, 1);
}

static const struct check_role roles[] = {{"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
