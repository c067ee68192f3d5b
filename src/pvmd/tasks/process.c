/* process.c - see process.h. The formats are those of proc(5). */
#include "process.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the start of a file as text. False: it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return false;
    text[n] = '\0';
    return true;
}

static uint64_t ticks_to_us(uint64_t ticks)
{
    return ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

bool pvmd_process_read(pid_t pid, struct pvmd_process *out)
{
    char path[64], text[1024];
    uint64_t user, system;
    long pages;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *rest = pid > 0 && read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL; /* end of its name */
    if (!rest || sscanf(rest,
                        ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                        " %*d %*d %*d %*d %*d %*d %*u %*u %ld",
                        &out->state, &user, &system, &pages) != 4)
        return false;
    out->cpu_us = ticks_to_us(user + system);
    out->memory_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* The number of KiB behind a name of /proc/meminfo, in bytes. */
static uint64_t memory(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) << 10 : 0;
}

struct pvmd_host_load pvmd_process_host(void)
{
    char text[2048];
    struct pvmd_host_load load = {.processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    double average;
    uint64_t user, nice, system;
    if (read_text("/proc/loadavg", text, sizeof text) && sscanf(text, "%lf", &average) == 1)
        load.load_milli = (uint32_t)(average * 1000);
    if (read_text("/proc/stat", text, sizeof text) &&
        sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64, &user, &nice, &system) == 3)
        load.busy_us = ticks_to_us(user + nice + system);
    if (read_text("/proc/meminfo", text, sizeof text)) {
        load.memory_bytes = memory(text, "MemTotal:");
        load.available_bytes = memory(text, "MemAvailable:");
    }
    return load;
}
