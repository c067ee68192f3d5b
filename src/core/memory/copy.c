/*
 * copy.c - see copy.h. A processor that writes to a cache line which a processor with another last-level cache has read
 * waits for it: 25 ns a line on an EPYC, ten times as long as the copy itself takes. Writes past the caches do not
 * wait. But where the two share a cache they cost twice the time, since the reader then reads from memory. Whether they
 * share one depends on where the system runs the two just then, so the first bytes of each piece are timed; a short
 * piece after a slow one goes past the caches at once.
 */
#include "copy.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LINE_BYTES    ((size_t)64)
#define PIECE_BYTES   ((size_t)256 << 10)
#define PROBE_BYTES   ((size_t)16 << 10)
#define PROBE_SLOW_NS 3000 /* 0.4 us in a shared cache, 1 us from memory, 7 us if another processor has the lines */
#define TIMED_BYTES   ((size_t)24 << 10)
#define PASSING_BYTES ((size_t)16 << 20)
#define PAGE_BYTES    ((size_t)4096)
#define STRING_BYTES  ((size_t)4096) /* the string instruction takes a while to get going */
#define TRIAL_BYTES   ((size_t)16 << 10)

enum { TRIALS = 3, TRIAL_COPIES = 4 };
enum { TRUSTED_FILLS = 16 }; /* whose way is that of the last one that was slow */

#ifdef __SSE2__ /* without it nothing is timed */
static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

/* ---- within the caches ---- */

static void copy_by_lines(void *to, const void *from, size_t length)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    for (; length >= LINE_BYTES; length -= LINE_BYTES, out += LINE_BYTES, in += LINE_BYTES)
        memcpy(out, in, LINE_BYTES);
    memcpy(out, in, length);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

static void copy_by_string(void *to, const void *from, size_t length)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
}

/* The least of some times, as the system may interrupt us. */
static int64_t trial_ns(void (*copy)(void *, const void *, size_t), uint8_t *to, const uint8_t *from)
{
    int64_t least_ns = INT64_MAX;
    for (int trial = 0; trial < TRIALS; trial++) {
        int64_t start = now_ns();
        for (int i = 0; i < TRIAL_COPIES; i++)
            copy(to, from, TRIAL_BYTES);
        int64_t ns = now_ns() - start;
        if (ns < least_ns)
            least_ns = ns;
    }
    return least_ns;
}

/* Whether the string instruction saves a tenth of the time, however the addresses differ. Takes some 50 us. */
static __attribute__((cold, noinline)) bool string_wins(void)
{
    static const uint8_t offsets[][2] = {{0, 16}, {16, 0}, {1, 0}, {40, 24}};
    const size_t half = TRIAL_BYTES + PAGE_BYTES;
    uint8_t *room = aligned_alloc(PAGE_BYTES, 2 * half);
    bool wins = room;
    if (room)
        memset(room, 0, 2 * half);
    for (size_t i = 0; wins && i < sizeof offsets / sizeof *offsets; i++) {
        uint8_t *to = room + offsets[i][0];
        const uint8_t *from = room + half + offsets[i][1];
        int64_t lines_ns = trial_ns(copy_by_lines, to, from);
        wins = trial_ns(copy_by_string, to, from) <= lines_ns - lines_ns / 10;
    }
    free(room);
    return wins;
}

static bool string_is_best(void)
{
    static enum { UNKNOWN, LINES, STRING } best;
    int way = __atomic_load_n(&best, __ATOMIC_RELAXED);
    if (__builtin_expect(way == UNKNOWN, 0)) {
        way = string_wins() ? STRING : LINES;
        __atomic_store_n(&best, way, __ATOMIC_RELAXED);
    }
    return way == STRING;
}

#else

#define copy_by_string copy_by_lines

static bool string_is_best(void)
{
    return false;
}

#endif

void pvmc_mem_copy(void *to, const void *from, size_t length)
{
    if (length >= STRING_BYTES && string_is_best())
        copy_by_string(to, from, length);
    else
        copy_by_lines(to, from, length);
}

/* ---- past the caches ---- */

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

static unsigned trusted; /* fills to come */

/* Whether a fill that was slow lately saves looking. */
static bool was_slow(void)
{
    unsigned left = __atomic_load_n(&trusted, __ATOMIC_RELAXED);
    if (left)
        __atomic_store_n(&trusted, left - 1, __ATOMIC_RELAXED);
    return left;
}

/* Copies the first bytes of a piece. */
static bool probe_is_slow(uint8_t *out, const uint8_t *in)
{
    string_is_best(); /* not within the time */
    int64_t start = now_ns();
    pvmc_mem_copy(out, in, PROBE_BYTES);
    if (now_ns() - start <= PROBE_SLOW_NS)
        return false;
    __atomic_store_n(&trusted, TRUSTED_FILLS, __ATOMIC_RELAXED);
    return true;
}

void pvmc_mem_fill(void *to, const void *from, size_t length)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    bool slow = length >= PASSING_BYTES || (length >= TIMED_BYTES && length < PIECE_BYTES && was_slow());
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
