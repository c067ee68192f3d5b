/* pcap.c - see pcap.h. */
#include "pcap.h"
#include <string.h>

enum { PCAP_HEADER = 24, RECORD_HEADER = 16, ERF_HEADER = 16, CELL_HEADER = 4, LINKTYPE_ERF = 197, SNAPLEN = 65535 };

#define MAGIC_NS UINT32_C(0xa1b23c4d)

static void put_le(uint8_t *to, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void put_be(uint8_t *to, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

void pvma_pcap_begin(FILE *file)
{
    uint8_t header[PCAP_HEADER] = {0};
    put_le(header, 4, MAGIC_NS);
    put_le(header + 4, 2, 2); /* version 2.4 */
    put_le(header + 6, 2, 4);
    put_le(header + 16, 4, SNAPLEN);
    put_le(header + 20, 4, LINKTYPE_ERF);
    fwrite(header, sizeof header, 1, file);
}

/* Seconds in units of 2^-32, rounded up, because readers convert them to nanoseconds by rounding down. */
static uint64_t erf_time(uint64_t ns)
{
    uint64_t fraction = ns % 1000000000;
    return ns / 1000000000 << 32 | ((fraction << 32) + 999999999) / 1000000000;
}

void pvma_pcap_record(FILE *file, enum pvma_pcap_type type, unsigned interface, pvma_ps at, uint32_t cell_header,
                      const uint8_t *frame, size_t length)
{
    uint8_t header[RECORD_HEADER + ERF_HEADER + CELL_HEADER] = {0}, *erf = header + RECORD_HEADER;
    size_t kept = length < PVMA_PCAP_FRAME_MAX ? length : PVMA_PCAP_FRAME_MAX;
    uint64_t ns = (uint64_t)(at + PVMA_NS / 2) / PVMA_NS;
    put_le(header, 4, ns / 1000000000);
    put_le(header + 4, 4, ns % 1000000000);
    put_le(header + 8, 4, ERF_HEADER + CELL_HEADER + kept);
    put_le(header + 12, 4, ERF_HEADER + CELL_HEADER + length);
    put_le(erf, 8, erf_time(ns));
    erf[8] = (uint8_t)type;
    erf[9] = (uint8_t)(4 | (interface & 3)); /* records have various lengths */
    put_be(erf + 10, 2, ERF_HEADER + CELL_HEADER + kept);
    put_be(erf + 14, 2, CELL_HEADER + kept);
    put_be(erf + ERF_HEADER, 4, cell_header);
    fwrite(header, sizeof header, 1, file);
    fwrite(frame, kept, 1, file);
}
