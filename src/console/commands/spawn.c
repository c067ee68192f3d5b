/* spawn.c - the command spawn. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/collector.h"
#include "console/console.h"
#include "console/command.h"
#include "host.h"
#include "job.h"

enum { SPAWN_COUNT_MAX = 1 << 18 }; /* number of tids of a host */

struct spawn_request {
    int count, flags;
    const char *place;  /* host, address or architecture; NULL: anywhere */
    const char *folder; /* working directory; NULL: the default */
    size_t place_length;
    bool collect;     /* collect output */
    const char *file; /* file for output; NULL: the terminal */
    bool append;
    bool trace;             /* collect trace events */
    const char *trace_file; /* file for events; NULL: the terminal */
};

/* Whether a host of the machine has this architecture. */
static bool is_architecture(const char *name, size_t length)
{
    int n, formats;
    struct pvmhostinfo *hosts = host_list(&n, &formats);

    for (int i = 0; i < n; i++)
        if (strlen(hosts[i].hi_arch) == length && strncmp(hosts[i].hi_arch, name, length) == 0)
            return true;
    return false;
}

/* "host", "host:folder", ":folder"; an address in brackets may contain colons. */
static void take_place(struct spawn_request *r, const char *text)
{
    const char *colon = strchr(text[0] == '[' ? text + strcspn(text, "]") : text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);

    if (colon != NULL)
        r->folder = colon + 1;
    if (length > 0) {
        r->place = text;
        r->place_length = length;
    }
}

static void take_host_or_architecture(struct spawn_request *r, const char *text)
{
    take_place(r, text);
    if (r->place != text)
        return;
    r->flags &= ~(PvmTaskHost | PvmTaskArch);
    r->flags |= is_architecture(text, r->place_length) ? PvmTaskArch : PvmTaskHost;
}

static bool take_count(struct spawn_request *r, const char *digits)
{
    errno = 0;
    long count = strtol(digits, NULL, 10);

    if (errno != 0 || count < 1 || count > SPAWN_COUNT_MAX) {
        advise("spawn: cannot start %s tasks; give a number from 1 to %d", digits, SPAWN_COUNT_MAX);
        return false;
    }
    r->count = (int)count;
    return true;
}

static void take_output(struct spawn_request *r, const char *text)
{
    r->collect = true;
    r->append = *text == '>';
    text += r->append;
    r->file = *text != '\0' ? text : NULL;
}

/* Parses one word that starts with '-'. False after a message. */
static bool take_option(struct spawn_request *r, const char *word)
{
    const char *text = word + 1;

    if (isdigit((unsigned char)*text) && text[strspn(text, "0123456789")] == '\0')
        return take_count(r, text);
    if (strcmp(text, "?") == 0) {
        r->flags |= PvmTaskDebug;
    } else if (*text == '>') {
        take_output(r, text + 1);
    } else if (strncmp(text, "-host=", 6) == 0 && text[6] != '\0') {
        take_place(r, text + 6);
        r->flags = (r->flags & ~PvmTaskArch) | PvmTaskHost;
    } else if (*text == '~' && text[1] != '\0') {
        r->flags |= PvmHostCompl;
        take_host_or_architecture(r, text + 1);
    } else if (*text == '@') {
        r->trace = true;
        r->trace_file = text[1] != '\0' ? text + 1 : NULL;
    } else if (*text == '\0' || *text == '-') {
        advise("spawn: %s: unknown option; see `help spawn`", word);
        return false;
    } else {
        take_host_or_architecture(r, text);
    }
    return true;
}

/* Opens the job's output file; several jobs may append to one file. False after a message. */
static bool open_output(struct job *job, const struct spawn_request *r)
{
    if (r->file == NULL)
        return true;
    int fd = open(r->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (r->append ? 0 : O_EXCL), 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (file == NULL) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        advise("%s: %s%s", r->file, strerror(error), error == EEXIST ? "; ->>FILE appends to it" : "");
        return false;
    }
    job_redirect(job, file);
    return true;
}

