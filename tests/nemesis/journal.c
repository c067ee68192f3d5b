/* journal.c - see load.h. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>
#include "load.h"
#include "tests/machine/runner/check.h"

enum { BEAT_US = 500000 };

static int fd = -1, parent, calls;
static int64_t beaten_us;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

void journal_open(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%x", folder, name, (unsigned)pvm_mytid());
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    parent = pvm_parent(); /* it is an error once the daemon is gone */
}

static void put(char kind, const char *format, va_list args)
{
    char line[256];
    int used = snprintf(line, sizeof line, "%c %lld ", kind, (long long)now_us());
    used += vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    line[used++] = '\n';
    CHECK_EQ(write(fd, line, (size_t)used), used);
}

void journal_invoke(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put('I', format, args);
    va_end(args);
}

void journal_return(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put('R', format, args);
    va_end(args);
    calls++;
}

void journal_beat(void)
{
    int64_t now = now_us();
    if (now - beaten_us < BEAT_US)
        return;
    beaten_us = now;
    check_send_int(parent, TAG_BEAT, calls);
}
