/*
 * pairs - a task with many peers, each over a queue pair of its own: pairs [PEERS].
 *
 * While they are idle, no task has more than 4 MiB registered with the device. Afterwards all send large messages at
 * once, which are read over all queue pairs at the same time.
 */
#include "tests/machine/runner/check.h"

enum { TAG_HELLO = 1, TAG_GO, TAG_LARGE, TAG_NEVER, PEERS_MAX = 256, BYTES = 100000, REGISTERED_MAX = 4 << 20 };

enum { HELLOS = 4, TRIES = 100 }; /* a task offers a link with the second message */

static char data[BYTES];

static void peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (int i = 0; i < HELLOS; i++)
        check_send_int(pvm_parent(), TAG_HELLO, (int)getpid());
    int number = check_receive_int(pvm_parent(), TAG_GO);
    check_fill(data, BYTES, (unsigned)number);
    CHECK_EQ(pvm_psend(pvm_parent(), TAG_LARGE, data, BYTES, PVM_BYTE), 0);
    check_receive_int(pvm_parent(), TAG_GO);
}

/* The number after a word in a line, or -1. */
static long value_of(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

/* Adds up the values in the lines that `rdma` prints about a process; "": counts the lines. */
static long sum_of(const char *command, pid_t pid, const char *word)
{
    char line[512];
    long sum = 0;
    FILE *lines = popen(command, "r");
    CHECK(lines != NULL);
    while (fgets(line, sizeof line, lines))
        if (value_of(line, " pid ") == pid)
            sum += *word ? value_of(line, word) : 1;
    pclose(lines);
    return sum;
}

static long pairs_of(pid_t pid)
{
    return sum_of("rdma resource show qp", pid, "");
}

/* Waits until the links are there. */
static void check_registered(pid_t pid, const char *who, int pairs_expected)
{
    struct timeval soon = {.tv_usec = 50000};
    long pairs = pairs_of(pid);
    for (int i = 0; i < TRIES && pairs < pairs_expected; i++, pairs = pairs_of(pid))
        CHECK_EQ(pvm_trecv(-1, TAG_NEVER, &soon), 0);
    long bytes = sum_of("rdma resource show mr", pid, " mrlen ");
    printf("pairs: %s has %ld queue pairs and %ld KiB registered\n", who, pairs, bytes / 1024);
    CHECK(pairs >= pairs_expected);
    CHECK(bytes > 0 && bytes < REGISTERED_MAX);
}

static void master(int argc, char **argv)
{
    int peers = argc > 1 ? atoi(argv[1]) : 64, tids[PEERS_MAX], pid = 0;
    CHECK(peers > 0 && peers <= PEERS_MAX);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_spawn("peer", NULL, NULL, peers, tids);
    for (int i = 0; i < HELLOS * peers; i++)
        pid = check_receive_int(tids[i % peers], TAG_HELLO);
    check_registered(getpid(), "the master", peers);
    check_registered((pid_t)pid, "a peer", 1);
    for (int i = 0; i < peers; i++)
        check_send_int(tids[i], TAG_GO, i);
    for (int i = 0; i < peers; i++) {
        check_receive(tids[i], TAG_LARGE);
        CHECK_EQ(pvm_upkbyte(data, BYTES, 1), 0);
        CHECK(check_same(data, BYTES, (unsigned)i));
    }
    for (int i = 0; i < peers; i++)
        check_send_int(tids[i], TAG_GO, 0);
}

static const struct check_role roles[] = {{"peer", peer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
