/*
 * talk - a master in C whose worker is in Python: sends every type, and expects it back.
 *
 *   talk PYTHON SCRIPT
 */
#include <stdio.h>
#include <string.h>
#include "pvm3.h"

enum { N = 1000 };

struct values {
    int one, three[3];
    double real;
    char text[16], bytes[4];
    short shorts[2];
    long whole;
    float floats[2], cplx[2];
    double dcplx[4];
    unsigned short ushort;
    unsigned int uint;
    unsigned long ulong;
};

static int pack(struct values *v)
{
    return pvm_pkint(&v->one, 1, 1) | pvm_pkint(v->three, 3, 1) | pvm_pkdouble(&v->real, 1, 1) | pvm_pkstr(v->text) |
           pvm_pkbyte(v->bytes, 4, 1) | pvm_pkshort(v->shorts, 2, 1) | pvm_pklong(&v->whole, 1, 1) |
           pvm_pkfloat(v->floats, 2, 1) | pvm_pkcplx(v->cplx, 1, 1) | pvm_pkdcplx(v->dcplx, 2, 1) |
           pvm_pkushort(&v->ushort, 1, 1) | pvm_pkuint(&v->uint, 1, 1) | pvm_pkulong(&v->ulong, 1, 1);
}

static int unpack(struct values *v)
{
    return pvm_upkint(&v->one, 1, 1) | pvm_upkint(v->three, 3, 1) | pvm_upkdouble(&v->real, 1, 1) |
           pvm_upkstr(v->text) | pvm_upkbyte(v->bytes, 4, 1) | pvm_upkshort(v->shorts, 2, 1) |
           pvm_upklong(&v->whole, 1, 1) | pvm_upkfloat(v->floats, 2, 1) | pvm_upkcplx(v->cplx, 1, 1) |
           pvm_upkdcplx(v->dcplx, 2, 1) | pvm_upkushort(&v->ushort, 1, 1) | pvm_upkuint(&v->uint, 1, 1) |
           pvm_upkulong(&v->ulong, 1, 1);
}

static int exchange_values(int worker)
{
    struct values sent, got;
    memset(&sent, 0, sizeof sent);
    memset(&got, 0, sizeof got);
    sent = (struct values){.one = -1,
                           .three = {1, 2, 2147483647},
                           .real = 0.1,
                           .text = "gr\xc3\xbc\xc3\x9f dich",
                           .bytes = {0, -1, 2, 3},
                           .shorts = {-32768, 32767},
                           .whole = -9007199254740993,
                           .floats = {1.5f, -0.25f},
                           .cplx = {1, -2},
                           .dcplx = {0.1, 0.2, 0.3, 0.4},
                           .ushort = 65535,
                           .uint = 4294967295u,
                           .ulong = ~0ul};
    pvm_initsend(PvmDataDefault);
    if (pack(&sent) || pvm_send(worker, 1) || pvm_recv(worker, 2) < 0 || unpack(&got))
        return 1;
    return got.one != sent.one || memcmp(got.three, sent.three, sizeof got.three) || got.real != sent.real ||
           strcmp(got.text, sent.text) || memcmp(got.bytes, sent.bytes, 4) ||
           memcmp(got.shorts, sent.shorts, sizeof got.shorts) || got.whole != sent.whole ||
           memcmp(got.floats, sent.floats, sizeof got.floats) || memcmp(got.cplx, sent.cplx, sizeof got.cplx) ||
           memcmp(got.dcplx, sent.dcplx, sizeof got.dcplx) || got.ushort != sent.ushort || got.uint != sent.uint ||
           got.ulong != sent.ulong;
}

static int exchange_array(int worker)
{
    static double numbers[N], back[N];
    int length;
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    if (pvm_psend(worker, 3, numbers, N, PVM_DOUBLE) ||
        pvm_precv(worker, 4, back, N, PVM_DOUBLE, NULL, NULL, &length) || length != (int)sizeof back)
        return 1;
    for (int i = 0; i < N; i++)
        if (back[i] != i + 1)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int worker;
    if (argc != 3 || pvm_spawn(argv[1], argv + 2, PvmTaskDefault, NULL, 1, &worker) != 1)
        return 2;
    int values = exchange_values(worker), array = exchange_array(worker);
    printf("values %s, array %s\n", values ? "differ" : "same", array ? "differs" : "same");
    pvm_exit();
    return values || array;
}
