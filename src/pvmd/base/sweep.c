/* sweep.c - see sweep.h. */
#include "sweep.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/hash.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#define PAUSE_MIN_US 10000 /* between looks; doubles up to the maximum */
#define PAUSE_MAX_US 100000
#define KILL_US      2000000 /* for the kernel to end what was sent SIGKILL */

/* ---- the processes of this host ---- */

struct process {
    pid_t pid, parent;
    unsigned long long started; /* with the pid, it names a process for ever */
    bool is_sweeper, is_daemon, is_ours;
};

static struct {
    struct process *list; /* in order of their pids */
    size_t count, room;
} all;

/* False if it has ended. A main thread may end long before its process. */
static bool read_process(pid_t pid, struct process *p)
{
    char path[64], text[1024], state;
    long threads;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *name = strchr(text, '('), *at = strrchr(text, ')'); /* the name between may contain anything */
    *p = (struct process){.pid = pid};
    p->is_sweeper = name && !strncmp(name + 1, PVMD_SWEEPER_NAME ")", sizeof PVMD_SWEEPER_NAME);
    return at &&
           sscanf(at + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", /* proc(5) */
                  &state, &p->parent, &threads, &p->started) == 4 &&
           (!strchr("ZX", state) || threads > 1);
}

static struct process *new_process(void)
{
    if (all.count == all.room) {
        size_t room = all.room ? 2 * all.room : 1024;
        struct process *list = realloc(all.list, room * sizeof *list);
        if (!list)
            return NULL; /* the next look may find more memory */
        all.list = list;
        all.room = room;
    }
    return &all.list[all.count];
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void read_all(void)
{
    struct process *p;
    DIR *folder = opendir("/proc");
    all.count = 0;
    if (!folder)
        return;
    for (struct dirent *e; (e = readdir(folder)) && (p = new_process());)
        if (isdigit((unsigned char)*e->d_name) && read_process((pid_t)atoi(e->d_name), p))
            all.count++;
    closedir(folder);
    qsort(all.list, all.count, sizeof *all.list, by_pid);
}

static struct process *parent_of(const struct process *p)
{
    struct process key = {.pid = p->parent};
    return bsearch(&key, all.list, all.count, sizeof key, by_pid);
}

/* ---- those found ---- */

struct found {
    pid_t pid;
    unsigned long long started;
    bool is_foreign; /* another user's: we may not end it */
    UT_hash_handle hh;
};

static struct found *all_found;

static struct found *find(const struct process *p)
{
    struct found *f;
    HASH_FIND_INT(all_found, &p->pid, f);
    return f && f->started == p->started ? f : NULL;
}

/* NULL without memory. */
static struct found *remember(const struct process *p)
{
    struct found *f;
    HASH_FIND_INT(all_found, &p->pid, f);
    if (!f) {
        f = calloc(1, sizeof *f);
        if (!f)
            return NULL;
        f->pid = p->pid;
        if (!PVMC_HASH_ADD(hh, all_found, pid, f)) {
            free(f);
            return NULL;
        }
    }
    f->started = p->started;
    f->is_foreign = false;
    return f;
}

static void forget_all(void)
{
    struct found *f, *next;
    HASH_ITER (hh, all_found, f, next) {
        HASH_DEL(all_found, f);
        free(f);
    }
    free(all.list);
    memset(&all, 0, sizeof all);
}

/* ---- a look ---- */

static bool is_marked(pid_t pid, const char *socket_path)
{
    char path[64], *variable = NULL;
    size_t room = 0;
    bool has_socket = false, has_number = false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && getdelim(&variable, &room, '\0', f) > 0) {
        has_socket |= !strncmp(variable, "PVMSOCK=", 8) && !strcmp(variable + 8, socket_path);
        has_number |= !strncmp(variable, "PVMEPID=", 8) && strtoul(variable + 8, NULL, 10) > 0;
    }
    free(variable);
    if (f)
        fclose(f);
    return has_socket && has_number;
}

static enum pvmd_known known(const struct pvmd_sweep *s, pid_t pid, bool is_first)
{
    return is_first && s->known && pid < PVMD_PIDS_MAX ? s->known[pid] : PVMD_UNKNOWN; /* later, pids may be new */
}

/* Its sweeper is there before it can be ready. */
static void find_daemons(void)
{
    struct process *parent;
    for (size_t i = 0; i < all.count; i++)
        if (all.list[i].is_sweeper && (parent = parent_of(&all.list[i])))
            parent->is_daemon = true;
}

static bool may_be_ours(const struct process *p)
{
    return p->pid != getpid() && !p->is_daemon;
}

static void find_ours(const struct pvmd_sweep *s, bool is_first)
{
    bool more = true;
    find_daemons();
    for (size_t i = 0; i < all.count; i++) {
        struct process *p = &all.list[i];
        p->is_ours = may_be_ours(p) && (known(s, p->pid, is_first) || find(p) || is_marked(p->pid, s->socket_path));
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < all.count; i++) {
            struct process *p = &all.list[i];
            const struct process *parent = parent_of(p);
            if (!p->is_ours && may_be_ours(p) && parent && parent->is_ours)
                p->is_ours = more = true;
        }
    }
}

/* Valgrind complains of system calls that it does not know. */
static int open_process(pid_t pid)
{
    errno = ENOSYS;
    return RUNNING_ON_VALGRIND ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Returns 0 or an errno. The pid may belong to another process by now. */
static int send_signal(const struct process *p, int signal)
{
    struct process now;
    int fd = open_process(p->pid), error = 0;
    if (fd < 0 && errno == ENOSYS)
        return kill(p->pid, signal) ? errno : 0;
    if (fd < 0)
        return errno;
    if (!read_process(p->pid, &now) || now.started != p->started)
        error = ESRCH;
    else if (syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0))
        error = errno;
    close(fd);
    return error;
}

/* Tells it to end, if the daemon has not done so. A stopped process hears this only when it continues. */
static struct found *meet(const struct process *p, enum pvmd_known how)
{
    struct found *f = remember(p);
    int error = how == PVMD_TOLD ? 0 : send_signal(p, SIGTERM);
    send_signal(p, SIGCONT);
    if (f)
        f->is_foreign = error == EPERM;
    return f;
}

/* Returns the number of processes that are left and that we may end. */
static unsigned look(const struct pvmd_sweep *s, bool is_first, bool is_late)
{
    unsigned left = 0;
    read_all();
    find_ours(s, is_first);
    for (size_t i = 0; i < all.count; i++) {
        const struct process *p = &all.list[i];
        if (!p->is_ours)
            continue;
        const struct found *f = find(p);
        if (!f)
            f = meet(p, known(s, p->pid, is_first));
        if (f && f->is_foreign)
            continue;
        if (is_late)
            send_signal(p, SIGKILL);
        left++;
    }
    return left;
}

/* ---- a sweep ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

unsigned pvmd_sweep(const struct pvmd_sweep *s)
{
    int64_t start_us = pvmc_clock_us(), pause_us = PAUSE_MIN_US, age_us = 0;
    for (unsigned looks = 1;; looks++) {
        unsigned left = look(s, looks == 1, age_us >= s->grace_us);
        if ((!left && looks >= s->looks) || age_us > s->grace_us + KILL_US)
            break;
        usleep((useconds_t)(age_us < s->grace_us ? smaller(pause_us, s->grace_us - age_us) : pause_us));
        pause_us = smaller(2 * pause_us, PAUSE_MAX_US);
        age_us = pvmc_clock_us() - start_us;
    }
    unsigned count = HASH_COUNT(all_found);
    forget_all();
    return count;
}
