/* ways.c - see ways.h. */
#include "ways.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"

enum { TAG_CASES = 1000, FRONT = 0x01020304, BACK = -5, STRIDE_PACKED = 3, STRIDE_UNPACKED = 2, GUARD = 0x5a };

const char *const way_names[WAYS] = {"default", "raw",   "inplace", "strided", "large", "psend",
                                     "psend-l", "packf", "forward", "mailbox", "mcast"};

const char *row_name(int row)
{
    return row < TYPES ? types[row].name : row == ROW_STRING ? "str" : "overflow";
}

int way_has(enum way way, int row)
{
    if (row < TYPES)
        return 1;
    if (row == ROW_STRING)
        return way != WAY_INPLACE && way != WAY_PSEND && way != WAY_PSEND_LARGE && way != WAY_STRIDED &&
               way != WAY_LARGE;
    return way != WAY_STRIDED && way != WAY_LARGE && way != WAY_PSEND_LARGE;
}

int way_tag(enum way way, int row)
{
    return TAG_CASES + (int)way * ROWS + row;
}

static int encoding_of(enum way way)
{
    return way == WAY_RAW || way == WAY_MAILBOX ? PvmDataRaw : way == WAY_INPLACE ? PvmDataInPlace : PvmDataDefault;
}

/* The number of items of a type that are sent. */
static int count_of(enum way way, const struct type *t)
{
    return way == WAY_LARGE || way == WAY_PSEND_LARGE ? VALUES_MANY : way == WAY_STRIDED ? 1000 : t->count;
}

/* ---- sending ---- */

/* The result of two calls in a row: the first error. */
static int first_of(int rc, int more)
{
    return rc < 0 ? rc : more;
}

static int pack_overflow(enum way way)
{
    if (way == WAY_PACKF)
        return pvm_packf("%*ld%*uld", WIDE, wide_longs, WIDE, wide_ulongs);
    int rc = pvm_pklong(wide_longs, WIDE, 1);
    return first_of(rc, pvm_pkulong(wide_ulongs, WIDE, 1));
}

static int pack_strings(enum way way)
{
    int rc = 0;
    for (int i = 0; i < STRINGS && rc >= 0; i++)
        rc = way == WAY_PACKF ? pvm_packf("%s", strings[i]) : pvm_pkstr(strings[i]);
    return rc;
}

static int pack_values(enum way way, const struct type *t)
{
    if (way == WAY_PACKF)
        return pvm_packf(t->format, t->count, t->many);
    return t->pack(t->many, count_of(way, t), way == WAY_STRIDED ? STRIDE_PACKED : 1);
}

/* A row is packed between two ints, so that a byte too many or too few is detected. */
static int pack_row(enum way way, int row)
{
    static int front = FRONT, back = BACK;
    int rc = pvm_initsend(encoding_of(way));
    rc = first_of(rc, pvm_pkint(&front, 1, 1));
    if (row < TYPES)
        rc = first_of(rc, pack_values(way, &types[row]));
    else
        rc = first_of(rc, row == ROW_STRING ? pack_strings(way) : pack_overflow(way));
    return first_of(rc, pvm_pkint(&back, 1, 1));
}

/* pvm_psend() takes one type only. */
static int psend_row(enum way way, int row, int to)
{
    int tag = way_tag(way, row);
    if (row == ROW_OVERFLOW)
        return pvm_psend(to, tag, wide_longs, WIDE, PVM_LONG);
    return pvm_psend(to, tag, types[row].many, count_of(way, &types[row]), types[row].number);
}

static char *entry_name(int row, int from, int to)
{
    static char name[64];
    snprintf(name, sizeof name, "mixed.%x.%x.%d", from, to, row);
    return name;
}

static int send_one(enum way way, int row, int to, int via)
{
    if (way == WAY_PSEND || way == WAY_PSEND_LARGE)
        return psend_row(way, row, to);
    int rc = pack_row(way, row);
    if (rc < 0)
        return rc;
    if (way == WAY_MAILBOX)
        return pvm_putinfo(entry_name(row, pvm_mytid(), to), pvm_getsbuf(), PvmMboxOverWritable);
    return pvm_send(way == WAY_FORWARD ? via : to, way_tag(way, row));
}

