/*
 * halfopen - one side of a direct TCP link loses what the other sends, or its end: every call of both sides returns,
 * and each message arrives once and in order. Runs in a lab's host as root, because it cuts its own link with nft.
 *
 *   halfopen HOST LIMIT_S WHO HOW WHAT HEAL_S
 *
 * WHO sends while nothing comes back: master, child. HOW: inplace, psend, send, mcast. WHAT is lost of the answers:
 * data (acknowledgements of the kernel pass), all, end (all, and the receiver's socket is killed, so that its RST is
 * lost). The network is whole again after HEAL_S seconds.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "tests/machine/runner/check.h"

enum {
    TAG_WARM = 1,
    TAG_BACK,
    TAG_CUT,
    TAG_DATA,
    TAG_AFTER,
    TAG_LOST,
    BYTES = 120000,
    WARM = 20,
    AFTER = 20,
    GRACE_S = 5
};

static char data[BYTES], got[BYTES];
static int limit_s;

/* Ports tell links apart, whether by IPv4 or IPv6. */
struct flow {
    int here, there;
};

/* 0: not a TCP socket, or not connected. */
static int port_of(int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in6 a;
    socklen_t length = sizeof a;
    if (name(fd, (struct sockaddr *)&a, &length) || (a.sin6_family != AF_INET && a.sin6_family != AF_INET6))
        return 0;
    return ntohs(a.sin6_port); /* at the same place in both */
}

/* The direct link of this task, which has only one. */
static int find_flow(struct flow *f)
{
    for (int fd = 3; fd < 256; fd++) {
        f->here = port_of(fd, getsockname);
        f->there = port_of(fd, getpeername);
        if (f->here && f->there)
            return 1;
    }
    return 0;
}

static void shell(const char *format, const struct flow *f, int seconds)
{
    char command[1024];
    snprintf(command, sizeof command, format, f->there, f->here, seconds);
    CHECK_EQ(system(command), 0);
}

/* A table of its own for each link: drops what comes from the other side. */
#define LOSE(filter)                                                                                                   \
    "nft 'table inet half%2$d { chain input { type filter hook input priority 0; "                                     \
    "tcp sport %1$d tcp dport %2$d " filter " drop; }; }'"
#define HEAL "sleep %3$d; nft delete table inet half%2$d"

/* Loses what the peer sends on the link, by and by, without waiting. */
static void cut(const char *what, const struct flow *f, int heal_s)
{
    if (!strcmp(what, "data"))
        shell(LOSE("tcp flags & psh == psh") " && { (" HEAL ") >/dev/null 2>&1 & }", f, heal_s);
    else
        shell("(sleep 0.3; " LOSE("") "; " HEAL ") >/dev/null 2>&1 &", f, heal_s);
}

static void exchange(int peer, int first)
{
    for (int i = 0; i < 2; i++)
        if (i == first)
            CHECK_EQ(pvm_psend(peer, TAG_WARM, data, BYTES, PVM_BYTE), 0);
        else
            check_receive(peer, TAG_WARM);
}

/* Until both have the link. Makes the kernel's windows large, too. */
static void warm_up(int peer, int first, struct flow *f)
{
    for (int i = 0, both = 0; i < WARM || !both; i++) {
        exchange(peer, first);
        int mine = find_flow(f);
        check_send_int(peer, TAG_WARM, mine);
        both = check_receive_int(peer, TAG_WARM) && mine;
    }
}

static void send_data(int peer, int bystander, const char *how)
{
    if (!strcmp(how, "psend")) {
        CHECK_EQ(pvm_psend(peer, TAG_DATA, data, BYTES, PVM_BYTE), 0);
        return;
    }
    int tids[] = {peer, bystander};
    CHECK(pvm_initsend(strcmp(how, "send") ? PvmDataInPlace : PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkbyte(data, BYTES, 1), 0);
    CHECK_EQ(strcmp(how, "mcast") ? pvm_send(peer, TAG_DATA) : pvm_mcast(tids, 2, TAG_DATA), 0);
}

static void receive_data(int peer)
{
    check_receive(peer, TAG_DATA);
    CHECK_EQ(pvm_upkbyte(got, BYTES, 1), 0);
    CHECK(check_same(got, BYTES, 1));
}

/* Both directions go on, in order and without doubles. */
static void go_on(int peer)
{
    for (int i = 0; i < AFTER; i++)
        check_send_int(peer, TAG_AFTER, i);
    for (int i = 0; i < AFTER; i++)
        CHECK_EQ(check_receive_int(peer, TAG_AFTER), i);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
}

static void be_sender(int peer, int bystander, char **argv)
{
    struct flow f;
    warm_up(peer, 1, &f);
    int lost = !strcmp(argv[1], "end");
    if (lost)
        CHECK_EQ(pvm_notify(PvmRouteDelete, TAG_LOST, 1, &peer), 0);
    check_send_int(peer, TAG_CUT, 0);
    cut(argv[1], &f, atoi(argv[2]));
    double start = check_now();
    send_data(peer, bystander, argv[0]);
    double sent = check_now() - start;
    CHECK_EQ(check_receive_int(peer, TAG_BACK), 1);
    double answered = check_now() - start;
    printf("sent after %.1f s, answered after %.1f s\n", sent, answered);
    CHECK(sent < limit_s + GRACE_S);
    CHECK(answered < limit_s + GRACE_S);
    if (lost)
        CHECK_EQ(check_receive_int(-1, TAG_LOST), peer);
    go_on(peer);
}

static void be_receiver(int peer, char **argv)
{
    struct flow f;
    warm_up(peer, 0, &f);
    check_receive(peer, TAG_CUT);
    if (strcmp(argv[1], "data") != 0)
        check_sleep_ms(600);
    if (!strcmp(argv[1], "end"))
        shell("ss -K -t dport = %1$d sport = %2$d >/dev/null", &f, 0);
    receive_data(peer);
    check_send_int(peer, TAG_BACK, 1);
    go_on(peer);
}

static void prepare(void)
{
    check_fill(data, BYTES, 1);
    pvm_setopt(PvmRoute, PvmRouteDirect);
}

/* The master's words, from LIMIT_S on. */
static void child(int argc, char **argv)
{
    char words[6][16];
    char *how[] = {words[2], words[3], words[4]};
    CHECK(argc > 1);
    CHECK_EQ(sscanf(argv[1], "%15[^,],%15[^,],%15[^,],%15[^,],%15[^,],%15s", words[0], words[1], words[2], words[3],
                    words[4], words[5]),
             6);
    limit_s = atoi(words[0]);
    prepare();
    if (!strcmp(words[1], "child"))
        be_sender(pvm_parent(), atoi(words[5]), how);
    else
        be_receiver(pvm_parent(), how);
}

static void bystander(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_receive(-1, TAG_DATA);
}

static void master(int argc, char **argv)
{
    char words[128];
    int peer, other = 0;
    CHECK(argc > 6);
    limit_s = atoi(argv[2]);
    prepare();
    if (!strcmp(argv[4], "mcast"))
        check_spawn("bystander", NULL, NULL, 1, &other);
    snprintf(words, sizeof words, "%s,%s,%s,%s,%s,%d", argv[2], argv[3], argv[4], argv[5], argv[6], other);
    check_spawn("child", words, argv[1], 1, &peer);
    if (!strcmp(argv[3], "master"))
        be_sender(peer, other, argv + 4);
    else
        be_receiver(peer, argv + 4);
}

static const struct check_role roles[] = {{"child", child}, {"bystander", bystander}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
