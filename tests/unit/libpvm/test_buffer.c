/* test_buffer.c - libpvm without a daemon: buffers, packing by format, nested messages, options. */
#include <limits.h>
#include <math.h>
#include "tests/unit/unit.h"
#include "pvm3.h"
#include "pvmtev.h"

extern int pvmstrtoi(char *), pvmputenv(char *), pvmupkstralloc(char **), lpvmerr(const char *, int);
extern char *pvmnametag(int, int *);

static int length(int mid)
{
    int len = -1;
    pvm_bufinfo(mid, &len, NULL, NULL);
    return len;
}

/* Unpacks what has been packed. */
static void turn_round(void)
{
    ck_assert_int_ge(pvm_setrbuf(pvm_getsbuf()), 0);
    ck_assert_int_eq(pvm_getsbuf(), 0);
}

static void quiet(void)
{
    pvm_setopt(PvmAutoErr, 0);
}

/* ---- buffers ---- */

START_TEST(numbers_are_small_and_used_again)
{
    quiet();
    int a = pvm_mkbuf(PvmDataDefault), b = pvm_mkbuf(PvmDataRaw), c = pvm_mkbuf(PvmDataInPlace);
    ck_assert(a > 0 && b > 0 && c > 0 && a < 100 && b < 100 && c < 100);
    ck_assert(a != b && b != c && a != c);
    ck_assert_int_eq(pvm_freebuf(b), 0);
    ck_assert_int_eq(pvm_freebuf(b), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_mkbuf(PvmDataTrace), b);
    int first = pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_getsbuf(), first);
    int second = pvm_initsend(PvmDataDefault); /* frees the first */
    ck_assert_int_eq(pvm_bufinfo(first, NULL, NULL, NULL), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_setsbuf(0), second);
    ck_assert_int_eq(pvm_getsbuf(), 0);
}
END_TEST

START_TEST(bad_numbers_have_their_codes)
{
    quiet();
    int value = 0;
    ck_assert_int_eq(pvm_initsend(3), PvmBadParam);
    ck_assert_int_eq(pvm_initsend(-1), PvmBadParam);
    ck_assert_int_eq(pvm_freebuf(0), 0);
    ck_assert_int_eq(pvm_freebuf(-1), PvmBadParam);
    ck_assert_int_eq(pvm_freebuf(99999), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_bufinfo(0, NULL, NULL, NULL), PvmBadParam);
    ck_assert_int_eq(pvm_bufinfo(99999, NULL, NULL, NULL), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_setsbuf(99999), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_setsbuf(-2), PvmBadParam);
    ck_assert_int_eq(pvm_setrbuf(99999), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_pkint(&value, 1, 1), PvmNoBuf);
    ck_assert_int_eq(pvm_upkint(&value, 1, 1), PvmNoBuf);
    ck_assert_int_eq(pvm_pkstr("x"), PvmNoBuf);
    ck_assert_int_eq(pvm_upkmesg(), PvmNoBuf);
    ck_assert_int_eq(pvm_errno, PvmNoBuf);
    ck_assert_str_eq(pvm_strerror(), "No current buffer");
    pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_pkint(&value, -1, 1), PvmBadParam);
    ck_assert_int_eq(pvm_pkint(NULL, 1, 1), PvmBadParam);
    ck_assert_int_eq(pvm_pkint(NULL, 0, 1), 0);
    ck_assert_int_eq(pvm_pkstr(NULL), PvmBadParam);
    turn_round();
    ck_assert_int_eq(pvm_upkstr(NULL), PvmBadParam);
    ck_assert_int_eq(pvm_upkint(&value, 1, 1), PvmNoData);
    ck_assert_int_eq(pvm_upkint(&value, 1, 1), PvmNoData);
}
END_TEST

START_TEST(a_buffer_is_active_on_one_side)
{
    quiet();
    int mid = pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_setrbuf(mid), 0);
    ck_assert_int_eq(pvm_getsbuf(), 0);
    ck_assert_int_eq(pvm_getrbuf(), mid);
    ck_assert_int_eq(pvm_setsbuf(mid), 0);
    ck_assert_int_eq(pvm_getrbuf(), 0);
    ck_assert_int_eq(pvm_freebuf(mid), 0);
    ck_assert_int_eq(pvm_getsbuf(), 0);
}
END_TEST

