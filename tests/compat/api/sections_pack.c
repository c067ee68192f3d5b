/*
 * sections_pack.c - packing and unpacking: sizes, values, ends of messages, formats.
 */
#include <stdarg.h>
#include "probe.h"

int pvm_vpackf(const char *format, va_list arguments);
int pvm_vunpackf(const char *format, va_list arguments);

static const struct {
    int encoding;
    const char *name;
} encoding_table[] = {{PvmDataDefault, "default"}, {PvmDataRaw, "raw"}, {PvmDataInPlace, "inplace"}};

enum { ENCODINGS = sizeof encoding_table / sizeof *encoding_table };

static int send_length(void)
{
    int bytes = -1;

    pvm_bufinfo(pvm_getsbuf(), &bytes, NULL, NULL);
    return bytes;
}

/* The result and encoded size of one pack call in a new buffer. */
#define SIZE(call)                                                                                                     \
    do {                                                                                                               \
        pvm_initsend(encoding_table[k].encoding);                                                                      \
        int code = (call);                                                                                             \
        FACT("%s: %s = %d, %d bytes", encoding_table[k].name, #call, code, send_length());                             \
    } while (0)

static char bytes[64] = "abc";
static short shorts[4] = {-2, 32767, -32768, 1};
static int ints[4] = {-3, INT_MAX, INT_MIN, 1};
static long longs[4] = {-4, 2147483647L, -2147483648L, 1};
static unsigned short ushorts[4] = {65535, 0, 1, 2};
static unsigned uints[4] = {4294967295u, 0, 1, 2};
static unsigned long ulongs[4] = {4294967295ul, 0, 1, 2};
static float floats[8] = {1, -2.5, 3e38, 1e-38, 5, 6, 7, 8};
static double doubles[8] = {1, -2.5, 1e308, 1e-308, 5, 6, 7, 8};

static void sizes(void)
{
    probe_quiet();
    for (int k = 0; k < ENCODINGS; k++) {
        SIZE(pvm_pkbyte(bytes, 1, 1));
        SIZE(pvm_pkbyte(bytes, 4, 1));
        SIZE(pvm_pkbyte(bytes, 5, 1));
        SIZE(pvm_pkbyte(bytes, 3, 2));
        SIZE(pvm_pkbyte(bytes, 0, 1));
        SIZE(pvm_pkbyte(bytes, -1, 1));
        SIZE(pvm_pkbyte(bytes, 1, 0));
        SIZE(pvm_pkshort(shorts, 1, 1));
        SIZE(pvm_pkshort(shorts, 3, 1));
        SIZE(pvm_pkint(ints, 1, 1));
        SIZE(pvm_pkint(ints, 2, 2));
        SIZE(pvm_pkint(ints, 0, 1));
        SIZE(pvm_pkint(ints, -1, 1));
        SIZE(pvm_pklong(longs, 1, 1));
        SIZE(pvm_pkushort(ushorts, 1, 1));
        SIZE(pvm_pkuint(uints, 1, 1));
        SIZE(pvm_pkulong(ulongs, 1, 1));
        SIZE(pvm_pkfloat(floats, 1, 1));
        SIZE(pvm_pkdouble(doubles, 1, 1));
        SIZE(pvm_pkcplx(floats, 1, 1));
        SIZE(pvm_pkcplx(floats, 2, 2));
        SIZE(pvm_pkdcplx(doubles, 1, 1));
        SIZE(pvm_pkstr(""));
        SIZE(pvm_pkstr("abc"));
        SIZE(pvm_pkstr("abcd"));
        SIZE(pvm_packf("%d %s", 5, "text"));
        SIZE(pvm_packf("%*d", 3, ints));
    }
}

/* Packs with `pack`, sends to ourselves, unpacks with `unpack` into `out`; prints both results. */
#define TRIP(pack, unpack, out, format, n)                                                                             \
    do {                                                                                                               \
        memset(out, 0, sizeof out);                                                                                    \
        pvm_initsend(encoding_table[k].encoding);                                                                      \
        int code = (pack);                                                                                             \
        pvm_send(pvm_mytid(), 1);                                                                                      \
        pvm_recv(-1, 1);                                                                                               \
        int code2 = (unpack);                                                                                          \
        printf("  %s: %s = %d, %s = %d:", encoding_table[k].name, #pack, code, #unpack, code2);                        \
        for (int i = 0; i < (n); i++)                                                                                  \
            printf(" " format, out[i]);                                                                                \
        printf("\n");                                                                                                  \
    } while (0)

static void values(void)
{
    char b[64];
    short s[4];
    int i4[4];
    long l[4];
    unsigned short us[4];
    unsigned u[4];
    unsigned long ul[4];
    float f[8];
    double d[8];

    probe_quiet();
    for (int k = 0; k < ENCODINGS; k++) {
        TRIP(pvm_pkbyte(bytes, 4, 1), pvm_upkbyte(b, 4, 1), b, "%d", 5);
        TRIP(pvm_pkbyte(bytes, 4, 1), pvm_upkbyte(b, 4, 2), b, "%d", 8);
        TRIP(pvm_pkshort(shorts, 4, 1), pvm_upkshort(s, 4, 1), s, "%hd", 4);
        TRIP(pvm_pkint(ints, 4, 1), pvm_upkint(i4, 4, 1), i4, "%d", 4);
        TRIP(pvm_pkint(ints, 2, 1), pvm_upkint(i4, 2, 3), i4, "%d", 4);
        TRIP(pvm_pkint(ints, 2, 2), pvm_upkint(i4, 2, 1), i4, "%d", 4);
        TRIP(pvm_pklong(longs, 4, 1), pvm_upklong(l, 4, 1), l, "%ld", 4);
        TRIP(pvm_pkushort(ushorts, 4, 1), pvm_upkushort(us, 4, 1), us, "%hu", 4);
        TRIP(pvm_pkuint(uints, 4, 1), pvm_upkuint(u, 4, 1), u, "%u", 4);
        TRIP(pvm_pkulong(ulongs, 4, 1), pvm_upkulong(ul, 4, 1), ul, "%lu", 4);
        TRIP(pvm_pkfloat(floats, 4, 1), pvm_upkfloat(f, 4, 1), f, "%g", 4);
        TRIP(pvm_pkdouble(doubles, 4, 1), pvm_upkdouble(d, 4, 1), d, "%g", 4);
        TRIP(pvm_pkcplx(floats, 2, 2), pvm_upkcplx(f, 2, 2), f, "%g", 8);
        TRIP(pvm_pkdcplx(doubles, 2, 1), pvm_upkdcplx(d, 2, 1), d, "%g", 4);
        TRIP(pvm_pkstr("some text"), pvm_upkstr(b), b, "%d", 12);
    }
}

static void wide_longs(void)
{
    long l, wide[] = {1L << 40, -(1L << 40), LONG_MIN};
    unsigned long ul, uwide[] = {1ul << 40, ULONG_MAX};

    probe_quiet();
    for (int k = 0; k < ENCODINGS; k++) {
        for (int i = 0; i < 3; i++) {
            pvm_initsend(encoding_table[k].encoding);
            int code = pvm_pklong(wide + i, 1, 1);
            pvm_send(pvm_mytid(), 1);
            pvm_recv(-1, 1);
            int code2 = pvm_upklong(&l, 1, 1);
            FACT("%s: pvm_pklong(%ld) = %d, pvm_upklong = %d: %ld", encoding_table[k].name, wide[i], code, code2, l);
        }
        for (int i = 0; i < 2; i++) {
            pvm_initsend(encoding_table[k].encoding);
            int code = pvm_pkulong(uwide + i, 1, 1);
            pvm_send(pvm_mytid(), 1);
            pvm_recv(-1, 1);
            int code2 = pvm_upkulong(&ul, 1, 1);
            FACT("%s: pvm_pkulong(%lu) = %d, pvm_upkulong = %d: %lu", encoding_table[k].name, uwide[i], code, code2,
                 ul);
        }
    }
}

static void mixed(void)
{
    int i4 = 0;
    short s = 0;
    char b[8] = "", text[20] = "";
    double d = 0;
    unsigned short us = 0;
    long l = 0;

    probe_quiet();
    for (int k = 0; k < 2; k++) {
        FACT("%s", encoding_table[k].name);
        pvm_initsend(encoding_table[k].encoding);
        pvm_pkint(&(int){0x01020304}, 1, 1);
        pvm_pkshort(shorts, 1, 1);
        pvm_pkbyte("xyz", 3, 1);
        pvm_pkdouble(doubles, 1, 1);
        pvm_pkstr("hello");
        pvm_pkushort(ushorts, 1, 1);
        pvm_pklong(&(long){77}, 1, 1);
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvm_upkint(&i4, 1, 1));
        CALL(pvm_upkshort(&s, 1, 1));
        CALL(pvm_upkbyte(b, 3, 1));
        CALL(pvm_upkdouble(&d, 1, 1));
        CALL(pvm_upkstr(text));
        CALL(pvm_upkushort(&us, 1, 1));
        CALL(pvm_upklong(&l, 1, 1));
        FACT("0x%x %hd %s %g %s %hu %ld", i4, s, b, d, text, us, l);
        CALL(pvm_upkint(&i4, 1, 1));
    }
}

static void past_the_end(void)
{
    int i4[4] = {0};
    double d = 0;
    char text[64] = "", *allocated = NULL;

    probe_quiet();
    for (int k = 0; k < 2; k++) {
        FACT("%s", encoding_table[k].name);
        pvm_initsend(encoding_table[k].encoding);
        pvm_pkint(ints, 2, 1);
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvm_upkint(i4, 0, 1));
        CALL(pvm_upkint(i4, -1, 1));
        CALL(pvm_upkint(i4, 3, 1));
        CALL(pvm_upkint(i4, 1, 1));
        pvm_initsend(encoding_table[k].encoding);
        pvm_pkint(ints, 1, 1);
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvm_upkdouble(&d, 1, 1));
        CALL(pvm_upkint(i4, 1, 1));
        pvm_initsend(encoding_table[k].encoding);
        pvm_pkint(&(int){1000}, 1, 1); /* it would be the length of a string */
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvm_upkstr(text));
        pvm_initsend(encoding_table[k].encoding);
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvm_upkint(i4, 1, 1));
        CALL(pvm_upkstr(text));
        pvm_initsend(encoding_table[k].encoding);
        pvm_pkstr("to be allocated");
        pvm_send(pvm_mytid(), 1);
        pvm_recv(-1, 1);
        CALL(pvmupkstralloc(&allocated));
        FACT("%s", allocated ? allocated : "(null)");
    }
}

