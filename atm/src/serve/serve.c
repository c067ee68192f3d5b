/* serve.c - see serve.h: the socket, the loop, and the two clocks. */
#include "serve.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "overlay/overlay.h"
#include "client.h"
#include "limits.h"
#include "local.h"
#include "route.h"

#define LISTEN_BACKLOG 512
#define HIDDEN         "~"                  /* suffix of the socket's path until listen() */
#define STEPS          256                  /* events simulated between polls of the programs */
#define HOLD_MS        100                  /* between checks of announced processes, and of those without a name */
#define EXPLAIN_NS     INT64_C(10000000000) /* see explain_ns() */
#define SLICE_NS       2000000              /* real clock: simulated at a time when the network is behind */

struct pvma_serve pvma_serving;

static struct {
    const struct pvma_serve_options *options;
    struct pvma_overlay *overlay; /* NULL: the topology has none */
    struct pvma_watch listener, signals;
    int listen_fd, signal_fd;
    int spare_fd; /* given up for a moment when there is no other */
    bool begun;   /* the options' `wait_for` clients have connected */
    bool over;
    bool failed;
    int64_t patience_ns;  /* with programs that hold time without using the processor */
    int64_t heard_ns;     /* real time of the last message */
    int64_t explained_ns; /* when the log last said what the network waits for */
    int64_t expelled_ns;  /* last inspection of clients that hold time */
} server;

/* ---- the epoll set ---- */

int pvma_serve_watch(int fd, struct pvma_watch *watch)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
    return epoll_ctl(pvma_serving.epoll_fd, EPOLL_CTL_ADD, fd, &event) ? PVMC_ESYSTEM : 0;
}