int way_send(enum way way, int row, int n, const int *receivers, const int *via)
{
    int rc = way == WAY_MCAST ? pack_row(way, row) : 0;
    if (way == WAY_MCAST)
        return first_of(rc, pvm_mcast((int *)receivers, n, way_tag(way, row)));
    for (int i = 0; i < n && rc >= 0; i++)
        rc = send_one(way, row, receivers[i], via[i]);
    return rc;
}

int way_forward(int row, int from, int to)
{
    int tag = way_tag(WAY_FORWARD, row), mid = pvm_recv(from, tag);
    int rc = first_of(mid, pvm_initsend(PvmDataDefault));
    rc = first_of(rc, pvm_pkmesg(mid));
    return first_of(rc, pvm_send(to, tag));
}

/* ---- receiving ---- */

static const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *wrong(const char *format, ...)
{
    static char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

/* Room for n items, filled with a pattern that unpacking must preserve between the items. */
static char *room_for(size_t bytes)
{
    char *room = malloc(bytes);
    if (!room)
        abort();
    memset(room, GUARD, bytes);
    return room;
}

static int untouched(const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != GUARD)
            return 0;
    return 1;
}

/* Checks that n items, one every `stride`, equal those sent, and that nothing else was written. */
static const char *compare(const struct type *t, const char *got, int n, int stride, int sent_stride)
{
    for (int i = 0; i < n; i++) {
        const char *item = got + (size_t)i * stride * t->bytes;
        const char *sent = (const char *)t->many + (size_t)i * sent_stride * t->bytes;
        if (memcmp(item, sent, t->bytes) != 0)
            return wrong("item %d of %d differs", i, n);
        if (!untouched(item + t->bytes, (stride - 1) * t->bytes))
            return wrong("something was written behind item %d", i);
    }
    return NULL;
}

static const char *unpack_values(enum way way, const struct type *t)
{
    int n = count_of(way, t), stride = way == WAY_STRIDED ? STRIDE_UNPACKED : 1;
    char *got = room_for((size_t)n * stride * t->bytes);
    int rc = way == WAY_PACKF ? pvm_unpackf(t->format, n, got) : t->unpack(got, n, stride);
    const char *fault =
        rc < 0 ? wrong("unpacking says %d", rc) : compare(t, got, n, stride, way == WAY_STRIDED ? STRIDE_PACKED : 1);
    free(got);
    return fault;
}

static const char *unpack_strings(enum way way)
{
    static char text[STRING_MAX + 1];
    for (int i = 0; i < STRINGS; i++) {
        memset(text, GUARD, sizeof text);
        int rc = way == WAY_PACKF ? pvm_unpackf("%s", text) : pvm_upkstr(text);
        if (rc < 0 || strcmp(text, strings[i]) != 0)
            return wrong("string %d: %d", i, rc);
    }
    return NULL;
}

/* Whether a sender with longs of this size sends values that do not fit here. */
static int overflows(int long_bytes)
{
    return long_bytes > (int)sizeof(long);
}

static const char *check_wide(int rc, const long *got, int long_bytes)
{
    const long narrow[WIDE] = {-7, 0x7fffffff, -0x7fffffff - 1, 8};
    if (!overflows(long_bytes)) {
        const long *sent = long_bytes == (int)sizeof(long) ? wide_longs : narrow;
        return rc < 0                                        ? wrong("unpacking says %d", rc)
               : memcmp(got, sent, WIDE * sizeof(long)) != 0 ? "values differ"
                                                             : NULL;
    }
    if (rc != PvmOverflow)
        return wrong("%d, not PvmOverflow", rc);
    if (memcmp(got, wide_longs, WIDE_FITTING * sizeof(long)) != 0)
        return "the values before the one that does not fit differ";
    return untouched((const char *)(got + WIDE_FITTING), (WIDE - WIDE_FITTING) * sizeof(long)) ? NULL
                                                                                               : "a value was cut";
}

static const char *check_wide_unsigned(int rc, const unsigned long *got, int long_bytes)
{
    const unsigned long narrow[WIDE] = {7, 0xfffffffe, 0xffffffff, 8};
    if (!overflows(long_bytes)) {
        const unsigned long *sent = long_bytes == (int)sizeof(long) ? wide_ulongs : narrow;
        return rc < 0                                        ? wrong("unpacking says %d", rc)
               : memcmp(got, sent, WIDE * sizeof(long)) != 0 ? "unsigned values differ"
                                                             : NULL;
    }
    return rc == PvmOverflow && got[0] == wide_ulongs[0] ? NULL : wrong("unsigned: %d, not PvmOverflow", rc);
}