START_TEST(hundreds_of_thousands_of_buffers_live)
{
    quiet();
    enum { COUNT = 300000 };
    static int mids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        mids[i] = pvm_mkbuf(PvmDataDefault);
        ck_assert_int_gt(mids[i], 0);
        pvm_setsbuf(mids[i]);
        ck_assert_int_eq(pvm_pkint(&i, 1, 1), 0);
    }
    for (int i = 0; i < COUNT; i += 7) {
        int value = -1;
        pvm_setrbuf(mids[i]);
        ck_assert_int_eq(pvm_upkint(&value, 1, 1), 0);
        ck_assert_int_eq(value, i);
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(pvm_freebuf(mids[i]), 0);
}
END_TEST

/* ---- packing ---- */

START_TEST(all_types_come_back)
{
    quiet();
    char by[3] = "ab";
    short sh[2] = {-2, 3}, sh2[2];
    int in[2] = {INT_MIN, 7}, in2[2];
    long lo[2] = {LONG_MIN, 1L << 40}, lo2[2];
    unsigned short us = 65535, us2;
    unsigned ui = UINT_MAX, ui2;
    unsigned long ul = ULONG_MAX, ul2;
    float fl[4] = {1, -2, 3, 4}, fl2[4];
    double db[4] = {1e300, -2, 3, 4}, db2[4];
    char text[16];
    for (int enc = PvmDataDefault; enc <= PvmDataRaw; enc++) {
        int mid = pvm_initsend(enc);
        ck_assert_int_eq(pvm_pkbyte(by, 3, 1) | pvm_pkshort(sh, 2, 1) | pvm_pkint(in, 2, 1) | pvm_pklong(lo, 2, 1) |
                             pvm_pkushort(&us, 1, 1) | pvm_pkuint(&ui, 1, 1) | pvm_pkulong(&ul, 1, 1) |
                             pvm_pkfloat(fl, 4, 1) | pvm_pkdouble(db, 4, 1) | pvm_pkcplx(fl, 2, 1) |
                             pvm_pkdcplx(db, 2, 1) | pvm_pkstr("hello"),
                         0);
        ck_assert_int_eq(length(mid), 3 + 4 + 8 + 16 + 2 + 4 + 8 + 16 + 32 + 16 + 32 + 4 + 6);
        turn_round();
        memset(by, 0, 3);
        ck_assert_int_eq(pvm_upkbyte(by, 3, 1) | pvm_upkshort(sh2, 2, 1) | pvm_upkint(in2, 2, 1) |
                             pvm_upklong(lo2, 2, 1) | pvm_upkushort(&us2, 1, 1) | pvm_upkuint(&ui2, 1, 1) |
                             pvm_upkulong(&ul2, 1, 1) | pvm_upkfloat(fl2, 4, 1) | pvm_upkdouble(db2, 4, 1),
                         0);
        ck_assert_str_eq(by, "ab");
        ck_assert_mem_eq(sh, sh2, sizeof sh);
        ck_assert_mem_eq(in, in2, sizeof in);
        ck_assert_mem_eq(lo, lo2, sizeof lo);
        ck_assert(us == us2 && ui == ui2 && ul == ul2);
        ck_assert_mem_eq(fl, fl2, sizeof fl);
        ck_assert_mem_eq(db, db2, sizeof db);
        ck_assert_int_eq(pvm_upkcplx(fl2, 2, 1) | pvm_upkdcplx(db2, 2, 1) | pvm_upkstr(text), 0);
        ck_assert_mem_eq(fl, fl2, sizeof fl);
        ck_assert_mem_eq(db, db2, sizeof db);
        ck_assert_str_eq(text, "hello");
        ck_assert_int_eq(pvm_upkint(in2, 1, 1), PvmNoData);
    }
}
END_TEST

