/* types - every type in every encoding goes to another task and back, unchanged: types [HOSTS]. */
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_BACK, TAG_END, N = 1000, STRIDE = 3 };

/* Values of each type; `seen` holds those that came back. Filled with extremes first, then with arbitrary values. */
struct values {
    char bytes[N * STRIDE];
    short shorts[N * STRIDE];
    int ints[N * STRIDE];
    long longs[N * STRIDE];
    unsigned short ushorts[N * STRIDE];
    unsigned uints[N * STRIDE];
    unsigned long ulongs[N * STRIDE];
    float floats[N * STRIDE], cplx[2 * N * STRIDE];
    double doubles[N * STRIDE], dcplx[2 * N * STRIDE];
};

static struct values sent, seen;

static void fill(struct values *v)
{
    check_fill(v, offsetof(struct values, floats), 7);
    for (int i = 0; i < 2 * N * STRIDE; i++) {
        v->cplx[i] = i * 0.37f;
        v->dcplx[i] = i * 1e-100;
    }
    for (int i = 0; i < N * STRIDE; i++) {
        v->floats[i] = i % 2 ? i * 1e20f : -i / 3.0f;
        v->doubles[i] = i % 2 ? i * 1e200 : -i / 3.0;
    }
    v->shorts[0] = SHRT_MIN, v->ints[0] = INT_MIN, v->longs[0] = LONG_MIN;
    v->ushorts[0] = USHRT_MAX, v->uints[0] = UINT_MAX, v->ulongs[0] = ULONG_MAX;
    v->floats[0] = FLT_MIN, v->doubles[0] = DBL_MAX;
}

static void pack(struct values *v, int stride)
{
    CHECK_EQ(pvm_pkbyte(v->bytes, N, stride), 0);
    CHECK_EQ(pvm_pkshort(v->shorts, N, stride), 0);
    CHECK_EQ(pvm_pkint(v->ints, N, stride), 0);
    CHECK_EQ(pvm_pklong(v->longs, N, stride), 0);
    CHECK_EQ(pvm_pkushort(v->ushorts, N, stride), 0);
    CHECK_EQ(pvm_pkuint(v->uints, N, stride), 0);
    CHECK_EQ(pvm_pkulong(v->ulongs, N, stride), 0);
    CHECK_EQ(pvm_pkfloat(v->floats, N, stride), 0);
    CHECK_EQ(pvm_pkcplx(v->cplx, N, stride), 0);
    CHECK_EQ(pvm_pkdouble(v->doubles, N, stride), 0);
    CHECK_EQ(pvm_pkdcplx(v->dcplx, N, stride), 0);
}

static void unpack(struct values *v, int stride)
{
    CHECK_EQ(pvm_upkbyte(v->bytes, N, stride), 0);
    CHECK_EQ(pvm_upkshort(v->shorts, N, stride), 0);
    CHECK_EQ(pvm_upkint(v->ints, N, stride), 0);
    CHECK_EQ(pvm_upklong(v->longs, N, stride), 0);
    CHECK_EQ(pvm_upkushort(v->ushorts, N, stride), 0);
    CHECK_EQ(pvm_upkuint(v->uints, N, stride), 0);
    CHECK_EQ(pvm_upkulong(v->ulongs, N, stride), 0);
    CHECK_EQ(pvm_upkfloat(v->floats, N, stride), 0);
    CHECK_EQ(pvm_upkcplx(v->cplx, N, stride), 0);
    CHECK_EQ(pvm_upkdouble(v->doubles, N, stride), 0);
    CHECK_EQ(pvm_upkdcplx(v->dcplx, N, stride), 0);
}

/* Each element of `name` that a stride takes is what was sent, all others are untouched (zero). */
#define CHECK_ELEMENTS(name, parts)                                                                                    \
    for (int i = 0; i < N * STRIDE * (parts); i++) {                                                                   \
        int taken = i / (parts) % stride == 0 && i / (parts) < N * stride;                                             \
        if (taken ? seen.name[i] != sent.name[i] : seen.name[i] != 0)                                                  \
            check_failed(__FILE__, __LINE__, #name "[%d] is wrong, encoding %d, stride %d", i, encoding, stride);      \
    }

static void compare(int encoding, int stride)
{
    CHECK_ELEMENTS(bytes, 1)
    CHECK_ELEMENTS(shorts, 1)
    CHECK_ELEMENTS(ints, 1)
    CHECK_ELEMENTS(longs, 1)
    CHECK_ELEMENTS(ushorts, 1)
    CHECK_ELEMENTS(uints, 1)
    CHECK_ELEMENTS(ulongs, 1)
    CHECK_ELEMENTS(floats, 1)
    CHECK_ELEMENTS(cplx, 2)
    CHECK_ELEMENTS(doubles, 1)
    CHECK_ELEMENTS(dcplx, 2)
}

/* The partner unpacks and repacks in the same encoding and stride, which a separate message tells. */
static void partner(int argc, char **argv)
{
    (void)argc, (void)argv;
    int how[2];
    for (;;) {
        check_receive(pvm_parent(), -1);
        int tag;
        CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), NULL, &tag, NULL), 0);
        if (tag == TAG_END)
            return;
        CHECK_EQ(pvm_upkint(how, 2, 1), 0);
        memset(&seen, 0, sizeof seen);
        check_receive(pvm_parent(), TAG_DATA);
        unpack(&seen, how[1]);
        CHECK(pvm_initsend(how[0]) > 0);
        pack(&seen, how[1]);
        CHECK_EQ(pvm_send(pvm_parent(), TAG_BACK), 0);
    }
}

static void check_round_trip(int tid, int encoding, int stride)
{
    int how[2] = {encoding, stride};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(how, 2, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_BACK), 0);
    CHECK(pvm_initsend(encoding) > 0);
    pack(&sent, stride);
    CHECK_EQ(pvm_send(tid, TAG_DATA), 0);
    check_receive(tid, TAG_BACK);
    memset(&seen, 0, sizeof seen);
    unpack(&seen, stride);
    compare(encoding, stride);
    char more;
    CHECK_EQ(pvm_upkbyte(&more, 1, 1), PvmNoData);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tid;
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    check_spawn("partner", NULL, check_host_name(hosts - 1), 1, &tid);
    fill(&sent);
    check_round_trip(tid, PvmDataDefault, 1);
    check_round_trip(tid, PvmDataDefault, STRIDE);
    check_round_trip(tid, PvmDataRaw, 1);
    check_round_trip(tid, PvmDataRaw, 2);
    check_round_trip(tid, PvmDataInPlace, 1);
    check_send_int(tid, TAG_END, 0);
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"partner", partner}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
