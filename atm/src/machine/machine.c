/* machine.c - see machine.h. */
#include "machine.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include "base/scratch.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/place/program.h"
#include "serve/serve.h"
#include "topology/topology.h"
#include "calibrate.h"
#include "preload.h"
#include "processes.h"

enum {
    HOSTS_PER_NET = 250, /* of the daemons' addresses 127.0.NET.HOST */
    END_MS = 10000,      /* for programs, daemons and the network to end by themselves */
    LINE_BYTES = 256,
};

struct machine {
    const struct pvma_machine_options *options;
    char folder[PATH_MAX]; /* for all files of network and daemons: PVM_TMP */
    char topology[PATH_MAX + 16], socket[PATH_MAX + 16];
    char **hosts; /* with a daemon each, in order */
    unsigned host_count;
    struct pvma_process network, daemon, console, command;
    int report_fd; /* what the network prints */
};

static int fail(const char *what)
{
    pvmc_log(PVMC_LOG_ERROR, "%s: %s", what, strerror(errno));
    return PVMC_ESYSTEM;
}

/* ---- the folder ---- */

static int make_folder(struct machine *m)
{
    if (!pvma_scratch_make("atm-sim-", m->folder, sizeof m->folder)) {
        int rc = fail(m->folder);
        m->folder[0] = '\0';
        return rc;
    }
    snprintf(m->socket, sizeof m->socket, "%s/network", m->folder);
    return 0;
}

/* ---- topology and hosts ---- */

/* Writes the star, or what is on standard input, for the network to read. */
static int write_topology(struct machine *m)
{
    char data[4096];
    size_t n;
    snprintf(m->topology, sizeof m->topology, "%s/topology", m->folder);
    FILE *f = fopen(m->topology, "we");
    if (!f)
        return fail(m->topology);
    if (m->options->topology)
        while ((n = fread(data, 1, sizeof data, stdin)))
            fwrite(data, 1, n, f);
    else
        pvma_star_write(&m->options->star, f);
    return fclose(f) ? fail(m->topology) : 0;
}

static void add_host(struct machine *m, const char *name)
{
    m->hosts = pvma_renew(m->hosts, (m->host_count + 1) * sizeof *m->hosts);
    m->hosts[m->host_count++] = pvma_copy_text(name);
}

/* The hosts of --at. */
static int choose_hosts(struct machine *m, const struct pvma_topology *t)
{
    char *list = pvma_copy_text(m->options->at), *rest = list, *name;
    int rc = 0;
    while (!rc && (name = strsep(&rest, ","))) {
        int node = pvma_topology_node(t, name);
        if (node < 0 || !t->nodes[node].is_host) {
            pvmc_log(PVMC_LOG_ERROR, "--at=%s: the network has no host \"%s\"", m->options->at, name);
            rc = PVMC_EPARAM;
        }
        add_host(m, name);
    }
    free(list);
    return rc;
}

static int find_hosts(struct machine *m)
{
    struct pvma_topology t;
    const char *file = m->options->topology;
    int rc = 0;
    if (file && strcmp(file, "-"))
        snprintf(m->topology, sizeof m->topology, "%s", file);
    else
        rc = write_topology(m);
    if (!rc)
        rc = pvma_topology_load(m->topology, &t);
    if (rc)
        return rc;
    for (size_t i = 0; i < t.node_count && !m->options->at; i++)
        if (t.nodes[i].is_host)
            add_host(m, t.nodes[i].name);
    if (m->options->at)
        rc = choose_hosts(m, &t);
    if (!rc && !m->host_count) {
        pvmc_log(PVMC_LOG_ERROR, "%s: a network without hosts", m->topology);
        rc = PVMC_EPARAM;
    }
    pvma_topology_free(&t);
    return rc;
}

/* The address of a host's daemon on this machine. */
static void address_of(unsigned host, char text[LINE_BYTES])
{
    snprintf(text, LINE_BYTES, "127.0.%u.%u", host / HOSTS_PER_NET, host % HOSTS_PER_NET + 1);
}

/* ---- environment ---- */

/* Programs such as pvm-perf are those of this installation. */
static void put_own_folder_first(void)
{
    char own[PATH_MAX] = "", *path, *slash;
    const char *old = getenv("PATH");
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0 || !(slash = strrchr(own, '/')))
        return;
    *slash = '\0';
    if (asprintf(&path, "%s%s%s", own, old ? ":" : "", old ? old : "") >= 0)
        setenv("PATH", path, 1);
    free(path);
}