START_TEST(strides_count_items)
{
    quiet();
    int in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0};
    float fl[8] = {1, 2, 3, 4, 5, 6, 7, 8}, fl2[4];
    pvm_initsend(PvmDataDefault);
    ck_assert_int_eq(pvm_pkint(in, 3, 2), 0);
    ck_assert_int_eq(pvm_pkint(in + 5, 3, -2), 0);
    ck_assert_int_eq(pvm_pkcplx(fl, 2, 2), 0);
    turn_round();
    ck_assert_int_eq(pvm_upkint(out, 3, 2), 0);
    ck_assert(out[0] == 1 && out[1] == 0 && out[2] == 3 && out[4] == 5);
    ck_assert_int_eq(pvm_upkint(out, 3, 1), 0);
    ck_assert(out[0] == 6 && out[1] == 4 && out[2] == 2);
    ck_assert_int_eq(pvm_upkcplx(fl2, 2, 1), 0);
    ck_assert(fl2[0] == 1 && fl2[1] == 2 && fl2[2] == 5 && fl2[3] == 6);
}
END_TEST

START_TEST(in_place_takes_whole_arrays_only)
{
    quiet();
    int in[100];
    pvm_initsend(PvmDataInPlace);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(pvm_pkint(&in[99 - i], 1, 1), 0);
    ck_assert_int_eq(length(pvm_getsbuf()), 0);
    ck_assert_int_eq(pvm_pkint(in, 2, 2), PvmNotImpl);
    ck_assert_int_eq(pvm_pkstr("x"), PvmNotImpl);
    ck_assert_int_eq(pvm_packf("%d", 5), PvmNotImpl);
    ck_assert_int_eq(pvm_packf("%2d", in), 0);
}
END_TEST

START_TEST(strings_are_allocated_to_measure)
{
    quiet();
    char *text = NULL;
    pvm_initsend(PvmDataDefault);
    pvm_pkstr("some text");
    pvm_pkstr("");
    turn_round();
    ck_assert_int_eq(pvmupkstralloc(&text), 0);
    ck_assert_str_eq(text, "some text");
    free(text);
    ck_assert_int_eq(pvmupkstralloc(&text), 0);
    ck_assert_str_eq(text, "");
    free(text);
    ck_assert_int_eq(pvmupkstralloc(&text), PvmNoData);
    ck_assert_int_eq(pvmupkstralloc(NULL), PvmBadParam);
}
END_TEST

/* ---- formats ---- */

START_TEST(formats_pack_and_unpack)
{
    quiet();
    int array[4] = {1, 2, 3, 4}, i = 0, array2[4] = {0};
    long l = 0;
    short h = 0;
    unsigned u = 0;
    float f = 0, x[4] = {1, 2, 3, 4}, x2[4] = {0};
    double d = 0, z[2] = {5, 6}, z2[2];
    char c = 0, text[20];
    ck_assert_int_eq(
        pvm_packf("%+ %d %ld %hd %ud %f %lf %c %s", PvmDataRaw, -1, 1L << 40, -3, 4000000000u, 1.5, 2.5, 'c', "text"),
        0);
    ck_assert_int_eq(length(pvm_getsbuf()), 4 + 8 + 2 + 4 + 4 + 8 + 1 + 4 + 5);
    ck_assert_int_eq(pvm_packf("%2d %*d %2.2d %*.*d %2x %lx %.3d", array, 3, array, array, 2, 3, array, x, z, array),
                     0);
    turn_round();
    ck_assert_int_eq(pvm_unpackf("%d%ld%hd%ud%f%lf%c%s", &i, &l, &h, &u, &f, &d, &c, text), 0);
    ck_assert(i == -1 && l == 1L << 40 && h == -3 && u == 4000000000u && f == 1.5f && d == 2.5 && c == 'c');
    ck_assert_str_eq(text, "text");
    ck_assert_int_eq(pvm_unpackf("%2d", array2), 0);
    ck_assert(array2[0] == 1 && array2[1] == 2);
    ck_assert_int_eq(pvm_unpackf("%*d", 3, array2), 0);
    ck_assert(array2[2] == 3);
    ck_assert_int_eq(pvm_unpackf("%2d", array2), 0);
    ck_assert(array2[0] == 1 && array2[1] == 3);
    ck_assert_int_eq(pvm_unpackf("%2d", array2), 0);
    ck_assert(array2[0] == 1 && array2[1] == 4);
    ck_assert_int_eq(pvm_unpackf("%2x%lx%d", x2, z2, &i), 0);
    ck_assert_mem_eq(x, x2, sizeof x);
    ck_assert_mem_eq(z, z2, sizeof z);
    ck_assert_int_eq(i, 1);
    ck_assert_int_eq(pvm_unpackf("%d", &i), PvmNoData);
}
END_TEST

