/* big - messages around the frame size and up to 64 MiB go to another task and back, in every encoding: big [HOSTS]. */
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_BACK, MIB = 1 << 20 };

static const int sizes[] = {0,       1,   4079,    4080,        4081,    65535,   65536,
                            MIB - 1, MIB, MIB + 1, 2 * MIB - 1, 8 * MIB, 64 * MIB};
static const int encodings[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};

enum { SIZES = sizeof sizes / sizeof *sizes, ENCODINGS = sizeof encodings / sizeof *encodings };

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    char *data = malloc(64 * MIB);
    CHECK(data != NULL);
    for (int i = 0; i < SIZES * ENCODINGS; i++) {
        int bytes = sizes[i / ENCODINGS], length, mid = check_receive(pvm_parent(), TAG_DATA);
        CHECK_EQ(pvm_bufinfo(mid, &length, NULL, NULL), 0);
        CHECK(length >= bytes && length < bytes + 4); /* the reference pads */
        CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
        CHECK(pvm_initsend(encodings[i % ENCODINGS]) > 0);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        CHECK_EQ(pvm_send(pvm_parent(), TAG_BACK), 0);
    }
    free(data);
}

static void check_size(int tid, int encoding, int bytes, char *data)
{
    unsigned seed = (unsigned)(bytes + encoding);
    check_fill(data, (size_t)bytes, seed);
    CHECK(pvm_initsend(encoding) > 0);
    CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_DATA), 0);
    check_receive(tid, TAG_BACK);
    memset(data, 0, (size_t)bytes);
    CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
    CHECK(check_same(data, (size_t)bytes, seed));
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tid;
    check_hosts(hosts);
    check_spawn("echo", NULL, check_host_name(hosts - 1), 1, &tid);
    char *data = malloc(64 * MIB);
    CHECK(data != NULL);
    for (int i = 0; i < SIZES * ENCODINGS; i++)
        check_size(tid, encodings[i % ENCODINGS], sizes[i / ENCODINGS], data);
    free(data);
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"echo", echo}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
