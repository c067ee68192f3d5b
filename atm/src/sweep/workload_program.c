/* workload_program.c - a program: any command line whose output has the results. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "topology/topology_reader.h"
#include "workload.h"

enum { TAIL = 400 }; /* octets of the output that a message shows */

/* The last lines of a text in one line, for a message. */
static const char *tail_of(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    for (char *end = text; (end = strchr(end, '\n'));)
        *end = ';';
    return length > TAIL ? text + length - TAIL : text;
}

static char *read_all(FILE *file)
{
    size_t length;
    return file ? pvma_text_read(file, &length) : pvma_new(1);
}

/* Shell and program are in the process group of the run, which the runner ends. */
static int start(const char *command, const char *errors, int *fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        FILE *to = freopen(errors, "w", stderr);
        if (to && dup2(ends[1], STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *fd = ends[0];
    return child;
}

/* Returns the output, to be freed; NULL after a message. */
static char *run_command(const char *command, const char *errors)
{
    int fd = -1, status = 0;
    pid_t child = start(command, errors, &fd);
    if (child < 0) {
        pvmc_log(PVMC_LOG_ERROR, "cannot start a program: %s", strerror(errno));
        return NULL;
    }
    FILE *out = fdopen(fd, "r"), *said;
    char *output = read_all(out), *error_text;
    fclose(out);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return output;
    said = fopen(errors, "re");
    error_text = read_all(said);
    if (said)
        fclose(said);
    pvmc_log(PVMC_LOG_ERROR, "the program ended with %s %d: %s", WIFEXITED(status) ? "status" : "signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
             *error_text ? tail_of(error_text) : tail_of(output));
    free(error_text);
    free(output);
    return NULL;
}

/* The first group of the first match, in a new text; NULL: there is none. */
static char *find_text(const char *pattern, const char *output)
{
    regex_t regex;
    regmatch_t match[2];
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE))
        return NULL;
    bool found = !regexec(&regex, output, 2, match, 0) && match[1].rm_so >= 0;
    regfree(&regex);
    return found ? strndup(output + match[1].rm_so, (size_t)(match[1].rm_eo - match[1].rm_so)) : NULL;
}

/* Finds a column's number; false after a message. */
static bool find_value(const struct sweep_run *run, const struct sweep_column *c, char *output, double *value)
{
    char *pattern = sweep_substitute(run, c->pattern), *end;
    char *text = pattern ? find_text(pattern, output) : NULL;
    if (text)
        *value = strtod(text, &end);
    bool good = text && end != text && isfinite(*value);
    if (!text)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: nothing in the output matches \"%s\": %s", run->experiment->path, c->line,
                 pattern ? pattern : "", tail_of(output));
    else if (!good)
        pvmc_log(PVMC_LOG_ERROR, "%s:%u: \"%s\" finds \"%.40s\", which is no number; put the number into the group",
                 run->experiment->path, c->line, pattern, text);
    free(text);
    free(pattern);
    return good;
}

static int find_values(const struct sweep_run *run, char *output, struct sweep_results *results)
{
    const struct sweep_experiment *e = run->experiment;
    for (size_t i = 0; i < e->column_count; i++)
        if (!find_value(run, &e->columns[i], output, &results->values[i]))
            return PVMC_EFORMAT;
    return 0;
}

int sweep_program_run(const struct sweep_run *run, const char *folder, struct sweep_results *results)
{
    char errors[4096];
    snprintf(errors, sizeof errors, "%s/errors", folder);
    setenv("PVM_TMP", folder, 1); /* machines of several runs do not meet */
    char *command = sweep_substitute(run, run->experiment->work.text);
    char *output = command ? run_command(command, errors) : NULL;
    int error = output ? find_values(run, output, results) : PVMC_ESYSTEM;
    free(output);
    free(command);
    return error;
}