START_TEST(bad_formats_are_refused)
{
    quiet();
    ck_assert_int_eq(pvm_packf("%d", 1), PvmNoBuf);
    pvm_initsend(PvmDataDefault);
    const char *bad[] = {"%q", "%", "%%", "%u", "%l", "%.d", "%3", "%99999999999d", "%*"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(pvm_packf(bad[i], 1) == PvmBadParam, "%s", bad[i]);
    ck_assert_int_eq(pvm_packf(NULL), PvmBadParam);
    ck_assert_int_eq(pvm_packf(""), 0);
    ck_assert_int_eq(pvm_packf("abc"), 0);
    ck_assert_int_eq(length(pvm_getsbuf()), 0);
    ck_assert_int_eq(pvm_packf("%+", 77), PvmBadParam);
}
END_TEST

/* ---- nested messages ---- */

START_TEST(bodies_are_joined_if_they_are_alike)
{
    quiet();
    int in[3] = {1, 2, 3}, out[6];
    int a = pvm_mkbuf(PvmDataDefault), b = pvm_mkbuf(PvmDataDefault), raw = pvm_mkbuf(PvmDataRaw);
    pvm_setsbuf(a);
    pvm_pkint(in, 3, 1);
    ck_assert_int_eq(pvm_pkmesgbody(a), PvmBadParam);
    ck_assert_int_eq(pvm_pkmesg(a), PvmBadParam);
    ck_assert_int_eq(pvm_pkmesg(999), PvmNoSuchBuf);
    ck_assert_int_eq(pvm_pkmesg(0), PvmBadParam);
    pvm_setsbuf(b);
    ck_assert_int_eq(pvm_pkmesgbody(a), 0);
    ck_assert_int_eq(pvm_pkmesgbody(a), 0);
    ck_assert_int_eq(pvm_pkmesgbody(raw), PvmMismatch);
    turn_round();
    ck_assert_int_eq(pvm_upkint(out, 6, 1), 0);
    ck_assert(out[0] == 1 && out[5] == 3);
    pvm_setsbuf(0);
    ck_assert_int_eq(pvm_pkmesg(a), PvmNoBuf);
}
END_TEST

/* ---- options and environment ---- */

START_TEST(options_have_defaults_and_limits)
{
    quiet();
    ck_assert_int_eq(pvm_getopt(PvmRoute), PvmAllowDirect);
    ck_assert_int_eq(pvm_getopt(PvmFragSize), 4080);
    ck_assert_int_eq(pvm_getopt(PvmShowTids), 1);
    ck_assert_int_eq(pvm_setopt(PvmRoute, 9), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(PvmRoute, PvmRouteDirect), PvmAllowDirect);
    ck_assert_int_eq(pvm_getopt(PvmRoute), PvmRouteDirect);
    ck_assert_int_eq(pvm_setopt(PvmFragSize, 10), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(PvmFragSize, 52), 4080);
    ck_assert_int_eq(pvm_setopt(PvmFragSize, 1048577), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(PvmFragSize, 1048576), 52);
    ck_assert_int_eq(pvm_setopt(PvmPollType, 1), PvmNotImpl);
    ck_assert_int_eq(pvm_getopt(PvmPollType), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(PvmSelfOutputContext, 1), PvmNotImpl);
    ck_assert_int_eq(pvm_setopt(PvmTraceOptions, 7), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(PvmTraceBuffer, -1), 0);
    ck_assert_int_eq(pvm_setopt(PvmTraceBuffer, 0), -1);
    ck_assert_int_eq(pvm_setopt(0, 1), PvmBadParam);
    ck_assert_int_eq(pvm_setopt(26, 1), PvmBadParam);
    ck_assert_int_eq(pvm_getopt(-1), PvmBadParam);
}
END_TEST

START_TEST(exported_names_make_a_list)
{
    quiet();
    unsetenv("PVM_EXPORT");
    ck_assert_int_eq(pvm_export("A"), 0);
    ck_assert_int_eq(pvm_export("A"), 0);
    ck_assert_int_eq(pvm_export("BB"), 0);
    ck_assert_int_eq(pvm_export("B"), 0);
    ck_assert_int_eq(pvm_export(""), 0);
    ck_assert_str_eq(getenv("PVM_EXPORT"), "A:BB:B");
    ck_assert_int_eq(pvm_unexport("BB"), 0);
    ck_assert_str_eq(getenv("PVM_EXPORT"), "A:B");
    ck_assert_int_eq(pvm_unexport("ZZ"), 0);
    ck_assert_int_eq(pvm_unexport("B"), 0);
    ck_assert_int_eq(pvm_unexport("A"), 0);
    ck_assert_str_eq(getenv("PVM_EXPORT"), "");
    ck_assert_int_eq(pvm_export(NULL), PvmBadParam);
    ck_assert_int_eq(pvm_export("A=1"), PvmBadParam);
}
END_TEST

START_TEST(trace_masks_are_kept)
{
    quiet();
    Pvmtmask mask, same;
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_SEND);
    ck_assert_int_eq(pvm_settmask(PvmTaskChild, mask), 0);
    ck_assert_int_eq(pvm_gettmask(PvmTaskChild, same), 0);
    ck_assert_str_eq(mask, same);
    ck_assert_int_eq(pvm_gettmask(PvmTaskSelf, same), 0);
    ck_assert(!TEV_MASK_CHECK(same, TEV_SEND));
    ck_assert_int_eq(pvm_gettmask(2, same), PvmBadParam);
}
END_TEST

