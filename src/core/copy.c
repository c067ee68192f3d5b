/*
 * copy.c - see copy.h. A processor that writes to a cache line which a processor with another last-level cache has read
 * waits for it: 25 ns a line on an EPYC, ten times as long as the copy itself takes. Writes past the caches do not
 * wait. But where the two share a cache they cost twice the time, since the reader then reads from memory. Whether they
 * share one depends on where the system runs the two just then, so the first bytes of each piece are timed.
 */
#include "copy.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LINE_BYTES    ((size_t)64)
#define PIECE_BYTES   ((size_t)256 << 10)
#define PROBE_BYTES   ((size_t)16 << 10)
#define PROBE_SLOW_NS 3000 /* 0.4 us in a shared cache, 1 us from memory, 7 us if another processor has the lines */
#define TIMED_BYTES   ((size_t)128 << 10)
#define PASSING_BYTES ((size_t)16 << 20)

void pvmc_mem_copy(void *to, const void *from, size_t length)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    for (; length >= LINE_BYTES; length -= LINE_BYTES, out += LINE_BYTES, in += LINE_BYTES)
        memcpy(out, in, LINE_BYTES);
    memcpy(out, in, length);
}

#if defined(__SSE2__)

static void copy_line_past(uint8_t *out, const uint8_t *in)
{
    for (size_t i = 0; i < LINE_BYTES; i += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(out + i), _mm_loadu_si128((const __m128i *)(const void *)(in + i)));
}

/* Copies past the caches. */
static void copy_past(uint8_t *out, const uint8_t *in, size_t length)
{
    size_t head = -(uintptr_t)out % LINE_BYTES;
    memcpy(out, in, head);
    for (out += head, in += head, length -= head; length >= LINE_BYTES; out += LINE_BYTES, in += LINE_BYTES) {
        copy_line_past(out, in);
        length -= LINE_BYTES;
    }
    _mm_sfence(); /* before the reader is told */
    memcpy(out, in, length);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool probe_is_slow(uint8_t *out, const uint8_t *in)
{
    int64_t start = now_ns();
    pvmc_mem_copy(out, in, PROBE_BYTES);
    return now_ns() - start > PROBE_SLOW_NS;
}

void pvmc_mem_fill(void *to, const void *from, size_t length)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    bool slow = length >= PASSING_BYTES;
    while (!slow && length >= TIMED_BYTES) {
        size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES, done = PROBE_BYTES;
        slow = probe_is_slow(out, in);
        if (!slow) {
            pvmc_mem_copy(out + done, in + done, piece - done);
            done = piece;
        }
        out += done;
        in += done;
        length -= done;
    }
    if (slow)
        copy_past(out, in, length);
    else
        pvmc_mem_copy(out, in, length);
}

#else

void pvmc_mem_fill(void *to, const void *from, size_t length)
{
    pvmc_mem_copy(to, from, length);
}

#endif
