/* real.c - see real.h. */
#include "real.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/quantity.h"

enum { TIMELESS = 1000 };

static char own[PATH_MAX], programs[PATH_MAX];
static bool is_null;

/* ---- running ---- */

/* Reads what a shell command prints. Returns its status. */
static int read_command(const char *command, char *text, size_t size)
{
    fflush(NULL);
    FILE *f = popen(command, "r");
    if (!f)
        return -1;
    size_t n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    while (fgetc(f) != EOF)
        ;
    return pclose(f);
}

static bool find_own(void)
{
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool find_programs(const char *folder, char *why, size_t size)
{
    static const char *const names[] = {"echo",   "matmul", "pde", "molecules", "pde1", "pde2",
                                        "solver", "cg",     "ft",  "is",        "mg"};
    char path[PATH_MAX + 16];
    if (folder)
        snprintf(programs, sizeof programs, "%s", folder);
    else
        snprintf(programs, sizeof programs, "%.*s/examples", (int)(strrchr(own, '/') - own), own);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", programs, names[i]);
        if (access(path, X_OK) == 0)
            continue;
        snprintf(why, size, "there is no %s: compile dpvm's examples, and name their folder with --programs=DIR", path);
        return false;
    }
    return true;
}

bool real_begin(const char *folder, char *why, size_t size)
{
    char command[2 * PATH_MAX], text[64];
    if (!find_own() || !find_programs(folder, why, size))
        return false;
    snprintf(command, sizeof command, "'%s' machine -p ideal -n 1 true", own);
    if (read_command(command, text, sizeof text) == 0)
        return true;
    snprintf(why, size, "\"%s\" fails: its message is above", command);
    return false;
}

_Noreturn void real_fail(const char *command)
{
    fprintf(stderr, "atm-sim: reproduce: this program failed: %s\n", command);
    exit(EXIT_FAILURE);
}

bool real_is_null(void)
{
    return is_null;
}

void real_run_both(const struct real_experiment *experiment, struct report *report)
{
    report->by = REPORT_PROGRAM;
    is_null = true;
    experiment->run(report);
    report_null_programs(report);
    is_null = false;
    experiment->run(report);
}

/* What differs from the profile. */
static void write_profile(const struct real_setup *setup, int fd)
{
    const struct real_daemons *d = &setup->daemons;
    dprintf(fd, "profile own like=%s", setup->profile);
    if (setup->costs)
        dprintf(fd, " %s", setup->costs);
    if (d->packet_bytes)
        dprintf(fd, " pvmd_packet=%u", d->packet_bytes);
    if (d->fragment_us > 0 || d->byte_us > 0)
        dprintf(fd, " pvmd_fragment=%.0fns pvmd_byte=%.0fps", d->fragment_us * 1e3, d->byte_us * 1e6);
    dprintf(fd, "\n");
}

static void write_network(const struct real_setup *setup, int fd)
{
    int64_t rate_bps = 0;
    char rate[32];
    (void)pvma_rate_parse(setup->rate, &rate_bps);
    pvma_rate_format(rate_bps * (is_null ? TIMELESS : 1), rate, sizeof rate);
    write_profile(setup, fd);
    dprintf(fd, "host h[1-%u] profile=own\nswitch s model=%s%s\nlink h[1-%u] s rate=%s\n", setup->hosts, setup->model,
            is_null ? " latency=10ns" : "", setup->hosts, rate);
}

/* The topology has no name, so nothing is left of it, however this process ends. */
static int open_topology(void)
{
    int topology = memfd_create("topology", 0);
    if (topology < 0)
        real_fail("a file in memory");
    return topology;
}

static void run_on(int topology, const char *environment, const char *command, char *text, size_t size)
{
    char line[4 * PATH_MAX];
    snprintf(line, sizeof line, "%s '%s' machine -t /dev/fd/%d -c 0 '%s'/%s", environment, own, topology, programs,
             command);
    int status = read_command(line, text, size);
    close(topology);
    if (status)
        real_fail(line);
}

void real_run(const struct real_setup *setup, const char *command, char *text, size_t size)
{
    char environment[64];
    int topology = open_topology();
    write_network(setup, topology);
    snprintf(environment, sizeof environment, "PVM_ATM_CALL_COST=%.0fus", setup->call_us);
    run_on(topology, environment, command, text, size);
}

void real_run_on(const char *topology, const char *environment, const char *command, char *text, size_t size)
{
    int file = open_topology();
    dprintf(file, "%s", topology);
    run_on(file, environment, command, text, size);
}
