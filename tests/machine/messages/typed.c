/*
 * typed - pvm_psend, pvm_precv and pvm_tprecv: every type, differing sizes, unchanged current buffers, and time limits.
 */
#include "tests/machine/runner/check.h"

enum { TAG_A = 1, TAG_B, N = 50000, LARGE = 50 };

static const int item_bytes[] = {0, 1, sizeof(short), sizeof(int), 4, 8, 8, 16, sizeof(long), 2, 4, sizeof(long)};

static char out[16 * N], in[16 * N];

static void check_type(int type)
{
    size_t bytes = (size_t)item_bytes[type] * N;
    int tid, tag, length;
    check_fill(out, bytes, (unsigned)type);
    memset(in, 0, bytes);
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, out, N, type), 0);
    CHECK_EQ(pvm_precv(-1, TAG_A, in, N, type, &tid, &tag, &length), 0);
    CHECK(memcmp(in, out, bytes) == 0);
    CHECK_EQ(tid, pvm_mytid());
    CHECK_EQ(tag, TAG_A);
    CHECK_EQ(length, bytes);
}

static void check_sizes(void)
{
    int four[4] = {1, 2, 3, 4}, two[4] = {0}, length;
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, four, 4, PVM_INT), 0);
    CHECK_EQ(pvm_precv(pvm_mytid(), TAG_A, two, 2, PVM_INT, NULL, NULL, &length), 0);
    CHECK_EQ(length, (int)sizeof four); /* the whole length sent */
    CHECK(two[0] == 1 && two[1] == 2 && two[2] == 0);
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, four, 2, PVM_INT), 0);
    CHECK_EQ(pvm_precv(pvm_mytid(), TAG_A, two, 4, PVM_INT, NULL, NULL, &length), 0);
    CHECK_EQ(length, 2 * (int)sizeof(int));
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, four, 0, PVM_INT), 0);
    CHECK_EQ(pvm_precv(-1, -1, two, 4, PVM_INT, NULL, NULL, &length), 0);
    CHECK_EQ(length, 0);
}

static void check_refused(void)
{
    int one = 1;
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, "text", 5, PVM_STR), PvmNotImpl);
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, &one, 1, 99), PvmBadParam);
    CHECK_EQ(pvm_psend(0, TAG_A, &one, 1, PVM_INT), PvmBadParam);
    CHECK_EQ(pvm_psend(pvm_mytid(), -1, &one, 1, PVM_INT), PvmBadParam);
    CHECK_EQ(pvm_nrecv(-1, -1), 0); /* nothing of this was sent */
}

/* recv receives what psend sent, and precv what send sent; the current buffers do not change. */
static void check_mixed(void)
{
    int kept = pvm_initsend(PvmDataRaw), value = 42, got = 0, length;
    CHECK(kept > 0);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_A, &value, 1, PVM_INT), 0);
    CHECK_EQ(pvm_getsbuf(), kept);
    int received = check_receive(-1, TAG_A);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_B), 0);
    CHECK_EQ(pvm_precv(-1, TAG_B, &got, 1, PVM_INT, NULL, NULL, &length), 0);
    CHECK_EQ(got, 42);
    CHECK_EQ(pvm_getrbuf(), received);
    got = 0;
    CHECK_EQ(pvm_upkint(&got, 1, 1), 0);
    CHECK_EQ(got, 42);
}

/* An expired time limit, also while a message arrives: the array has all of it or nothing. */
static void check_limits(void)
{
    struct timeval none = {0, 0}, moment = {0, 50000}, tiny = {0, 1};
    int value = 0, tid, length, rc;
    double began = check_now();
    CHECK_EQ(pvm_tprecv(-1, TAG_A, &none, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
    CHECK_EQ(pvm_tprecv(-1, TAG_A, &moment, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
    CHECK(check_now() - began >= 0.05);
    value = 7;
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_B, &value, 1, PVM_INT), 0);
    CHECK_EQ(pvm_tprecv(-1, TAG_A, &none, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
    CHECK_EQ(pvm_tprecv(-1, TAG_B, &none, &value, 1, PVM_INT, NULL, NULL, NULL), 1);
    CHECK_EQ(value, 7);
    CHECK_EQ(pvm_psend(pvm_mytid(), TAG_B, &value, 1, PVM_INT), 0);
    CHECK_EQ(pvm_tprecv(-1, TAG_B, NULL, &value, 1, PVM_INT, NULL, NULL, NULL), 1); /* no limit */
    CHECK_EQ(pvm_tprecv(-1, TAG_B, &none, &value, -1, PVM_INT, NULL, NULL, NULL), PvmBadParam);

    check_spawn("sender", NULL, NULL, 1, &tid);
    for (int i = 0; i < LARGE; i++) {
        memset(in, 0, sizeof in);
        while ((rc = pvm_tprecv(tid, TAG_A, &tiny, in, sizeof in, PVM_BYTE, NULL, NULL, &length)) == 0)
            CHECK(in[0] == 0 && in[sizeof in - 1] == 0);
        CHECK_EQ(rc, 1);
        CHECK_EQ(length, (int)sizeof in);
        CHECK(check_same(in, sizeof in, (unsigned)i));
    }
}

static void sender(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int i = 0; i < LARGE; i++) {
        check_fill(out, sizeof out, (unsigned)i);
        CHECK_EQ(pvm_psend(pvm_parent(), TAG_A, out, sizeof out, PVM_BYTE), 0);
    }
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    for (int type = PVM_BYTE; type <= PVM_ULONG; type++)
        check_type(type);
    check_sizes();
    check_refused();
    check_mixed();
    check_limits();
}

int main(int argc, char **argv)
{
    static const struct check_role roles[] = {{"sender", sender}, {NULL, NULL}};
    return check_main(argc, argv, master, roles);
}
