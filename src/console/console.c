/* console.c - the console's connection to the virtual machine, and functions shared by its commands. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "collector.h"
#include "console.h"
#include "console/commands/host.h"
#include "console/commands/job.h"
#include "console/commands/trace.h"
#include "console/scheduler/scheduler.h"
#include "tools/pvm-info/whole.h"

enum { POLL_MAX = 64, HALT_TIMEOUT_MS = 10000, DESCRIPTORS_MAX = 256 };

struct console console;
volatile sig_atomic_t console_interrupts;
void (*console_before_output)(void);

static volatile sig_atomic_t terminated;
static int signal_pipe[2] = {-1, -1}; /* self-pipe: a signal handler writes a byte to end poll() */

static void wake(void)
{
    int saved = errno;
    ssize_t written = write(signal_pipe[1], "", 1);
    (void)written; /* when the pipe is full, it is readable anyway */
    errno = saved;
}

static void on_interrupt(int number)
{
    (void)number;
    console_interrupts++;
    wake();
}

/* The daemon ends its tasks with SIGTERM. A second one comes from an impatient user. */
static void on_terminate(int number)
{
    if (terminated++)
        signal(number, SIG_DFL);
    wake();
}

bool console_is_terminated(void)
{
    return terminated != 0;
}

static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void console_catch_interrupts(bool on)
{
    console_interrupts = 0;
    catch_signal(SIGINT, on ? on_interrupt : SIG_DFL);
}

static const int user_signals[] = {SIGUSR1, SIGUSR2};
enum { USER_SIGNALS = sizeof(user_signals) / sizeof(user_signals[0]) };
static volatile sig_atomic_t noted[USER_SIGNALS];

static void on_user_signal(int number)
{
    for (int i = 0; i < USER_SIGNALS; i++)
        if (user_signals[i] == number)
            noted[i] = 1;
    wake();
}

void console_catch_user_signals(void)
{
    for (int i = 0; i < USER_SIGNALS; i++)
        catch_signal(user_signals[i], on_user_signal);
}

int console_take_signal(void)
{
    for (int i = 0; i < USER_SIGNALS; i++)
        if (noted[i]) {
            noted[i] = 0;
            return user_signals[i];
        }
    return 0;
}

static int open_signals(void)
{
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
        fprintf(stderr, "pvm: no pipe for signals: %s\n", strerror(errno));
        return PvmSysErr;
    }
    catch_signal(SIGTERM, on_terminate);
    return 0;
}

/* Sets the console's options and requests notices. Failures are ignored: `getopt` shows them. */
static void set_up(void)
{
    pvm_setopt(PvmResvTids, 1);
    pvm_setopt(PvmNoReset, 1);
    collector_spare_console();
    if (!collector_wanted())
        trace_set_up();
    console.context = pvm_newcontext();
    host_watch();
}

/* Starts a daemon and enrols with it. libpvm and the daemon print errors on stderr. */
static int start_machine(int argc, char **argv)
{
    if (!scheduler_prepare())
        return PvmCantStart;
    fflush(stdout);
    pvm_setopt(PvmAutoErr, 1);
    int code = pvm_start_pvmd(argc, argv, 1);

    if (code >= 0 || code == PvmDupHost)
        code = pvm_mytid();
    return code;
}

int console_open(int argc, char **argv, bool *started)
{
    int code = open_signals();
    if (code < 0)
        return code;
    pvm_setopt(PvmAutoErr, 0);
    pvm_setopt(PvmRoute, PvmDontRoute); /* before enrolment, to stay out of a simulated network */
    whole_begin();
    if (collector_wanted())
        collector_spare_console();
    console.tid = pvm_mytid();
    if (console.tid == PvmBadParam) { /* a setting is wrong, whether a daemon runs or not */
        pvm_setopt(PvmAutoErr, 1);
        pvm_mytid(); /* libpvm says which, and why */
        advise("pvm: no command works with this setting; `pvm-info -d` lists transports, `pvm-info -c` settings");
        return console.tid;
    }
    *started = console.tid < 0 && !console.attaches;
    if (console.attaches && console.tid < 0)
        advise("pvm: no virtual machine runs here");
    else if (*started)
        console.tid = start_machine(argc, argv);
    else if (console.mode != CONSOLE_SCRIPT)
        printf("pvmd already running.\n");
    if (console.tid < 0)
        return console.tid;
    pvm_setopt(PvmAutoErr, 0);
    set_up();
    pvm_setopt(PvmAutoErr, 1);
    return 0;
}

void console_close(void)
{
    if (!console.lost)
        pvm_exit();
    for (int i = 0; i < 2; i++)
        if (signal_pipe[i] >= 0)
            close(signal_pipe[i]);
    signal_pipe[0] = signal_pipe[1] = -1;
}

static bool is_daemon(pid_t pid)
{
    char path[64], name[16] = "";

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    bool read = fgets(name, sizeof(name), file) != NULL;
    fclose(file);
    return read && strcmp(name, "pvmd3\n") == 0;
}

/* Searches all descriptors for libpvm's connection, since pvm_getfds() may return one that stands for several. */
pid_t console_daemon(void)
{
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX; fd++) {
        struct ucred peer = {0};
        socklen_t size = sizeof(peer);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 && is_daemon(peer.pid))
            return peer.pid;
    }
    return 0;
}