static void formats(void)
{
    int i4 = 0, many[5] = {1, 2, 3, 4, 5}, got[5] = {0};
    short h = 0;
    long l = 0;
    unsigned u = 0;
    float f = 0, z[4] = {0};
    double d = 0;
    char c = 0, text[20] = "";

    probe_quiet();
    ID(pvm_packf("%+", PvmDataRaw));
    ID(pvm_packf("%+ %d", PvmDataDefault, 1));
    CALL(pvm_packf("%d%s%lf%hd%c%2x%*d", 1, "hey", 2.0, 3, 'c', floats, 1, ints));
    CALL(pvm_packf("%ud %uhd %uld", 4294967295u, 65535, 4294967295ul));
    CALL(pvm_packf("%3d", many));
    CALL(pvm_packf("%2.2d", many));
    CALL(pvm_packf("%*.*d", 2, 4, many));
    CALL(pvm_packf("%f %lf", 1.5, 2.5));
    CALL(pvm_packf("%q", 1));
    CALL(pvm_packf("%"));
    CALL(pvm_packf("junk"));
    CALL(pvm_packf(""));
    CALL(pvm_packf("%+ %d", 9, 1));
    ID(pvm_initsend(PvmDataRaw));
    CALL(pvm_packf("%d %hd %ld %ud %f %lf %c %s %2x %3d", 1, 2, 3l, 4u, 5.5, 6.5, 'c', "text", floats, many));
    pvm_send(pvm_mytid(), 1);
    pvm_recv(-1, 1);
    CALL(pvm_unpackf("%d %hd %ld %ud %f %lf %c %s %2x %3d", &i4, &h, &l, &u, &f, &d, &c, text, z, got));
    FACT("%d %hd %ld %u %g %g %c %s %g %g %d %d %d", i4, h, l, u, f, d, c, text, z[0], z[3], got[0], got[1], got[2]);
    CALL(pvm_unpackf("%d", &i4));
    CALL(pvm_unpackf("%q", &i4));
    CALL(pvm_unpackf(""));
}