START_TEST(small_helpers_work)
{
    quiet();
    int found;
    ck_assert_int_eq(pvmstrtoi("12"), 12);
    ck_assert_int_eq(pvmstrtoi("0x1F"), 31);
    ck_assert_int_eq(pvmstrtoi("017"), 15);
    ck_assert_int_eq(pvmstrtoi("zz"), 0);
    ck_assert_int_eq(pvmputenv("DPVM_TEST=a=b"), 0);
    ck_assert_str_eq(getenv("DPVM_TEST"), "a=b");
    ck_assert_int_eq(pvmputenv("nothing"), -1);
    ck_assert_str_eq(pvmnametag((int)0x80010001, &found), "TM_CONNECT");
    ck_assert_int_eq(found, 1);
    ck_assert_str_eq(pvmnametag((int)0x8004000f, &found), "SM_STHOST");
    ck_assert_str_eq(pvmnametag(5, &found), "5");
    ck_assert_int_eq(found, 0);
    ck_assert_str_eq(pvm_version(), "3.4.6");
    ck_assert_int_eq(pvm_tidtohost(0x40007), 0x40000);
    ck_assert_int_eq(pvm_nerr, 37);
    ck_assert_str_eq(pvm_errlist[36], "Master Host IP Address is Loopback! (See pvm3/Readme)");
    ck_assert_int_eq(lpvmerr("x", PvmNoHost), PvmNoHost);
    ck_assert_str_eq(pvm_strerror(), "No such host");
}
END_TEST

UNIT_MAIN("buffer", numbers_are_small_and_used_again, bad_numbers_have_their_codes, a_buffer_is_active_on_one_side,
          hundreds_of_thousands_of_buffers_live, all_types_come_back, strides_count_items,
          in_place_takes_whole_arrays_only, strings_are_allocated_to_measure, formats_pack_and_unpack,
          bad_formats_are_refused, bodies_are_joined_if_they_are_alike, options_have_defaults_and_limits,
          exported_names_make_a_list, trace_masks_are_kept, small_helpers_work)