/* A descriptor that becomes readable when the daemon ends, or -1. */
static int watch_daemon(void)
{
    pid_t daemon = console_daemon();

    return daemon > 0 ? pidfd_open(daemon, 0) : -1;
}

int console_halt(void)
{
    int daemon = watch_daemon();
    catch_signal(SIGTERM, SIG_IGN); /* pvm_halt() sends it to every task, including this one */
    int code = pvm_halt();

    if (code == PvmSysErr) /* the daemon ended before it answered */
        code = 0;
    if (code < 0) {
        catch_signal(SIGTERM, on_terminate);
    } else { /* wait, so that the next machine does not find the remains of this one */
        struct pollfd ended = {.fd = daemon, .events = POLLIN};
        poll(&ended, 1, daemon >= 0 ? HALT_TIMEOUT_MS : 0);
        console.done = console.lost = true;
    }
    if (daemon >= 0)
        close(daemon);
    return code;
}

static void lose(void)
{
    if (console.lost)
        return;
    console.done = console.lost = true;
    if (console.exit_code == CONSOLE_OK && console.mode != CONSOLE_TTY)
        console.exit_code = CONSOLE_NO_MACHINE;
    if (console_before_output != NULL)
        console_before_output();
    advise("Console: pvmd is gone: the virtual machine was halted or its daemon died. Start it again with pvm.");
}

/* Handles the message in the current receive buffer. */
static void take_message(int buffer)
{
    int tag = 0;

    pvm_bufinfo(buffer, NULL, &tag, NULL);
    if (tag == CONSOLE_TAG_HOST_ADD)
        host_added();
    else if (tag == CONSOLE_TAG_HOST_DELETE)
        job_host_deleted();
    else if (tag >= CONSOLE_TAG_TRACE)
        job_trace(tag - CONSOLE_TAG_TRACE);
    else if (tag >= CONSOLE_TAG_JOB)
        job_output(tag - CONSOLE_TAG_JOB);
}

void console_progress(void)
{
    if (console.lost)
        return;
    int auto_error = pvm_setopt(PvmAutoErr, 0);
    int context = pvm_setcontext(console.context);
    int buffer;

    while ((buffer = pvm_nrecv(-1, -1)) > 0)
        take_message(buffer);
    pvm_setcontext(context);
    pvm_setopt(PvmAutoErr, auto_error);
    if (buffer < 0 || terminated)
        lose();
    fflush(stdout);
}

bool console_wait(int fd, int timeout_ms)
{
    struct pollfd fds[POLL_MAX];
    int *pvm_fds = NULL;
    int n = 0;
    int auto_error = pvm_setopt(PvmAutoErr, 0);
    int pvm_count = console.lost ? 0 : pvm_getfds(&pvm_fds);
    pvm_setopt(PvmAutoErr, auto_error);
    if (pvm_count < 0) {
        lose();
        return false;
    }
    fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = signal_pipe[0], .events = POLLIN};
    for (int i = 0; i < pvm_count && n < POLL_MAX; i++)
        fds[n++] = (struct pollfd){.fd = pvm_fds[i], .events = POLLIN};
    fflush(stdout);
    if (poll(fds, (nfds_t)n, timeout_ms) <= 0)
        return false;
    if (fds[1].revents != 0) {
        char scrap[64];
        while (read(signal_pipe[0], scrap, sizeof(scrap)) > 0)
            ;
    }
    return fd >= 0 && fds[0].revents != 0;
}

/* As https://no-color.org asks for. */
bool console_shows_colours(FILE *to)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(fileno(to)) && (none == NULL || *none == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void complain(const char *format, ...)
{
    FILE *to = console.mode == CONSOLE_SCRIPT || console.json ? stderr : stdout;
    va_list args;

    fflush(stdout);
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fputc('\n', to);
}

void advise(const char *format, ...)
{
    va_list args;

    fflush(stdout);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

const char *error_text(int code)
{
    return code <= 0 && -code < pvm_nerr ? pvm_errlist[-code] : "Unknown Error";
}

void print_json(json_t *value)
{
    text_print_json(value, 0);
}

json_t *json_tid(int tid)
{
    return json_sprintf("t%x", (unsigned)tid);
}

bool parse_tid(const char *text, int *tid)
{
    const char *digits = text + (*text == 't');
    char *end;

    errno = 0;
    unsigned long value = strtoul(digits, &end, 16);
    if (*digits == '\0' || *digits == '-' || *digits == '+' || *end != '\0' || errno != 0 || value > UINT_MAX) {
        advise("%s: not a task id; give one as ps prints it, such as t40001", text);
        return false;
    }
    *tid = (int)(unsigned)value;
    return true;
}

bool parse_number(const char *what, const char *text, int *value)
{
    char *end;

    errno = 0;
    long number = strtol(text, &end, strncasecmp(text, "0x", 2) == 0 ? 16 : 10);
    if (end == text || *end != '\0' || errno != 0 || number < INT_MIN || number > UINT_MAX) {
        advise("%s: \"%s\" is not a whole number", what, text);
        return false;
    }
    *value = (int)number;
    return true;
}