static int pack_by_list(const char *format, ...)
{
    va_list arguments;
    int code;

    va_start(arguments, format);
    code = pvm_vpackf(format, arguments);
    va_end(arguments);
    return code;
}

static int unpack_by_list(const char *format, ...)
{
    va_list arguments;
    int code;

    va_start(arguments, format);
    code = pvm_vunpackf(format, arguments);
    va_end(arguments);
    return code;
}

static void lists(void)
{
    int a = 0, b = 0;

    probe_quiet();
    pvm_initsend(PvmDataDefault);
    CALL(pack_by_list("%d %d", 3, 4));
    pvm_send(pvm_mytid(), 1);
    pvm_recv(-1, 1);
    CALL(unpack_by_list("%d %d", &a, &b));
    FACT("%d %d", a, b);
}

static void nested(void)
{
    int inner, outer, i4 = 0, before;

    probe_quiet();
    pvm_mytid();
    inner = pvm_mkbuf(PvmDataDefault);
    pvm_setsbuf(inner);
    pvm_pkint(&(int){42}, 1, 1);
    pvm_pkstr("inside");
    outer = pvm_initsend(PvmDataDefault);
    CALL(outer != inner);
    inner = pvm_mkbuf(PvmDataDefault);
    pvm_setsbuf(inner);
    pvm_pkint(&(int){42}, 1, 1);
    pvm_setsbuf(outer);
    CALL(pvm_pkmesg(inner));
    CALL(pvm_pkmesgbody(inner));
    CALL(pvm_pkmesg(99999));
    CALL(pvm_pkmesg(0));
    CALL(pvm_pkmesgbody(99999));
    CALL(pvm_send(pvm_mytid(), 3));
    ID(pvm_recv(-1, 3));
    before = pvm_getrbuf();
    ID(inner = pvm_upkmesg());
    CALL(pvm_getrbuf() == before);
    pvm_setrbuf(inner);
    CALL(pvm_upkint(&i4, 1, 1));
    FACT("%d", i4);
    CALL(pvm_upkint(&i4, 1, 1));
    pvm_setrbuf(before);
    CALL(pvm_upkint(&i4, 1, 1));
    FACT("%d", i4);
    CALL(pvm_upkmesg());
    pvm_setrbuf(0);
    CALL(pvm_upkmesg());
    pvm_setsbuf(0);
    CALL(pvm_pkmesg(inner));
}

