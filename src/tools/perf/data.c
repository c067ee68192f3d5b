/* data.c - sends and receives messages in each encoding, with contents that can be verified. */
#include "data.h"
#include <stdlib.h>
#include <string.h>
#include "pvm3.h"
#include "member.h"

const char *const encoding_names[ENCODING_COUNT] = {"default", "raw", "inplace", "psend"};

static const int pvm_encodings[ENCODING_COUNT] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace, PvmDataRaw};

static char *out, *in;
static double verified;

/* ---- contents ---- */

static uint64_t seed_of(const struct member *m, int rank, int number)
{
    return ((uint64_t)(unsigned)m->job.serial << 40) ^ ((uint64_t)(unsigned)rank << 28) ^ (unsigned)number;
}

/* A 64-bit hash of seed and index. */
static uint64_t word_at(uint64_t seed, size_t index)
{
    uint64_t x = (seed + index) * 0x9e3779b97f4a7c15u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static void fill(char *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = word_at(seed, i);
        memcpy(data + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

/* Offset of the first word that differs from fill(), or -1. */
static long difference(const char *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = word_at(seed, i);
        if (memcmp(data + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word) != 0)
            return (long)i;
    }
    return -1;
}

static void check(const struct member *m, int rank, int number, int length)
{
    if (length != m->point.bytes)
        member_fail("message %d from rank %d has %d bytes, not %d", number, rank, length, m->point.bytes);
    long place = difference(in, (size_t)length, seed_of(m, rank, number));
    if (place >= 0)
        member_fail("message %d of %d bytes from rank %d is corrupt or out of order at byte %ld", number, length, rank,
                    place);
    verified++;
}

/* ---- memory ---- */

static char *get_memory(size_t bytes)
{
    char *data = malloc(bytes + 1);
    if (!data)
        member_fail("out of memory for messages of %zu bytes: choose smaller --sizes", bytes);
    memset(data, 1, bytes + 1); /* fault in all pages before measuring */
    return data;
}

void data_open(const struct member *m)
{
    out = get_memory((size_t)m->point.bytes);
    in = get_memory((size_t)m->point.bytes);
    verified = 0;
}

void data_close(void)
{
    free(out);
    free(in);
}

double data_verified(void)
{
    return verified;
}

/* ---- messages ---- */

static void pack(const struct member *m, int number)
{
    if (m->job.checked)
        fill(out, (size_t)m->point.bytes, seed_of(m, m->rank, number));
    if (m->point.encoding == ENCODING_PSEND)
        return;
    pvm_initsend(pvm_encodings[m->point.encoding]);
    member_must(pvm_pkbyte(out, m->point.bytes, 1), "pvm_pkbyte");
}

void data_send(const struct member *m, int rank, int number)
{
    pack(m, number);
    if (m->point.encoding == ENCODING_PSEND)
        member_must(pvm_psend(m->tids[rank], TAG_DATA, out, m->point.bytes, PVM_BYTE), "pvm_psend");
    else
        member_must(pvm_send(m->tids[rank], TAG_DATA), "pvm_send");
}

void data_mcast(const struct member *m, int number)
{
    pack(m, number);
    member_must(pvm_mcast((int *)m->tids + 1, m->count - 1, TAG_DATA), "pvm_mcast");
}

void data_receive(const struct member *m, int rank, int number)
{
    int length = m->point.bytes;
    if (m->point.encoding == ENCODING_PSEND) {
        member_must(pvm_precv(m->tids[rank], TAG_DATA, in, m->point.bytes, PVM_BYTE, NULL, NULL, &length), "pvm_precv");
    } else {
        int mid = member_must(pvm_recv(m->tids[rank], TAG_DATA), "pvm_recv");
        if (m->job.checked)
            pvm_bufinfo(mid, &length, NULL, NULL);
        member_must(pvm_upkbyte(in, m->point.bytes, 1), "pvm_upkbyte");
    }
    if (m->job.checked)
        check(m, rank, number, length);
}

void signal_send(int tid, int tag)
{
    pvm_initsend(PvmDataRaw);
    member_must(pvm_send(tid, tag), "pvm_send");
}

void signal_receive(int tid, int tag)
{
    member_must(pvm_recv(tid, tag), "pvm_recv");
}