void pvma_serve_unwatch(int fd)
{
    epoll_ctl(pvma_serving.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/*
 * Waits at most limit_ns (-1: without limit) and handles one ready descriptor. Only one, since its handler may close
 * others. Returns whether there was one.
 */
static bool attend(int64_t limit_ns)
{
    struct pollfd set = {.fd = pvma_serving.epoll_fd, .events = POLLIN};
    struct timespec limit = {.tv_sec = limit_ns / 1000000000, .tv_nsec = limit_ns % 1000000000};
    struct epoll_event event;
    if (limit_ns && ppoll(&set, 1, limit_ns < 0 ? NULL : &limit, NULL) <= 0)
        return false;
    bool any = epoll_wait(pvma_serving.epoll_fd, &event, 1, 0) == 1;
    if (any) {
        server.heard_ns = server.explained_ns = server.expelled_ns = pvmc_clock_real_ns();
        struct pvma_watch *watch = event.data.ptr;
        watch->ready(watch);
    }
    return any;
}

/* Without a descriptor the newcomer would stay in the queue, and the loop would see nothing else. */
static void turn_away(void)
{
    pvmc_log_once(PVMC_LOG_ERROR, "out of descriptors: newcomers are turned away; raise the limit (ulimit -n)");
    close(server.spare_fd);
    int fd = accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    server.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* As many as the system grants: each program needs some. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void accept_one(struct pvma_watch *watch)
{
    (void)watch;
    int fd = accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        pvma_client_take(fd);
    else if (errno == EMFILE || errno == ENFILE)
        turn_away();
}

/* Prints what the options ask for. */
static void report(void)
{
    if (server.options->report)
        pvma_net_report(pvma_serving.net, stdout);
    if (server.options->report && server.overlay)
        pvma_overlay_report(server.overlay, stdout);
    if (server.options->digest)
        printf("digest %016" PRIx64 " events %" PRIu64 "\n", pvma_sim_digest(pvma_serving.sim),
               pvma_sim_event_count(pvma_serving.sim));
    fflush(stdout);
}

static void take_signal(struct pvma_watch *watch)
{
    struct signalfd_siginfo info;
    (void)watch;
    if (read(server.signal_fd, &info, sizeof info) <= 0)
        return;
    if (info.ssi_signo == SIGUSR1)
        report();
    else
        server.over = true;
}

/* ---- the socket ---- */

/* Whether another process listens at the address. Removes a socket without a listener. */
static bool is_taken(const struct sockaddr_un *address)
{
    struct stat status;
    if (lstat(address->sun_path, &status) || !S_ISSOCK(status.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    bool taken = fd >= 0 && !connect(fd, (const struct sockaddr *)address, sizeof *address);
    close(fd);
    if (!taken)
        unlink(address->sun_path);
    return taken;
}

/* Binds under another name and renames after listen(), so a socket that programs can see accepts connections. */
static bool listen_and_show(struct sockaddr_un *address, const char *path)
{
    strcat(address->sun_path, HIDDEN);
    unlink(address->sun_path); /* left by a network that was killed */
    bool good = !bind(server.listen_fd, (struct sockaddr *)address, sizeof *address) &&
                !listen(server.listen_fd, LISTEN_BACKLOG) && !rename(address->sun_path, path);
    if (!good)
        unlink(address->sun_path);
    return good;
}

/* Returns 0 or a PVMC_E code; logged. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t longest = sizeof address.sun_path - sizeof HIDDEN;
    if (strlen(path) > longest) {
        pvmc_log(PVMC_LOG_ERROR, "the socket's path is longer than %zu bytes: %s", longest, path);
        return PVMC_ELIMIT;
    }
    strcpy(address.sun_path, path);
    if (is_taken(&address)) {
        pvmc_log(PVMC_LOG_ERROR, "a network already runs at %s: end it, or choose another --socket", path);
        return PVMC_EEXISTS;
    }
    mode_t mask = umask(077);
    server.listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bad = server.listen_fd < 0 || !listen_and_show(&address, path);
    umask(mask);
    if (bad)
        pvmc_log(PVMC_LOG_ERROR, "cannot listen at %s: %s", path, strerror(errno));
    return bad ? PVMC_ESYSTEM : pvma_serve_watch(server.listen_fd, &server.listener);
}

static int set_up(const struct pvma_serve_options *options)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    server.listener.ready = accept_one;
    server.signals.ready = take_signal;
    server.listen_fd = -1;
    raise_descriptors();
    server.spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server.options = options;
    server.patience_ns = pvmc_config_us(PVMC_SETTING_ATM_PATIENCE) * 1000;
    pvma_serving.is_virtual = options->is_virtual;
    pvma_serving.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (pvma_serving.epoll_fd < 0 || server.signal_fd < 0)
        return PVMC_ESYSTEM;
    pvma_serve_watch(server.signal_fd, &server.signals);
    return listen_at(options->socket);
}

/* ---- the clocks ---- */

/* Advances the simulation to the real clock. */
static void keep_up(int64_t start_ns)
{
    int64_t now_ns = pvmc_clock_ns() - start_ns, done_ns = pvma_sim_now(pvma_serving.sim) / PVMA_NS;
    if (now_ns > done_ns + SLICE_NS && pvma_sim_next(pvma_serving.sim) < now_ns * PVMA_NS)
        now_ns = done_ns + SLICE_NS; /* if behind, serves the programs between slices */
    pvma_sim_run_until(pvma_serving.sim, now_ns * PVMA_NS);
}

static void serve_in_real_time(int64_t start_ns)
{
    keep_up(start_ns);
    pvma_ps next = pvma_sim_next(pvma_serving.sim);
    int64_t limit_ns = -1;
    if (next != PVMA_NEVER) {
        limit_ns = next / PVMA_NS - (pvmc_clock_ns() - start_ns);
        limit_ns = limit_ns > 0 ? limit_ns : 0;
    }
    attend(limit_ns);
}

/* Whether time stands still because a program computes or is about to. */
static bool is_held(void)
{
    if (!server.begun && pvma_client_count() >= server.options->wait_for && pvma_client_count())
        server.begun = true;
    return !server.begun || pvma_client_any_runs() || pvma_local_is_busy() || !pvma_client_any();
}

/* After a long silence, logs what the network waits for. */
static void explain(bool held)
{
    double now_s = (double)pvma_sim_now(pvma_serving.sim) / (double)PVMA_S;
    pvmc_log(PVMC_LOG_WARNING,
             held ? "virtual time has stood at %.9f s for a while:"
                  : "it is %.9f s: all programs wait, nothing is in flight, and no timer is set:",
             now_s);
    pvma_client_explain(PVMC_LOG_WARNING);
    pvma_local_explain(PVMC_LOG_WARNING);
}

/* A stuck process must not stop all others forever. */
static void lose_patience(void)
{
    pvma_client_inspect(true);
    if (!pvma_client_any_runs() && pvma_local_is_busy()) {
        pvmc_log(PVMC_LOG_ERROR, "time has stood still for %.0f s: the network ends", (double)server.patience_ns / 1e9);
        server.over = server.failed = true;
    }
}

/* Silence before the log says what the network waits for. */
static int64_t explain_ns(void)
{
    return server.patience_ns / 2 < EXPLAIN_NS ? server.patience_ns / 2 : EXPLAIN_NS;
}

/* How long to wait for a message before inspecting what holds time or explaining the silence. -1: forever. */
static int64_t silence_ns(void)
{
    if (pvma_local_expects())
        return HOLD_MS * 1000000;
    if (!pvma_client_any())
        return -1;
    return explain_ns();
}

/* Waits for the programs that compute, or for any message if no event is due. */
static void stand_still(bool held)
{
    attend(silence_ns());
    pvma_client_expel_doubtful();
    int64_t now_ns = pvmc_clock_real_ns();
    if (!server.begun || !pvma_client_any())
        return;
    if (now_ns - server.heard_ns >= explain_ns() && server.explained_ns == server.heard_ns) {
        explain(held);
        server.explained_ns = now_ns;
    }
    if (!held && server.options->deadlock_ends && now_ns - server.heard_ns >= server.patience_ns) {
        pvmc_log(PVMC_LOG_ERROR, "nothing can happen any more: the network ends; see PVM_ATM_PATIENCE");
        server.over = server.failed = true;
    }
    if (held && now_ns - server.expelled_ns >= server.patience_ns / 2) {
        server.expelled_ns = now_ns;
        if (now_ns - server.heard_ns >= server.patience_ns)
            lose_patience();
        else
            pvma_client_inspect(false);
    }
}

static void serve_in_virtual_time(void)
{
    static unsigned in_a_row;
    bool held = is_held();
    if (!held && in_a_row < PVMA_FLOOD_MAX && attend(0)) {
        in_a_row++;
        return; /* first handle every message that was sent before the last program went to sleep */
    }
    in_a_row = 0;
    if (!held && pvma_client_settle())
        return;
    if (!held && pvma_client_carry_waits()) {
        attend(HOLD_MS * 1000000);
        return;
    }
    if (held || pvma_sim_next(pvma_serving.sim) == PVMA_NEVER) {
        stand_still(held);
        return;
    }
    for (int i = 0; i < STEPS && !pvma_client_any_runs(); i++)
        pvma_sim_step(pvma_serving.sim);
}

static void serve(bool once)
{
    int64_t start_ns = pvmc_clock_ns();
    bool any = false;
    while (!server.over) {
        if (pvma_serving.is_virtual)
            serve_in_virtual_time();
        else
            serve_in_real_time(start_ns);
        any = any || pvma_client_count();
        server.over = server.over || (once && any && !pvma_client_any());
    }
}

/* ---- the process ---- */

static void clean_up(const struct pvma_serve_options *options)
{
    if (server.listen_fd >= 0)
        unlink(options->socket);
    pvma_client_free_all();
    pvma_route_free_all();
    pvma_local_free_all();
    close(server.listen_fd);
    close(server.signal_fd);
    close(server.spare_fd);
    close(pvma_serving.epoll_fd);
}

/* Programs that ended before our signal came have left, too. */
static void show_time(void)
{
    while (attend(0))
        ;
    printf("virtual time %.9f s\n", (double)pvma_serving.left / (double)PVMA_S);
}

static void say_ready(const struct pvma_serve_options *options)
{
    printf("network %s at %s, %s clock\n", options->topology, options->socket,
           options->is_virtual ? "virtual" : "real");
    fflush(stdout);
}

/* False after a message: a VC of the topology's servers does not fit. */
static bool set_up_overlay(const struct pvma_topology *topology)
{
    if (topology->overlay.line)
        server.overlay = pvma_overlay_new(pvma_serving.net, topology);
    return server.overlay || !topology->overlay.line;
}

int pvma_serve(const struct pvma_serve_options *options)
{
    struct pvma_topology topology;
    if (pvma_topology_load(options->topology, &topology))
        return 1;
    struct pvma_capture *capture = NULL;
    pvma_serving.net = pvma_net_new(&topology, options->seed);
    if (pvma_serving.net && !set_up_overlay(&topology)) {
        pvma_net_free(pvma_serving.net);
        pvma_serving.net = NULL;
    }
    int rc = pvma_serving.net ? pvma_capture_open(pvma_serving.net, &options->capture, &capture) : PVMC_EPARAM;
    if (!rc)
        rc = set_up(options);
    if (!rc) {
        pvma_serving.sim = pvma_net_sim(pvma_serving.net);
        say_ready(options);
        serve(options->once);
        if (options->time)
            show_time();
        report();
    }
    if (pvma_serving.net && !rc)
        clean_up(options);
    if (pvma_capture_close(capture))
        rc = PVMC_ESYSTEM;
    pvma_overlay_free(server.overlay);
    pvma_net_free(pvma_serving.net);
    pvma_topology_free(&topology);
    return rc || server.failed ? 1 : 0;
}
