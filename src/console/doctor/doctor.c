/* doctor.c - see doctor.h. This computer and all hosts are examined at the same time, within one time limit. */
#include "doctor.h"
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "console/console.h"
#include "core/message/proto.h"
#include "core/version.h"
#include "library.h"
#include "live.h"
#include "local.h"
#include "network.h"
#include "reach.h"
#include "result.h"
#include "show.h"

enum { LIMIT_S = 4, LIMIT_MAX_S = 600, HOSTS_MAX = 256, EXIT_INTERRUPTED = 130 };

static struct {
    bool json, quiet;
    enum live live; /* LIVE_NOT: all is examined */
    int limit_s;
    int host_count;
    struct reach *hosts;
} options = {.limit_s = LIMIT_S};

static const char doc[] =
    "Look for the causes of troubles on this computer and on the hosts: settings, libraries, folders and files, "
    "limits, "
    "network, transports, the daemon; for hosts also the way there, versions and clocks. It changes nothing, and "
    "neither "
    "needs a daemon nor starts one."
    "\vA host is given as for the console's add, with options in quotes: pvm doctor 'hostb lo=me dx=/opt/bin/pvmd3'. "
    "It is "
    "reached as by the daemon, by ssh or the command in PVM_RSH.\n"
    "The exit code is 0 if there are no errors (warnings do not count), 1 if there are some, and 2 for a wrong command "
    "line.";

static const struct argp_option option_table[] = {
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"quiet", 'q', NULL, 0, "Print troubles only", 0},
    {"live", 'l', "WHAT", OPTION_ARG_OPTIONAL,
     "Only check, within 2 s, that a daemon on this host answers and is a member of a machine; with joining as WHAT, "
     "one "
     "that does not listen yet will do, too",
     0},
    {"program", 'p', "FILE", 0, "Also say which libpvm3 this program would load here; it is not run", 0},
    {"timeout", 't', "SECONDS", 0, "Time limit for all hosts together (default: 4)", 0},
    {0}};

static int read_limit(const char *text, struct argp_state *state)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > LIMIT_MAX_S)
        argp_error(state, "--timeout %s: give a number of seconds from 1 to %d", text, LIMIT_MAX_S);
    return (int)value;
}

static void add_host(const char *argument, struct argp_state *state)
{
    char why[64];
    struct target *t = &options.hosts[options.host_count].target;

    if (options.host_count == HOSTS_MAX)
        argp_error(state, "no more than %d hosts at once", HOSTS_MAX);
    options.host_count++;
    if (target_read(argument, t, why, sizeof(why)) != 0)
        argp_error(state, "\"%s\": %s", argument, why);
    if (*t->host == '-' || *t->host == '\0' || (t->login != NULL && *t->login == '-'))
        argp_error(state, "\"%s\" is no name of a host; give one as for add", argument);
    if (strchr(t->host, '=') != NULL)
        argp_error(state, "\"%s\" is no name of a host; options go with it in quotes: 'hostb lo=me'", argument);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'j':
        options.json = true;
        return 0;
    case 'q':
        options.quiet = true;
        return 0;
    case 'l':
        options.live = live_of_word(arg);
        if (options.live == LIVE_NOT)
            argp_error(state, "--live=%s: give member or joining", arg);
        return 0;
    case 'p':
        library_program = arg;
        return 0;
    case 't':
        options.limit_s = read_limit(arg, state);
        return 0;
    case ARGP_KEY_ARG:
        add_host(arg, state);
        return 0;
    case ARGP_KEY_END:
        if (options.live != LIVE_NOT && (options.host_count > 0 || options.json || library_program != NULL))
            argp_error(state, "--live goes with no other option, and looks at this host only");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the report ---- */

static json_t *begin_report(void)
{
    char name[256] = "";
    json_t *report = json_object();

    gethostname(name, sizeof(name) - 1);
    json_object_set_new(report, "version", json_string(pvmc_version));
    json_object_set_new(report, "protocol", json_integer(PVMC_DAEMON_PROTOCOL));
    json_object_set_new(report, "host", text_json(name));
    json_t *path = network_path();
    if (path != NULL)
        json_object_set_new(report, "path", path);
    json_object_set_new(report, "results", json_array());
    json_object_set_new(report, "hosts", json_array());
    return report;
}

static int count(const json_t *report, enum severity severity)
{
    int n = result_count(json_object_get(report, "results"), severity);
    size_t i;
    json_t *host;

    json_array_foreach(json_object_get(report, "hosts"), i, host) n +=
        result_count(json_object_get(host, "results"), severity);
    return n;
}

static void end_report(json_t *report)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    json_object_set_new(report, "time", json_real((double)now.tv_sec + (double)now.tv_nsec / 1e9));
    json_object_set_new(report, "errors", json_integer(count(report, SEVERITY_ERROR)));
    json_object_set_new(report, "warnings", json_integer(count(report, SEVERITY_WARNING)));
}

