/* session.c - an event loop over endpoints, input lines, and signals. */
#include "session.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "line.h"

enum { LINE_BYTES_MAX = 4 * 65536 + DP_GRAPH_NAME_MAX + 2, EXIT_CANNOT_RUN = 127 };

struct session {
    const struct session_options *options;
    struct dp_process *process;
    struct dp_graph *(*reread)(void *context);
    void *context;
    int input, signals; /* descriptors; input -1: at its end */
    FILE *output;       /* NULL: it has no reader any more */
    pid_t command;      /* 0: none, or it has exited */
    long received;
    char line[LINE_BYTES_MAX];
    size_t line_bytes;
    bool full; /* `messages` messages were received */
    bool ended;
    int status;
};

/* ---- messages ---- */

/* The channel from this sender to the endpoint; "-": the graph has none. */
static const char *name_channel(const struct session *s, int fd, int nid, int dpid)
{
    size_t count;
    const struct dp_channel *channels = dp_process_channels(s->process, &count);
    for (size_t i = 0; i < count; i++)
        if (channels[i].fd == fd && !channels[i].outward && channels[i].peer_nid == nid &&
            channels[i].peer_dpid == dpid)
            return channels[i].name;
    return "-";
}

/* After the last message a command reads the end of its input, and may still send messages. */
static void take_last(struct session *s)
{
    s->ended = s->command == 0;
    s->full = true;
    if (s->command && s->output)
        fclose(s->output);
    if (s->command)
        s->output = NULL;
}

static void take_messages(struct session *s, int fd)
{
    char *message;
    int nid, dpid, bytes;
    if (s->full) {
        dp_work(fd);
        return;
    }
    while (!s->full && (bytes = dp_read_from(fd, &message, &nid, &dpid)) >= 0) {
        if (s->output)
            line_print(s->output, name_channel(s, fd, nid, dpid), message, (size_t)bytes);
        dp_fsync(fd, 1);
        if (++s->received == s->options->messages)
            take_last(s);
    }
    if (s->output && fflush(s->output) == EOF)
        s->output = NULL; /* a command may ignore its input */
    if (!s->full && errno != EAGAIN && errno != EINTR)
        fprintf(stderr, "dp-graph: dp_read: %s\n", strerror(errno));
}

static void send_line(struct session *s, char *line)
{
    char *name, *message;
    size_t bytes;
    if (!*line)
        return;
    if (!line_parse(line, &name, &message, &bytes)) {
        fprintf(stderr, "dp-graph: \"%.60s\": a line has the form CHANNEL TEXT, with \\\\ for a backslash\n", line);
        return;
    }
    const struct dp_channel *channel = dp_process_channel(s->process, name);
    if (!channel || !channel->outward)
        fprintf(stderr, "dp-graph: no channel \"%.60s\" begins at this process\n", name);
    else if (dp_process_write(s->process, channel, message, (int)bytes) < 0)
        fprintf(stderr, "dp-graph: channel %s: %s\n", name, strerror(errno));
}

/* ---- input ---- */

static void take_input(struct session *s)
{
    ssize_t n = read(s->input, s->line + s->line_bytes, sizeof s->line - 1 - s->line_bytes);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        s->input = -1;
        return;
    }
    s->line_bytes += (size_t)n;
    char *at = s->line, *end = s->line + s->line_bytes;
    for (char *newline; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
        *newline = '\0';
        send_line(s, at);
    }
    s->line_bytes = (size_t)(end - at);
    memmove(s->line, at, s->line_bytes);
    if (s->line_bytes == sizeof s->line - 1) {
        fprintf(stderr, "dp-graph: an input line is longer than any message\n");
        s->line_bytes = 0;
    }
}

/* ---- the command ---- */

static void run_command(struct session *s, int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvp(s->options->command[0], s->options->command);
    fprintf(stderr, "dp-graph: %s: %s\n", s->options->command[0], strerror(errno));
    _exit(EXIT_CANNOT_RUN);
}

/* Returns -1 with errno on failure. */
static int start_command(struct session *s)
{
    int in[2], out[2];
    s->input = STDIN_FILENO;
    s->output = stdout;
    if (!s->options->command)
        return 0;
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || (s->command = fork()) < 0)
        return -1;
    if (s->command == 0)
        run_command(s, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    s->input = out[0];
    s->output = fdopen(in[1], "w");
    return s->output ? 0 : -1;
}

static void note_end(struct session *s)
{
    int status;
    if (s->command <= 0 || waitpid(s->command, &status, WNOHANG) != s->command)
        return;
    s->command = 0;
    s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    while (s->input >= 0)
        take_input(s); /* the rest of its output */
    s->ended = true;
}

static void stop_command(struct session *s)
{
    if (s->command <= 0)
        return;
    kill(s->command, SIGTERM);
    waitpid(s->command, NULL, 0);
}

/* ---- signals ---- */

static void change(struct session *s)
{
    struct dp_graph *graph = s->reread(s->context);
    if (graph && dp_process_change(s->process, graph) < 0)
        fprintf(stderr, "dp-graph: not changed: %s\n", strerror(errno));
    else if (graph)
        fprintf(stderr, "dp-graph: changed\n");
    dp_graph_free(graph);
}

static void take_signal(struct session *s)
{
    struct signalfd_siginfo signal;
    if (read(s->signals, &signal, sizeof signal) != sizeof signal)
        return;
    if (signal.ssi_signo == SIGHUP)
        change(s);
    else if (signal.ssi_signo == SIGCHLD)
        note_end(s);
    else
        s->ended = true;
}

