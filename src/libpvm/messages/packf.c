/*
 * packf.c - pvm_packf and pvm_unpackf: items like %[count|*][.stride|.*][h|l][u](c|d|f|s|x), and %+ for pvm_initsend().
 *
 * Both walk the format in the same way and differ in what they do with an item. Packing takes single values by value,
 * as printf does, and everything with a count or stride by address; unpacking takes all by address.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "core/error.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "pack.h"
#include "libpvm/base/perror.h"

struct item {
    char kind; /* c d f s x + */
    bool is_short, is_long, is_unsigned;
    bool by_address; /* a count or stride was given */
    int count, stride;
};

struct arguments {
    va_list list;
};

/* ---- the format ---- */

/* A number in the format, or the next argument for '*'; -1 when it is too large. Advances *format. */
static int read_number(const char **format, struct arguments *args)
{
    if (**format == '*') {
        (*format)++;
        return va_arg(args->list, int);
    }
    char *end;
    long number = strtol(*format, &end, 10);
    *format = end;
    return number > INT_MAX ? -1 : (int)number;
}

static bool is_number(char c)
{
    return c == '*' || (c >= '0' && c <= '9');
}

static bool read_modifier(char c, struct item *item)
{
    switch (c) {
    case 'h':
        return item->is_short = true;
    case 'l':
        return item->is_long = true;
    case 'u':
        return item->is_unsigned = true;
    default:
        return false;
    }
}

/* Reads what follows a '%': 0 or PVMC_EPARAM. */
static int read_item(const char **format, struct arguments *args, struct item *item)
{
    *item = (struct item){.count = 1, .stride = 1};
    if (is_number(**format)) {
        item->by_address = true;
        item->count = read_number(format, args);
    }
    if (**format == '.') {
        (*format)++;
        if (!is_number(**format))
            return PVMC_EPARAM;
        item->by_address = true;
        item->stride = read_number(format, args);
    }
    while (read_modifier(**format, item))
        (*format)++;
    item->kind = **format;
    if (!item->kind)
        return PVMC_EPARAM;
    (*format)++;
    return 0;
}

/* The type of an item, or -1. */
static int type_of(const struct item *item)
{
    switch (item->kind) {
    case 'c':
        return PVM_BYTE;
    case 'd':
        if (item->is_short)
            return item->is_unsigned ? PVM_USHORT : PVM_SHORT;
        if (item->is_long)
            return item->is_unsigned ? PVM_ULONG : PVM_LONG;
        return item->is_unsigned ? PVM_UINT : PVM_INT;
    case 'f':
        return item->is_long ? PVM_DOUBLE : PVM_FLOAT;
    case 'x':
        return item->is_long ? PVM_DCPLX : PVM_CPLX;
    default:
        return -1;
    }
}

typedef int item_handler(const struct item *item, struct arguments *args);

/* Hands each item to `handle`; other characters of the format mean nothing. */
static int walk(const char *format, struct arguments *args, item_handler *handle)
{
    if (!format)
        return PVMC_EPARAM;
    int rc = 0;
    while (*format && !rc) {
        struct item item;
        if (*format++ != '%')
            continue;
        rc = read_item(&format, args, &item);
        if (!rc)
            rc = handle(&item, args);
    }
    return rc;
}

/* ---- packing ---- */

/* A single value, in the form in which C passes variable arguments. */
static int pack_value(struct pvmc_message *m, int type, struct arguments *args)
{
    union {
        char c;
        short s;
        int i;
        long l;
        float f;
        double d;
    } value;
    switch (type) {
    case PVM_BYTE:
        value.c = (char)va_arg(args->list, int);
        break;
    case PVM_SHORT:
    case PVM_USHORT:
        value.s = (short)va_arg(args->list, int);
        break;
    case PVM_INT:
    case PVM_UINT:
        value.i = va_arg(args->list, int);
        break;
    case PVM_LONG:
    case PVM_ULONG:
        value.l = va_arg(args->list, long);
        break;
    case PVM_FLOAT:
        value.f = (float)va_arg(args->list, double);
        break;
    default:
        value.d = va_arg(args->list, double);
        break;
    }
    if (pvmc_message_is_inplace(m))
        return PVMC_EUNSUPPORTED; /* a copy on our stack cannot be sent in place */
    return pvmi_pack(type, &value, 1, 1);
}

static int pack_item(const struct item *item, struct arguments *args)
{
    if (item->kind == '+') {
        int mid = pvm_initsend(va_arg(args->list, int));
        return mid < 0 ? mid : 0;
    }
    struct pvmc_message *m = pvmi_send_buffer.m;
    if (!m)
        return PvmNoBuf;
    int type = type_of(item);
    if (type < 0 && item->kind != 's')
        return PVMC_EPARAM;
    if (item->kind == 's')
        return pvmi_pack_string(va_arg(args->list, char *));
    if (!item->by_address && item->kind != 'x')
        return pack_value(m, type, args);
    return pvmi_pack(type, va_arg(args->list, void *), item->count, item->stride);
}

int pvm_vpackf(const char *format, va_list list)
{
    struct arguments args;
    PVMI_BEGIN(TEV_PACKF, PVMI_STRING(PF, format));
    va_copy(args.list, list);
    int rc = pvmi_return("pvm_packf", walk(format, &args, pack_item));
    va_end(args.list);
    PVMI_END(TEV_PACKF, PVMI_INT(CC, rc));
    return rc;
}

int pvm_packf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = pvm_vpackf(format, args);
    va_end(args);
    return rc;
}

/* ---- unpacking ---- */

static int unpack_item(const struct item *item, struct arguments *args)
{
    if (item->kind == '+') { /* part of the format that packed; nothing to do */
        (void)va_arg(args->list, int);
        return 0;
    }
    if (!pvmi_receive_buffer.m)
        return PvmNoBuf;
    int type = type_of(item);
    if (type < 0 && item->kind != 's')
        return PVMC_EPARAM;
    void *to = va_arg(args->list, void *);
    return item->kind == 's' ? pvmi_unpack_string(to) : pvmi_unpack(type, to, item->count, item->stride);
}

int pvm_vunpackf(const char *format, va_list list)
{
    struct arguments args;
    PVMI_BEGIN(TEV_UNPACKF, PVMI_STRING(PF, format));
    va_copy(args.list, list);
    int rc = pvmi_return("pvm_unpackf", walk(format, &args, unpack_item));
    va_end(args.list);
    PVMI_END(TEV_UNPACKF, PVMI_INT(CC, rc));
    return rc;
}

int pvm_unpackf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = pvm_vunpackf(format, args);
    va_end(args);
    return rc;
}