/* ---- the examination ---- */

static void stop(int number)
{
    (void)number;
    child_stop = 1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop}; /* without SA_RESTART: it ends the wait */

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool is_of_tasks(const json_t *result)
{
    const char *name = json_string_value(json_object_get(result, "name"));

    return name != NULL && strcmp(name, "tasks") == 0;
}

static bool has_tasks(const json_t *results)
{
    bool has = false;
    size_t i;
    json_t *result;

    json_array_foreach(results, i, result) has = has || is_of_tasks(result);
    return has;
}

/* The hosts of a machine all see the same tasks. */
static void drop_tasks(json_t *hosts)
{
    size_t i;
    json_t *host;

    json_array_foreach(hosts, i, host)
    {
        json_t *results = json_object_get(host, "results");
        for (size_t n = json_array_size(results); n-- > 0;)
            if (is_of_tasks(json_array_get(results, n)))
                json_array_remove(results, n);
    }
}

/* The first child is this computer, the others are the hosts. */
static void examine(json_t *report, struct child *children)
{
    json_t *results = json_object_get(report, "results"), *hosts = json_object_get(report, "hosts");
    int error = local_start(&children[0]);

    for (int i = 0; i < options.host_count; i++) {
        struct reach *r = &options.hosts[i];
        r->limit_s = options.limit_s;
        r->child = &children[i + 1];
        reach_start(r);
    }
    child_gather(children, options.host_count + 1, options.limit_s * 1000);
    if (error != 0)
        result_add(results, "start", SEVERITY_ERROR, "end other programs", "no process can be started: %s",
                   strerror(error));
    else
        local_take(&children[0], results);
    for (int i = 0; i < options.host_count; i++)
        json_array_append_new(hosts, reach_take(&options.hosts[i]));
    if (has_tasks(results))
        drop_tasks(hosts);
}

static void print(json_t *report)
{
    if (options.json) {
        print_json(json_incref(report));
        return;
    }
    show_report(report, options.quiet);
}

static int examine_all(struct child *children)
{
    json_t *report = begin_report();

    examine(report, children);
    end_report(report);
    int exit_code = child_stop ? EXIT_INTERRUPTED : count(report, SEVERITY_ERROR) > 0 ? CONSOLE_FAILED : CONSOLE_OK;
    if (child_stop)
        advise("pvm doctor: interrupted");
    else
        print(report);
    json_decref(report);
    return exit_code;
}

int doctor_main(int argc, char **argv)
{
    struct argp argp = {option_table, take_option, "[HOST...]", doc, NULL, NULL, NULL};
    struct child *children = calloc((size_t)argc + 1, sizeof(*children));
    int exit_code = CONSOLE_FAILED;

    options.hosts = calloc((size_t)argc + 1, sizeof(*options.hosts));
    if (children != NULL && options.hosts != NULL) {
        argp_parse(&argp, argc, argv, 0, NULL, NULL);
        catch_signals();
        exit_code = options.live != LIVE_NOT ? live_check(options.live) : examine_all(children);
    } else
        advise("pvm doctor: out of memory");
    for (int i = 0; children != NULL && i <= options.host_count; i++)
        child_free(&children[i]);
    for (int i = 0; i < options.host_count; i++)
        target_free(&options.hosts[i].target);
    free(options.hosts);
    free(children);
    return exit_code;
}
