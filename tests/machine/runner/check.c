#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>
#include "check.h"

static char own_path[4096];

int check_main(int argc, char **argv, void (*master)(int argc, char **argv), const struct check_role *roles)
{
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    CHECK(length > 0);
    setvbuf(stdout, NULL, _IOLBF, 0);

    const struct check_role *role = roles;
    while (role && role->name && (argc < 2 || strcmp(role->name, argv[1]) != 0))
        role++;
    if (role && role->name)
        role->run(argc - 1, argv + 1);
    else
        master(argc, argv);
    pvm_exit();
    return 0;
}

const char *check_program(void)
{
    return own_path;
}

void check_failed(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int used = snprintf(text, sizeof text, "%s:%d: ", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
    vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    fprintf(stderr, "FAILED (pid %d, pvm_errno %d): %s\n", (int)getpid(), pvm_errno, text);
    const char *path = getenv("CHECK_FAILED");
    FILE *notes = path ? fopen(path, "a") : NULL;
    if (notes) {
        fprintf(notes, "pid %d: %s (pvm_errno %d)\n", (int)getpid(), text, pvm_errno);
        fclose(notes);
    }
    exit(1);
}

void check_skip(const char *why)
{
    printf("NOT RUN: %s\n", why);
    pvm_exit();
    exit(77);
}

int check_slowness(void)
{
    const char *text = getenv("CHECK_SLOWNESS");
    return text && atoi(text) > 0 ? atoi(text) : 1;
}

int check_limit_s(void)
{
    return 60 * check_slowness();
}

/* ---- tasks and messages ---- */

void check_spawn(const char *role, const char *argument, const char *host, int n, int *tids)
{
    char *argv[] = {(char *)role, (char *)argument, NULL};
    int started = pvm_spawn(own_path, argv, host ? PvmTaskHost : PvmTaskDefault, (char *)host, n, tids);
    if (started != n)
        check_failed(__FILE__, __LINE__, "%d of %d tasks started for \"%s\", first error %d", started, n, role,
                     started < 0 ? started : tids[started]);
}

int check_receive(int tid, int tag)
{
    struct timeval limit = {check_limit_s(), 0};
    int mid = pvm_trecv(tid, tag, &limit);
    if (mid <= 0)
        check_failed(__FILE__, __LINE__, "no message with tag %d from t%x in %d s (%d)", tag, tid, check_limit_s(),
                     mid);
    return mid;
}

int check_receive_int(int tid, int tag)
{
    int value;
    check_receive(tid, tag);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    return value;
}

void check_send_int(int tid, int tag, int value)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_send(tid, tag), 0);
}

void check_wait_exit(int n, int *tids)
{
    enum { TAG_EXIT = 0x7ffffff0 };
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, n, tids), 0);
    for (int i = 0; i < n; i++)
        check_receive(-1, TAG_EXIT);
}

void check_hosts(int n)
{
    int auto_err = pvm_setopt(PvmAutoErr, 0);
    for (int i = 1; i < n; i++) {
        char *name = (char *)check_host_name(i);
        int status = 0;
        if (pvm_mstat(name) == PvmOk)
            continue;
        int added = pvm_addhosts(&name, 1, &status);
        if (added != 1)
            check_failed(__FILE__, __LINE__, "host %s was not added: %d, status %d", name, added, status);
    }
    pvm_setopt(PvmAutoErr, auto_err);
}

const char *check_host_name(int index)
{
    static char names[16][64];
    static int next;
    char *name = names[next = (next + 1) % 16];
    if (getenv("CHECK_HOST")) { /* h1, h2, ... */
        snprintf(name, sizeof names[0], "%s%d", getenv("CHECK_HOST"), index + 1);
        return name;
    }
    if (index > 0) {
        snprintf(name, sizeof names[0], "127.0.0.%d", index + 1);
        return name;
    }
    struct pvmhostinfo *hosts;
    CHECK_EQ(pvm_config(NULL, NULL, &hosts), 0);
    snprintf(name, sizeof names[0], "%s", hosts[0].hi_name);
    return name;
}

/* ---- time and processes ---- */

double check_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

void check_sleep_ms(int ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

pid_t check_pid_of(int tid)
{
    struct pvmtaskinfo *tasks;
    int n;
    CHECK_EQ(pvm_tasks(tid, &n, &tasks), 0);
    CHECK_EQ(n, 1);
    return tasks[0].ti_pid;
}

/* The n-th field of /proc/PID/stat (3 is the state), or -1; the state as its character. */
static long stat_field(pid_t pid, int n)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char *got = fgets(line, sizeof line, file);
    fclose(file);
    char *at = got ? strrchr(line, ')') : NULL; /* field 2, the name, may hold anything */
    for (int field = 2; at && field < n; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return -1;
    return n == 3 ? at[1] : strtol(at + 1, NULL, 10);
}

int check_log_lines(const char *text)
{
    char path[4096], line[4096];
    int found = 0;
    snprintf(path, sizeof path, "%s/pvml.%u", getenv("PVM_TMP"), (unsigned)getuid());
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        found += strstr(line, text) != NULL;
    if (f)
        fclose(f);
    return found;
}

pid_t check_daemon_of(int tid)
{
    return (pid_t)stat_field(check_pid_of(tid), 4);
}

int check_alive(pid_t pid)
{
    long state = stat_field(pid, 3);
    return state != -1 && state != 'Z' && state != 'X';
}

long check_rss_kib(pid_t pid)
{
    long pages = stat_field(pid, 24);
    return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

long check_cpu_ms(pid_t pid)
{
    long user = stat_field(pid, 14), kernel = stat_field(pid, 15);
    return user < 0 ? -1 : (user + kernel) * 1000 / sysconf(_SC_CLK_TCK);
}

long check_available_mib(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %ld", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return kib / 1024;
}

/* ---- data ---- */

unsigned check_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Byte i of the data of a seed: mixed, so that shifted, swapped and foreign data is detected. */
static unsigned char byte_at(size_t i, unsigned seed)
{
    uint32_t x = (uint32_t)(i + 1) * 2654435761u + seed * 2246822519u;
    return (unsigned char)((x ^ x >> 15) >> 7);
}

void check_fill(void *data, size_t bytes, unsigned seed)
{
    unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        at[i] = byte_at(i, seed);
}

int check_same(const void *data, size_t bytes, unsigned seed)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte_at(i, seed))
            return 0;
    return 1;
}