/* The user's own machine must not be used, and a task's daemon is not that of its programs. */
static void set_environment(const struct machine *m)
{
    static const char *const foreign[] = {"PVMSOCK", "PVMEPID", "PVM_VMID", "PVM_PORT", "PVM_IP"};
    for (unsigned i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        unsetenv(foreign[i]);
    put_own_folder_first();
    setenv("PVM_TMP", m->folder, 1);
    setenv("PVM_ATM_SOCKET", m->socket, 1);
    setenv("PVM_ATM_HOST", m->hosts[0], 1);
    setenv("PVM_TRANSPORT", "atm", 1);
    if (m->options->cpu)
        setenv("PVM_ATM_CPU", m->options->cpu, 1);
}

/* ---- starting ---- */

/* Reads the line that a process prints when it is ready. */
static int await_line(const struct pvma_process *p, int fd, const char *who)
{
    char c = '\0';
    while (c != '\n') {
        pvma_processes_watch(fd, -1);
        if (pvma_processes_signal())
            return PVMC_EDOWN;
        ssize_t n = read(fd, &c, 1);
        if (n == 1 || (n < 0 && errno == EAGAIN && !p->ended))
            continue;
        pvmc_log(PVMC_LOG_ERROR, "%s did not start", who);
        return PVMC_EDOWN;
    }
    return 0;
}

static int start_network(struct machine *m)
{
    const struct pvma_machine_options *o = m->options;
    struct pvma_serve_options serve = {.topology = m->topology,
                                       .socket = m->socket,
                                       .is_virtual = true,
                                       .seed = o->seed,
                                       .wait_for = 1,
                                       .report = o->counters,
                                       .time = o->time,
                                       .deadlock_ends = true};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return fail("a pipe");
    pid_t pid = pvma_process_fork(&m->network, ends[1], true);
    if (!pid) {
        int code = pvma_serve(&serve);
        fflush(NULL);
        _exit(code);
    }
    close(ends[1]);
    m->report_fd = ends[0];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return pid < 0 ? PVMC_ESYSTEM : await_line(&m->network, ends[0], "the network");
}

static int find_program(const char *name, char path[PATH_MAX])
{
    int rc = pvmc_program_find(name, path, PATH_MAX);
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "%s is neither beside atm-sim nor in PATH: install PVM, or set PVM_ROOT", name);
    return rc;
}

static int start_daemon(struct machine *m)
{
    char path[PATH_MAX], address[LINE_BYTES], name[LINE_BYTES + 2];
    int ends[2], rc = find_program("pvmd3", path);
    if (rc)
        return rc;
    if (pipe2(ends, O_CLOEXEC))
        return fail("a pipe");
    address_of(0, address);
    snprintf(name, sizeof name, "-n%s", address);
    pid_t pid = pvma_process_fork(&m->daemon, ends[1], true);
    if (!pid) {
        execl(path, path, name, (char *)NULL);
        _exit(fail(path) ? EXIT_FAILURE : 0);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    rc = pid < 0 ? PVMC_ESYSTEM : await_line(&m->daemon, ends[0], "the daemon");
    close(ends[0]);
    return rc;
}

/* The console's command that adds all hosts but the first; the caller frees it. */
static char *add_command(const struct machine *m)
{
    char *text = NULL, address[LINE_BYTES];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "add");
    for (unsigned i = 1; i < m->host_count; i++) {
        address_of(i, address);
        fprintf(f, " \"%s at=%s so=local\"", address, m->hosts[i]);
    }
    fclose(f);
    return text;
}

static void copy(int from, int to)
{
    char data[4096];
    ssize_t n;
    while ((n = read(from, data, sizeof data)) > 0)
        if (write(to, data, (size_t)n) != n)
            return;
}