/* PvmAutoErr is off: overflow is expected. */
static const char *unpack_overflow(enum way way, int long_bytes)
{
    long longs[WIDE];
    unsigned long ulongs[WIDE];
    memset(longs, GUARD, sizeof longs);
    memset(ulongs, GUARD, sizeof ulongs);
    int rc = way == WAY_PACKF ? pvm_unpackf("%*ld", WIDE, longs) : pvm_upklong(longs, WIDE, 1);
    const char *fault = check_wide(rc, longs, long_bytes);
    if (fault)
        return fault;
    rc = way == WAY_PACKF ? pvm_unpackf("%*uld", WIDE, ulongs) : pvm_upkulong(ulongs, WIDE, 1);
    return check_wide_unsigned(rc, ulongs, long_bytes);
}

static const char *check_int(int expected, const char *where)
{
    int value = 0, rc = pvm_upkint(&value, 1, 1);
    return rc < 0 || value != expected ? wrong("the int %s is 0x%x (%d)", where, (unsigned)value, rc) : NULL;
}

static const char *unpack_row(enum way way, int row, int long_bytes)
{
    char more;
    const char *fault = check_int(FRONT, "before");
    if (!fault)
        fault = row < TYPES         ? unpack_values(way, &types[row])
                : row == ROW_STRING ? unpack_strings(way)
                                    : unpack_overflow(way, long_bytes);
    if (!fault)
        fault = check_int(BACK, "behind");
    return fault ? fault : pvm_upkbyte(&more, 1, 1) == PvmNoData ? NULL : "the message is too long";
}

static const char *precv_values(enum way way, int row, int from)
{
    const struct type *t = &types[row];
    int n = count_of(way, t), src, tag, bytes;
    char *got = room_for((n + 1) * t->bytes);
    int rc = pvm_precv(from, way_tag(way, row), got, n + 1, t->number, &src, &tag, &bytes);
    const char *fault = NULL;
    if (rc < 0 || src != from || tag != way_tag(way, row) || (size_t)bytes != n * t->bytes)
        fault = wrong("pvm_precv says %d, %d of %zu bytes", rc, bytes, n * t->bytes);
    else
        fault = compare(t, got, n, 1, 1);
    if (!fault && !untouched(got + n * t->bytes, t->bytes))
        fault = "something was written behind the data";
    free(got);
    return fault;
}

static const char *precv_overflow(enum way way, int from, int long_bytes)
{
    long longs[WIDE];
    memset(longs, GUARD, sizeof longs);
    int rc = pvm_precv(from, way_tag(way, ROW_OVERFLOW), longs, WIDE, PVM_LONG, NULL, NULL, NULL);
    return check_wide(rc, longs, long_bytes);
}

static void make_current(int mid)
{
    int before = pvm_getrbuf();
    if (before == mid)
        return;
    pvm_setrbuf(mid);
    pvm_freebuf(before);
}

/* Makes the message of a row the active one. */
static const char *take(enum way way, int row, int from, int via)
{
    int rc, src = 0;
    if (way == WAY_MAILBOX)
        rc = pvm_recvinfo(entry_name(row, from, pvm_mytid()), 0, PvmMboxWaitForInfo | PvmMboxReadAndDelete);
    else
        rc = pvm_recv(way == WAY_FORWARD ? via : from, way_tag(way, row));
    if (rc < 0)
        return wrong("receiving says %d", rc);
    make_current(rc);
    if (way != WAY_FORWARD)
        return NULL;
    rc = pvm_upkmesg();
    if (rc < 0)
        return wrong("pvm_upkmesg says %d", rc);
    make_current(rc);
    return pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &src) < 0 || src != from ? wrong("the sender is t%x", src) : NULL;
}

const char *way_receive(enum way way, int row, int from, int via, int long_bytes)
{
    if (way == WAY_PSEND || way == WAY_PSEND_LARGE)
        return row < TYPES ? precv_values(way, row, from) : precv_overflow(way, from, long_bytes);
    const char *fault = take(way, row, from, via);
    return fault ? fault : unpack_row(way, row, long_bytes);
}
