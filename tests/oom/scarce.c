/*
 * scarce.c - libscarce.so, see scarcity.h: the functions of malloc(3), in front of those of the C library or a
 * sanitizer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "scarcity.h"

#define EXPORT     __attribute__((visibility("default")))
#define OWN_FRAMES 2 /* of this file */

static struct scarcity *shared;
static __thread bool inside __attribute__((tls_model("initial-exec"))); /* functions that we call may allocate */

/* ---- the real functions ---- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} next;

static char early[65536]; /* for allocations of dlsym() before the real functions are known; never freed */
static size_t early_used;

static void *early_alloc(size_t bytes)
{
    void *block = early + early_used;
    early_used += (bytes + 15) & ~(size_t)15;
    return early_used <= sizeof early ? block : NULL;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static bool look_up(void)
{
    static bool looking;
    if (next.free || looking)
        return next.free;
    looking = true;
    *(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&next.free = dlsym(RTLD_NEXT, "free");
    return true;
}

/* ---- which allocations fail ---- */

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Relative to the frame's program or library, whose address differs between processes. */
static uintptr_t offset_of(void *frame)
{
    struct dl_find_object object;
    return (uintptr_t)frame - (_dl_find_object(frame, &object) ? 0 : (uintptr_t)object.dlfo_map_start);
}

static uint_fast64_t hash_of(void *const *frames, int count)
{
    uint_fast64_t hash = 14695981039346656037u;
    for (int i = 0; i < count; i++)
        hash = (hash ^ offset_of(frames[i])) * 1099511628211u;
    return hash ? hash : 1;
}

/* Records the point. False: it is already there, or there is no room. */
static bool is_new(uint_fast64_t point)
{
    for (unsigned tries = 0; tries < SCARCITY_POINTS_MAX; tries++) {
        uint_fast64_t there = 0;
        unsigned at = (unsigned)((point + tries) % SCARCITY_POINTS_MAX);
        if (atomic_compare_exchange_strong(&shared->points[at], &there, point))
            return true;
        if (there == point)
            return false;
    }
    return false;
}

static bool is_known(uint_fast64_t point)
{
    for (unsigned tries = 0; tries < SCARCITY_POINTS_MAX; tries++) {
        uint_fast64_t there = shared->points[(point + tries) % SCARCITY_POINTS_MAX];
        if (!there || there == point)
            return there;
    }
    return true;
}

static void describe(void *const *frames, int count)
{
    size_t used = 0;
    for (int i = 0; i < count && used < SCARCITY_TEXT_BYTES; i++) {
        Dl_info info = {0};
        dladdr(frames[i], &info);
        const char *object = info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
        used += (size_t)snprintf(shared->text + used, SCARCITY_TEXT_BYTES - used, "    %s+%#zx %s\n",
                                 object ? object + 1 : "?", (size_t)((char *)frames[i] - (char *)info.dli_fbase),
                                 info.dli_sname ? info.dli_sname : "");
    }
}

/* A sanitizer that runs out of memory itself ends the process, which says nothing about the program. */
static bool is_sanitizers(void *const *frames, int count)
{
    for (int i = 0; i < count; i++) {
        Dl_info info = {0};
        if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, "/liblsan"))
            return true;
    }
    return false;
}

static bool is_due(void)
{
    void *frames[SCARCITY_FRAMES + OWN_FRAMES];
    int count = backtrace(frames, SCARCITY_FRAMES + OWN_FRAMES) - OWN_FRAMES, armed = 1;
    uint_fast64_t point = hash_of(frames + OWN_FRAMES, count);
    if (is_known(point) || is_sanitizers(frames + OWN_FRAMES, count) ||
        !atomic_compare_exchange_strong(&shared->armed, &armed, 0) || !is_new(point))
        return false;
    describe(frames + OWN_FRAMES, count);
    if (shared->gone_ms)
        shared->gone_until_ms = now_ms() + shared->gone_ms;
    shared->failures++;
    return true;
}

__attribute__((noinline)) static bool fails(void)
{
    if (!shared || inside)
        return false;
    inside = true;
    bool failed = shared->gone_until_ms > now_ms() || (shared->armed && is_due());
    inside = false;
    if (!failed)
        return false;
    shared->refused++;
    errno = ENOMEM;
    return true;
}

/* ---- the functions ---- */

EXPORT void *malloc(size_t bytes)
{
    if (!look_up())
        return early_alloc(bytes);
    return fails() ? NULL : next.malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    if (!look_up())
        return early_alloc(count * bytes);
    return fails() ? NULL : next.calloc(count, bytes);
}

EXPORT void *realloc(void *block, size_t bytes)
{
    look_up();
    if (is_early(block)) {
        void *moved = next.malloc(bytes);
        return moved ? memcpy(moved, block, bytes)
                     : NULL; /* this may copy bytes after the block, which are in our memory, too */
    }
    return (bytes || !block) && fails() ? NULL : next.realloc(block, bytes);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    look_up();
    return fails() ? NULL : next.realloc(block, all);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    look_up();
    return fails() ? NULL : next.aligned_alloc(alignment, bytes);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    look_up();
    return fails() ? ENOMEM : next.posix_memalign(block, alignment, bytes);
}

EXPORT void free(void *block)
{
    look_up();
    if (!is_early(block))
        next.free(block);
}

/* ---- the program under test ---- */

static bool is_tested(void)
{
    char path[4096];
    const char *program = getenv(SCARCITY_PROGRAM), *name;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    name = strrchr(path, '/');
    return program && name && !strcmp(name + 1, program);
}

static void count_crash(int signal)
{
    shared->crashes++;
    raise(signal); /* by the default action, since the handler is reset */
}

static void watch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = count_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* Children of the program are not tested. */
__attribute__((constructor)) static void begin(void)
{
    void *frames[4];
    look_up();
    backtrace(frames, 4); /* loads the library that backtrace() needs */
    if (is_tested()) {
        shared = scarcity_map();
        unsetenv("LD_PRELOAD");
        watch_crashes();
    }
}

/* ---- settings of a preloaded LeakSanitizer ---- */

EXPORT const char *__lsan_default_options(void);
EXPORT const char *__lsan_default_options(void)
{
    return "exitcode=23:fast_unwind_on_malloc=0:print_suppressions=0";
}

/* The C library's setenv() and setlocale() leak a text when they cannot store its address. */
EXPORT const char *__lsan_default_suppressions(void);
EXPORT const char *__lsan_default_suppressions(void)
{
    return "leak:__add_to_environ\nleak:_nl_normalize_codeset\n";
}