/* Opens the job's trace. False after a message. */
static bool open_trace(struct job *job, const struct spawn_request *r)
{
    if (!r->trace)
        return true;
    FILE *file = r->trace_file != NULL ? fopen(r->trace_file, "wxe") : NULL;
    if (r->trace_file != NULL && file == NULL) {
        advise("%s: %s", r->trace_file, strerror(errno));
        return false;
    }
    if (job_trace_to(job, file, !r->collect))
        return true;
    if (file != NULL)
        fclose(file);
    advise("spawn: out of memory");
    return false;
}

/* The argument `where` of pvm_spawn(): place, place:folder or :folder. The caller frees it; NULL when out of memory. */
static char *where_text(const struct spawn_request *r)
{
    char *where = NULL;
    int length = r->place != NULL ? (int)r->place_length : 0;

    if (asprintf(&where, "%.*s%s%s", length, r->place != NULL ? r->place : "", r->folder != NULL ? ":" : "",
                 r->folder != NULL ? r->folder : "") < 0)
        return NULL;
    return where;
}

static void print_result_json(int number, int started, const int *tids, int count)
{
    json_t *tasks = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(tasks, tids[i] > 0
                                         ? json_pack("{s:o}", "tid", json_tid(tids[i]))
                                         : json_pack("{s:i, s:s}", "code", tids[i], "error", error_text(tids[i])));
    print_json(json_pack("{s:o, s:i, s:o}", "job", number > 0 ? json_integer(number) : json_null(), "successful",
                         started, "tasks", tasks));
}

static void print_result(int started, const int *tids, int count)
{
    printf("%d successful\n", started);
    for (int i = 0; i < count; i++)
        if (tids[i] > 0)
            printf("t%x\n", (unsigned)tids[i]);
        else
            printf("%s\n", error_text(tids[i]));
}

/* Says what to do about tasks that were not started. */
static void explain_failure(const char *file, const int *tids, int started, int count)
{
    if (started >= count || tids[started] > 0)
        return;
    if (tids[started] == PvmNoFile)
        advise("spawn: pvmd searches for %s in %sthe directories of PVM_PATH or ep= (default: ~/pvm3/bin/ARCH, "
               "PVM_ROOT/bin/ARCH and /usr/lib/pvm3/bin/ARCH); install it there on each host, or give its full path.",
               file, strchr(file, '/') != NULL ? "the task's working directory, then in " : "");
    else if (tids[started] == PvmNoHost)
        advise("spawn: the machine has no host or architecture of this name; `conf` lists them.");
}

/* Starts the tasks and prints the result. Takes over the job; NULL: output is not collected. */
static int start_tasks(const struct spawn_request *r, char **program, struct job *job)
{
    int *tids = calloc((size_t)r->count, sizeof(*tids));
    char *where = where_text(r);
    int number = job != NULL ? job_number(job) : 0;
    int started = tids != NULL && where != NULL
                      ? pvm_spawn(program[0], program + 1, r->flags | PvmNoSpawnParent, where, r->count, tids)
                      : PvmNoMem;

    if (started < 0) {
        advise("spawn: %s", error_text(started));
    } else if (console.json) {
        print_result_json(number, started, tids, r->count);
    } else {
        print_result(started, tids, r->count);
    }
    if (started >= 0 && started < r->count) {
        fflush(stdout);
        explain_failure(program[0], tids, started, r->count);
    }
    if (job != NULL)
        job_launched(job, tids, started);
    free(where);
    free(tids);
    return started == r->count ? CONSOLE_OK : CONSOLE_FAILED;
}

int spawn_command(int argc, char **argv)
{
    struct spawn_request r = {.count = 1};
    struct job *job = NULL;
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++)
        if (!take_option(&r, argv[i]))
            return CONSOLE_FAILED;
    if (i == argc) {
        complain("incorrect arg count");
        return CONSOLE_FAILED;
    }
    if (!r.collect && !r.trace) {
        pvm_setopt(PvmOutputTid, 0);
        collector_trace_spawned();
        return start_tasks(&r, argv + i, NULL);
    }
    job = job_new(JOB_NUMBERED);
    if (job == NULL) {
        advise("spawn: out of memory");
        return CONSOLE_FAILED;
    }
    if (!console.json)
        printf("[%d]\n", job_number(job));
    if (!open_output(job, &r) || !open_trace(job, &r)) {
        job_launched(job, NULL, 0);
        return CONSOLE_FAILED;
    }
    return start_tasks(&r, argv + i, job);
}
