/* web.c - see web.h. One loop serves visitors and messages; changes are told five times a second. */
#include "web.h"
#include <argp.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "console/console.h"
#include "control.h"
#include "core/version.h"
#include "machine.h"
#include "site.h"
#include "wire/http/place.h"

enum { TELL_MS = 200, URL_BYTES = 512 };
enum { CONTROL = 256, NO_TRACE, LISTEN };

static struct {
    bool control, no_trace;
    union pvmw_address at;
} options;

static const char doc[] =
    "Show the virtual machine in a browser while it runs: hosts, tasks and what they do, the space-time diagram, "
    "traffic and routes, output, mailbox and groups. If no virtual machine runs, one is started."
    "\vThe page is at the URL that is printed. It has a token in it; without it nobody sees anything. Ctrl-C ends "
    "this command; the machine goes on.\n"
    "Programs that are started from now on are traced, which costs them time (pvm-web(1)).";

static const struct argp_option option_table[] = {
    {"control", CONTROL, NULL, 0, "Let the page add hosts, spawn tasks and kill tasks", 0},
    {"listen", LISTEN, "[ADDRESS:]PORT", 0, "Listen here instead of a free port of this host's loopback address", 0},
    {"no-trace", NO_TRACE, NULL, 0, "Trace no programs: no space-time diagram, and states every two seconds only", 0},
    {0}};

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case CONTROL:
        options.control = true;
        return 0;
    case NO_TRACE:
        options.no_trace = true;
        return 0;
    case LISTEN:
        if (pvmw_http_place_parse(arg, &options.at) != 0)
            argp_error(state,
                       "--listen %s: give a port, such as 8080, or an address with a port, such as "
                       "10.1.2.3:8080 or [fd00::1]:8080",
                       arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void serve(void)
{
    int64_t told_ms = 0;

    while (!console.done && console_interrupts == 0 && !console_is_terminated()) {
        bool all_taken = machine_take_messages();
        machine_look(site_is_watched());
        if (!console_is_terminated())
            console_progress(); /* sees whether the daemon is gone */
        if (console.done)
            break;
        if (now_ms() - told_ms >= TELL_MS) {
            site_tell_changes();
            told_ms = now_ms();
        }
        long due_ms = site_serve();
        int wait_ms = least(machine_due_ms(), TELL_MS);
        if (due_ms >= 0)
            wait_ms = least(wait_ms, (int)due_ms);
        console_wait(site_fd(), all_taken ? wait_ms : 0);
    }
}

/* 0, or an exit code after a message. */
static int prepare(void)
{
    const char *why;
    char url[URL_BYTES];

    if (!machine_open(!options.no_trace, &why)) {
        advise("pvm web: no context for messages");
        return CONSOLE_FAILED;
    }
    if (why != NULL)
        advise("pvm web: programs are not traced: %s", why);
    if (!site_open(&options.at, options.control, url, sizeof(url)))
        return CONSOLE_FAILED;
    if (options.control) {
        machine_collect_output();
        if (!control_open()) {
            advise("pvm web: no thread for control");
            return CONSOLE_FAILED;
        }
    }
    printf("%s\n", url);
    fflush(stdout);
    return 0;
}

static int run(void)
{
    bool started;

    console.mode = CONSOLE_SCRIPT;
    unsetenv("PVM_TRACE"); /* this page is not traced, and has its own way to trace others */
    if (console_open(0, NULL, &started) < 0)
        return CONSOLE_NO_MACHINE;
    console_catch_interrupts(true);
    int result = prepare();
    if (result == 0)
        serve();
    site_close();
    control_close();
    pvm_setopt(PvmAutoErr, 0);
    console_close();
    machine_close();
    return result != 0 ? result : console.exit_code;
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvm web");
}

int web_main(int argc, char **argv)
{
    static const struct argp argp = {option_table, take_option, "", doc, NULL, NULL, NULL};

    pvmw_http_place_parse("0", &options.at);
    argp_program_version_hook = print_version;
    argp_err_exit_status = CONSOLE_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    return run();
}