static int catch_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    signal(SIGPIPE, SIG_IGN);
    return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -1 : signalfd(-1, &set, SFD_CLOEXEC);
}

/* ---- the loop ---- */

/* Lists the endpoints of all channels, each once; the caller's list has one entry per channel. */
static size_t list_endpoints(const struct session *s, struct pollfd *list)
{
    size_t count, listed = 0, j;
    const struct dp_channel *channels = dp_process_channels(s->process, &count);
    for (size_t i = 0; i < count; i++) {
        for (j = 0; j < listed && list[j].fd != channels[i].fd; j++)
            ;
        if (j < listed)
            continue;
        fcntl(channels[i].fd, F_SETFL, O_NONBLOCK | fcntl(channels[i].fd, F_GETFL));
        list[listed++] = (struct pollfd){.fd = channels[i].fd, .events = POLLIN};
    }
    return listed;
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits once and handles what is ready. The list of endpoints is rebuilt each time, since the graph may have changed.
 */
static int turn(struct session *s, long end_ms)
{
    size_t channels;
    dp_process_channels(s->process, &channels);
    struct pollfd *list = calloc(channels + 2, sizeof *list);
    if (!list)
        return -1;
    size_t endpoints = list_endpoints(s, list + 2);
    list[0] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    list[1] = (struct pollfd){.fd = s->input, .events = POLLIN};
    long left_ms = end_ms - now_ms();
    int ready = poll(list, endpoints + 2, end_ms ? (left_ms > 0 ? (int)(left_ms < 60000 ? left_ms : 60000) : 0) : -1);
    for (size_t i = 0; ready > 0 && i < endpoints && !s->ended; i++)
        if (list[2 + i].revents)
            take_messages(s, list[2 + i].fd);
    if (ready > 0 && list[1].revents)
        take_input(s);
    if (ready > 0 && list[0].revents)
        take_signal(s);
    free(list);
    s->ended |= end_ms && now_ms() >= end_ms;
    return ready < 0 && errno != EINTR ? -1 : 0;
}

static int fail(struct session *s, const char *what)
{
    fprintf(stderr, "dp-graph: %s: %s\n", what, strerror(errno));
    stop_command(s);
    dp_process_close(s->process);
    free(s);
    return EXIT_FAILURE;
}

/* What libdp knows of this node, by the first endpoint of the process; false if that cannot be opened. */
static bool find_node(const struct dp_graph *graph, size_t process, struct dpaddress *own)
{
    size_t i = 0;
    while (i < graph->endpoint_count && graph->endpoints[i].process != process)
        i++;
    if (i == graph->endpoint_count)
        return false;
    const struct dp_graph_endpoint *e = &graph->endpoints[i];
    int fd = *e->interface ? dp_open_on(e->interface, e->dpid) : dp_open(e->dpid);
    bool found = fd >= 0 && dp_address(fd, own) == 0;
    if (fd >= 0)
        dp_close(fd);
    return found;
}

static void explain_other_node(const struct dp_graph *graph, const char *name)
{
    const struct dp_graph_process *process = dp_graph_find_process(graph, name);
    int nid = graph->nodes[process->node].nid;
    struct dpaddress own;
    fprintf(stderr, "dp-graph: process %s runs on node %d of the graph, and this is not that node", name, nid);
    if (find_node(graph, (size_t)(process - graph->processes), &own)) {
        const unsigned char *h = own.hardware;
        fprintf(stderr,
                ", but %d (%s, %02x:%02x:%02x:%02x:%02x:%02x): set DP_NID, the id of this node, to %d, or write \"%d "
                "%02x:%02x:%02x:%02x:%02x:%02x\" into the table of nodes (DP_NART, /etc/dpvm/nart), or run it there",
                own.nid, own.interface, h[0], h[1], h[2], h[3], h[4], h[5], nid, nid, h[0], h[1], h[2], h[3], h[4],
                h[5]);
    }
    fprintf(stderr, "; see dp(7)\n");
}

/* Explains why a process cannot be opened, and what to do. */
static int fail_to_open(struct session *s, const struct dp_graph *graph, const char *process)
{
    if (errno == ENOENT)
        fprintf(stderr, "dp-graph: the graph has no process %s\n", process);
    else if (errno == EADDRNOTAVAIL)
        explain_other_node(graph, process);
    else if (errno == EACCES)
        fprintf(stderr, "dp-graph: raw sockets are not allowed: CAP_NET_RAW or the helper dp-socket is needed, "
                        "see dp(7)\n");
    else
        fprintf(stderr, "dp-graph: the endpoints of process %s cannot be opened: %s\n", process, strerror(errno));
    free(s);
    return EXIT_FAILURE;
}

int session_run(const struct dp_graph *graph, const char *process, const struct session_options *options,
                struct dp_graph *(*reread)(void *context), void *context)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return EXIT_FAILURE;
    *s = (struct session){.options = options, .reread = reread, .context = context};
    s->process = dp_process_open(graph, process);
    if (!s->process)
        return fail_to_open(s, graph, process);
    s->signals = catch_signals();
    if (s->signals < 0 || start_command(s) < 0)
        return fail(s, "the command cannot be started");
    fprintf(stderr, "dp-graph: process %s is open\n", process);
    for (long end_ms = options->seconds ? now_ms() + options->seconds * 1000 : 0; !s->ended;)
        if (turn(s, end_ms) < 0)
            return fail(s, "cannot wait");
    stop_command(s);
    dp_process_close(s->process);
    int status = s->status;
    free(s);
    return status;
}
