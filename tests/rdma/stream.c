/*
 * stream - exchanges messages for some seconds while faults are injected into the devices below: stream SECONDS
 * [HOSTS].
 *
 * No message may be lost, duplicated, reordered or changed. With two hosts the peer is on the second.
 */
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_ECHO, TAG_END, BYTES_MAX = 1 << 20, WINDOW = 8 };

static char data[BYTES_MAX];

/* Mostly small ones, and some that the receiver reads by RDMA. */
static int size_of(unsigned number)
{
    unsigned state = number * 2654435761u, kind = check_random(&state) % 16;
    return (int)(check_random(&state) % (kind == 0 ? BYTES_MAX : kind < 4 ? 40000 : 500));
}

static void send_numbered(int to, int tag, unsigned number)
{
    int bytes = size_of(number), words[2] = {(int)number, bytes};
    check_fill(data, (size_t)bytes, number);
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(words, 2, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
    CHECK_EQ(pvm_send(to, tag), 0);
}

static void unpack_numbered(unsigned number)
{
    int words[2];
    CHECK_EQ(pvm_upkint(words, 2, 1), 0);
    CHECK_EQ(words[0], number);
    CHECK_EQ(words[1], size_of(number));
    CHECK_EQ(pvm_upkbyte(data, words[1], 1), 0);
    CHECK(check_same(data, (size_t)words[1], number));
}

static void peer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    for (unsigned number = 0;; number++) {
        int bufid = check_receive(pvm_parent(), -1), bytes, tag, tid;
        CHECK_EQ(pvm_bufinfo(bufid, &bytes, &tag, &tid), 0);
        if (tag == TAG_END)
            return;
        unpack_numbered(number);
        send_numbered(pvm_parent(), TAG_ECHO, number);
    }
}

static void master(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    int hosts = argc > 2 ? atoi(argv[2]) : 1, tid;
    unsigned sent = 0, back = 0;
    check_hosts(hosts);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_spawn("peer", NULL, check_host_name(hosts - 1), 1, &tid);
    for (double end = check_now() + seconds; check_now() < end || back < sent;) {
        while (sent < back + WINDOW && check_now() < end)
            send_numbered(tid, TAG_DATA, sent++);
        check_receive(tid, TAG_ECHO);
        unpack_numbered(back++);
    }
    printf("stream: %u messages each way\n", sent);
    check_send_int(tid, TAG_END, 0);
}

static const struct check_role roles[] = {{"peer", peer}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
