/*
 * everyone - one task on each host of the running machine; each sends numbered messages of many sizes to all others,
 * every third one by pvm_mcast, and all must arrive, in order and unchanged, whatever happens to the network meanwhile.
 *
 *   everyone MESSAGES [MILLISECONDS [HOSTS [WITHOUT]]]
 *            messages to each; pause after every tenth; hosts to add before; a host that gets no task
 */
#include <sys/time.h>
#include "tests/machine/runner/check.h"

enum { TAG_TEAM = 1, TAG_MESSAGE, TAG_DONE, BYTES_MAX = 150000, TEAM_MAX = 64, LIMIT_S = 60 };

static struct {
    int count, tids[TEAM_MAX], received[TEAM_MAX];
    int other_count, others[TEAM_MAX]; /* without this task */
} team;

static int bytes_of(int number)
{
    return number % 40 ? number * 7919 % 1500 : number * 7919 % BYTES_MAX;
}

static int index_of(int tid)
{
    int i = 0;
    while (i < team.count && team.tids[i] != tid)
        i++;
    CHECK(i < team.count);
    return i;
}

static void take(int mid)
{
    static char data[BYTES_MAX];
    int length, tag, tid, number;
    CHECK_EQ(pvm_bufinfo(mid, &length, &tag, &tid), 0);
    int from = index_of(tid);
    CHECK_EQ(pvm_upkint(&number, 1, 1), 0);
    CHECK_EQ(number, team.received[from]++);
    CHECK_EQ(length, bytes_of(number) + (int)sizeof number);
    CHECK_EQ(pvm_upkbyte(data, bytes_of(number), 1), 0);
    CHECK(check_same(data, (size_t)bytes_of(number), (unsigned)(number + tid)));
}

static void send_number(int number)
{
    static char data[BYTES_MAX];
    check_fill(data, (size_t)bytes_of(number), (unsigned)(number + pvm_mytid()));
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(&number, 1, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, bytes_of(number), 1), 0);
    if (number % 3 == 2)
        CHECK_EQ(pvm_mcast(team.others, team.other_count, TAG_MESSAGE), 0);
    else
        for (int i = 0; i < team.other_count; i++)
            CHECK_EQ(pvm_send(team.others[i], TAG_MESSAGE), 0);
}

static int missing(int messages)
{
    int n = 0;
    for (int i = 0; i < team.count; i++)
        n += team.tids[i] == pvm_mytid() ? 0 : messages - team.received[i];
    return n;
}

static void member(int argc, char **argv)
{
    int messages, pause_ms;
    CHECK(argc > 1 && sscanf(argv[1], "%d,%d", &messages, &pause_ms) == 2);
    check_receive(pvm_parent(), TAG_TEAM);
    CHECK_EQ(pvm_upkint(&team.count, 1, 1), 0);
    CHECK_EQ(pvm_upkint(team.tids, team.count, 1), 0);
    for (int i = 0; i < team.count; i++)
        if (team.tids[i] != pvm_mytid())
            team.others[team.other_count++] = team.tids[i];
    for (int number = 0; number < messages; number++) {
        send_number(number);
        for (int mid; (mid = pvm_nrecv(-1, TAG_MESSAGE)) > 0;)
            take(mid);
        if (pause_ms && number % 10 == 9)
            check_sleep_ms(pause_ms);
    }
    while (missing(messages))
        take(check_receive(-1, TAG_MESSAGE));
    check_send_int(pvm_parent(), TAG_DONE, pvm_mytid());
}

static void master(int argc, char **argv)
{
    struct pvmhostinfo *hosts;
    char argument[32];
    int host_count;
    struct timeval limit = {LIMIT_S, 0};
    CHECK(argc > 1);
    snprintf(argument, sizeof argument, "%s,%s", argv[1], argc > 2 ? argv[2] : "0");
    if (argc > 3 && atoi(argv[3]))
        check_hosts(atoi(argv[3]));
    CHECK_EQ(pvm_config(&host_count, NULL, &hosts), 0);
    CHECK(host_count <= TEAM_MAX);
    for (int i = 0; i < host_count; i++)
        if (argc < 5 || strcmp(hosts[i].hi_name, argv[4]) != 0)
            check_spawn("member", argument, hosts[i].hi_name, 1, &team.tids[team.count++]);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&team.count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(team.tids, team.count, 1), 0);
    CHECK_EQ(pvm_mcast(team.tids, team.count, TAG_TEAM), 0);
    for (int i = 0; i < team.count; i++)
        CHECK(pvm_trecv(-1, TAG_DONE, &limit) > 0);
    printf("%d tasks have all %s messages of each other\n", team.count, argv[1]);
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
