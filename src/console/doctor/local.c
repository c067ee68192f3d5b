/* local.c - see local.h. The process writes a line of JSON for each result, and one with the name before each probe. */
#include "local.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "core/log.h"
#include "probe.h"
#include "result.h"

static const struct probe probes[] = {{"settings", probe_settings},
                                      {"programs", probe_programs},
                                      {"remote shell", probe_remote_shell},
                                      {"search", probe_search},
                                      {"library", probe_library},
                                      {"folder", probe_folder},
                                      {"disk", probe_disk},
                                      {"files", probe_files},
                                      {"user", probe_user},
                                      {"limits", probe_limits},
                                      {"memory", probe_memory},
                                      {"clock", probe_clock},
                                      {"network", probe_network},
                                      {"ports", probe_ports},
                                      {"daemon", probe_daemon},
                                      {"transports", probe_transports}};

enum { PROBES = sizeof(probes) / sizeof(probes[0]) };

/* ---- in the process ---- */

/* Probes report wrong settings themselves. */
static void drop_line(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

static void write_line(json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
}

static void run_probe(const struct probe *probe)
{
    json_t *name = json_string(probe->name), *results = json_array(), *result;
    size_t i;

    json_dumpf(name, stdout, JSON_ENCODE_ANY);
    putchar('\n');
    fflush(stdout);
    probe->run(results);
    json_array_foreach(results, i, result) write_line(result);
    json_decref(results);
    json_decref(name);
}

static void run_all(void *arg)
{
    (void)arg;
    pvmc_log_to(drop_line, NULL, PVMC_LOG_ERROR);
    for (int i = 0; i < PROBES; i++)
        run_probe(&probes[i]);
    puts("\"\"");
}

/* ---- outside ---- */

int local_start(struct child *child)
{
    return child_call(child, run_all, NULL);
}

static void explain_missing(const struct child *child, const char *last, json_t *results)
{
    if (child->late)
        result_add(results, last, SEVERITY_ERROR,
                   "look for a file server or device that does not answer; then run `pvm doctor` again",
                   "this probe did not end in time; those after it have not run");
    else
        result_add(results, last, SEVERITY_ERROR, "report this, please: it is a fault of dpvm",
                   "this probe crashed (signal %d); those after it have not run",
                   WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0);
}

void local_take(const struct child *child, json_t *results)
{
    const char *at = child_text(child, CHILD_OUT);
    char last[64] = "start";

    for (size_t length; *(at + (length = strcspn(at, "\n"))) != '\0'; at += length + 1) {
        json_t *line = json_loadb(at, length, JSON_DECODE_ANY, NULL);
        if (json_is_string(line))
            snprintf(last, sizeof(last), "%s", json_string_value(line));
        else if (line != NULL)
            json_array_append(results, line);
        json_decref(line);
    }
    if (*last != '\0')
        explain_missing(child, last, results);
}