/* In place: the data is read when it is sent, and a buffer may be sent twice. */
static void in_place(void)
{
    int value = 1, got = 0;

    probe_quiet();
    pvm_mytid();
    pvm_initsend(PvmDataInPlace);
    CALL(pvm_pkint(&value, 1, 1));
    value = 2;
    CALL(pvm_send(pvm_mytid(), 1));
    value = 3;
    CALL(pvm_send(pvm_mytid(), 1));
    for (int i = 0; i < 2; i++) {
        pvm_recv(-1, 1);
        pvm_upkint(&got, 1, 1);
        FACT("got %d", got);
    }
    CALL(pvm_pkstr("text"));
    CALL(pvm_pkint(ints, 2, 2));
    CALL(pvm_pkint(ints, 0, 1));
}

static void in_place_many(void)
{
    int values[40], got[40] = {0}, code = 0, sum = 0;

    probe_quiet();
    pvm_mytid();
    pvm_initsend(PvmDataInPlace);
    for (int i = 0; i < 40 && code == 0; i++) {
        values[i] = i;
        code = pvm_pkint(&values[i], 1, 1);
    }
    FACT("40 pieces: %d", code);
    CALL(pvm_send(pvm_mytid(), 1));
    ID(pvm_recv(-1, 1));
    CALL(pvm_upkint(got, 40, 1));
    for (int i = 0; i < 40; i++)
        sum += got[i];
    FACT("sum %d", sum);
}

const struct probe_section probe_pack_table[] = {
    {"sizes", sizes},
    {"values", values},
    {"wide-longs", wide_longs},
    {"mixed", mixed},
    {"past-the-end", past_the_end},
    {"formats", formats},
    {"lists", lists},
    {"nested", nested},
    {"in-place", in_place},
    {"in-place-many", in_place_many},
    {NULL, NULL},
};