static int add_hosts(struct machine *m)
{
    char path[PATH_MAX], *command = add_command(m);
    int rc = find_program("pvm", path), out = memfd_create("hosts", MFD_CLOEXEC);
    if (rc || !command || out < 0)
        return rc ? rc : fail("adding hosts");
    if (!pvma_process_fork(&m->console, out, true)) {
        execl(path, path, "-a", "-c", command, (char *)NULL);
        _exit(fail(path) ? EXIT_FAILURE : 0);
    }
    if (!pvma_process_wait(&m->console, -1))
        rc = PVMC_EDOWN;
    else if (m->console.status) {
        lseek(out, 0, SEEK_SET);
        copy(out, STDERR_FILENO);
        pvmc_log(PVMC_LOG_ERROR, "the daemons of the other hosts did not start");
        rc = PVMC_EDOWN;
    }
    close(out);
    free(command);
    return rc;
}

static int start(struct machine *m)
{
    int rc = make_folder(m);
    if (!rc)
        rc = find_hosts(m);
    if (rc)
        return rc;
    set_environment(m);
    rc = start_network(m);
    if (!rc)
        rc = start_daemon(m);
    if (!rc && m->host_count > 1)
        rc = add_hosts(m);
    return rc;
}

/* ---- the program ---- */

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A program may halt the virtual machine. Any other end of the daemon, or of the network, is one that it suffers. */
static bool is_lost(const struct machine *m)
{
    return m->network.ended || (m->daemon.ended && m->daemon.status);
}

static int supervise(struct machine *m)
{
    while (!m->command.ended && !is_lost(m) && !pvma_processes_signal())
        pvma_processes_watch(-1, -1);
    if (m->command.ended)
        return code_of(m->command.status);
    if (pvma_processes_signal())
        return 128 + pvma_processes_signal();
    pvmc_log(PVMC_LOG_ERROR, "the %s ended before the program", m->network.ended ? "network" : "daemon");
    return PVMA_MACHINE_FAILED;
}

static int run(struct machine *m, char **argv)
{
    pid_t pid = pvma_process_fork(&m->command, -1, false);
    if (!pid)
        pvma_preload_exec(argv);
    return pid < 0 ? PVMA_MACHINE_FAILED : supervise(m);
}

/* ---- the end ---- */

/* Ends the network and passes on its report. */
static void end_network(struct machine *m)
{
    int64_t until_ns = pvmc_clock_real_ns() + END_MS * INT64_C(1000000);
    pvma_process_send(&m->network, SIGTERM);
    while (m->network.pid && !m->network.ended && pvmc_clock_real_ns() < until_ns) {
        pvma_processes_watch(m->report_fd, END_MS);
        copy(m->report_fd, STDOUT_FILENO);
    }
    copy(m->report_fd, STDOUT_FILENO);
    pvma_processes_kill(&m->command);
}

static void end(struct machine *m)
{
    int signal = pvma_processes_signal();
    if (m->command.pid && !m->command.ended) {
        pvma_process_send(&m->command, signal ? signal : SIGTERM);
        pvma_process_wait(&m->command, END_MS / 10);
    }
    pvma_process_send(&m->daemon, SIGTERM);
    if (m->daemon.pid)
        pvma_process_wait(&m->daemon, END_MS);
    pvma_processes_kill(&m->network);
    end_network(m);
    if (m->folder[0])
        pvma_scratch_remove(m->folder);
    for (unsigned i = 0; i < m->host_count; i++)
        free(m->hosts[i]);
    free(m->hosts);
}

static int supervised(const struct pvma_machine_options *options, char **argv)
{
    struct machine m = {.options = options, .report_fd = -1};
    if (pvma_processes_begin())
        return PVMA_MACHINE_FAILED;
    int code = PVMA_MACHINE_FAILED;
    if (!start(&m))
        code = run(&m, argv);
    else if (pvma_processes_signal())
        code = 128 + pvma_processes_signal();
    end(&m);
    return m.network.ended && m.network.status ? PVMA_MACHINE_FAILED : code;
}

int pvma_machine_run(const struct pvma_machine_options *options, char **argv)
{
    struct pvma_machine_options own = *options;
    char factor[32];
    int status = 0;
    if (own.calibrate && pvma_calibrate(own.calibrate, factor, sizeof factor))
        return PVMA_MACHINE_FAILED;
    if (own.calibrate)
        own.cpu = factor;
    pid_t pid = pvma_processes_front(&status);
    if (!pid) {
        int code = supervised(&own, argv);
        fflush(NULL);
        _exit(code);
    }
    return pid < 0 ? PVMA_MACHINE_FAILED : code_of(status);
}
