/* job.c - jobs: the tasks of one spawn command, and the output of these tasks and their children. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/hash.h"
#include "dpvm.h"
#include "console/collector.h"
#include "console/console.h"
#include "job.h"
#include "sddf.h"

/* Special values in place of the byte count in an output message. */
enum { OUTPUT_EOF = 0, OUTPUT_SPAWNED = -1, OUTPUT_NEW = -2 };

enum {
    LINE_BYTES_MAX = 8192,            /* longer lines are split */
    MESSAGE_BYTES_MAX = 64 * 1048576, /* larger messages are dropped */
};

enum stream { OUT, ERR, STREAMS };

/* An incomplete line of output. */
struct line {
    char *text;
    size_t length;
};

struct job_task {
    int tid;
    bool ended;
    bool traced; /* its end will arrive as an event */
    struct line lines[STREAMS];
    UT_hash_handle hh;
};

struct job {
    int number;
    enum job_style style;
    FILE *out;
    void (*status)(int tid, int status); /* NULL: standard error is not apart */
    bool launched;
    struct job_task *tasks;
    struct sddf *trace;   /* NULL: not traced */
    bool output_in_trace; /* output goes only to the trace */
    struct job *next;
};

static struct job *jobs;
static int last_number;
static int tasks_lost;
static unsigned char watched[4096 / 8]; /* bit set of hosts with a notice of deletion */

struct job *job_new(enum job_style style)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job == NULL)
        return NULL;
    job->number = ++last_number;
    job->style = style;
    job->out = stdout;
    LL_APPEND(jobs, job);
    pvm_setopt(PvmOutputTid, console.tid);
    pvm_setopt(PvmOutputContext, console.context);
    pvm_setopt(PvmOutputCode, CONSOLE_TAG_JOB + job->number);
    collector_trace_spawned();
    return job;
}

void job_keep_apart(struct job *job, void (*status)(int tid, int status))
{
    job->status = status;
}

void job_redirect(struct job *job, FILE *out)
{
    job->out = out;
}

bool job_trace_to(struct job *job, FILE *file, bool only_there)
{
    job->trace = sddf_new(job->number, file);
    job->output_in_trace = only_there && job->trace != NULL;
    if (job->trace == NULL)
        return false;
    pvm_setopt(PvmTraceTid, console.tid);
    pvm_setopt(PvmTraceContext, console.context);
    pvm_setopt(PvmTraceCode, CONSOLE_TAG_TRACE + job->number);
    return true;
}

int job_number(const struct job *job)
{
    return job->number;
}

/* Requests a notice of the deletion of the task's host. */
static void watch_host(int tid)
{
    int host = pvm_tidtohost(tid);
    unsigned slot = (unsigned)host >> 18 & 4095;

    if (host < 0 || watched[slot / 8] & 1U << slot % 8)
        return;
    watched[slot / 8] = (unsigned char)(watched[slot / 8] | 1U << slot % 8);
    int context = pvm_setcontext(console.context);
    pvm_notify(PvmHostDelete, CONSOLE_TAG_HOST_DELETE, 1, &host);
    pvm_setcontext(context);
}

static struct job_task *find_task(struct job *job, int tid)
{
    struct job_task *task;

    HASH_FIND_INT(job->tasks, &tid, task);
    if (task != NULL)
        return task;
    task = calloc(1, sizeof(*task));
    if (task == NULL)
        return NULL;
    task->tid = tid;
    if (!PVMC_HASH_ADD(hh, job->tasks, tid, task)) {
        free(task);
        return NULL;
    }
    watch_host(tid);
    return task;
}

static void free_job(struct job *job)
{
    struct job_task *task, *next;

    HASH_ITER (hh, job->tasks, task, next) {
        HASH_DEL(job->tasks, task);
        for (int i = 0; i < STREAMS; i++)
            free(task->lines[i].text);
        free(task);
    }
    LL_DELETE(jobs, job);
    if (job->out != stdout)
        fclose(job->out);
    if (job->trace != NULL)
        sddf_free(job->trace);
    free(job);
}

static void before_output(const struct job *job)
{
    if (job->out == stdout && console_before_output != NULL)
        console_before_output();
}

static FILE *file_of(const struct job *job, enum stream stream)
{
    return stream == ERR && job->status != NULL ? stderr : job->out;
}

/* On a terminal each task has a colour, so that its lines stand out. */
static void write_prefix(const struct job *job, int tid, enum stream stream, FILE *to)
{
    static const int colours[] = {36, 33, 35, 32, 34, 31};
    bool coloured = job->status != NULL && console_shows_colours(to);

    if (coloured)
        fprintf(to, "\033[%dm", colours[(unsigned)(tid & 0x3ffff) % (sizeof(colours) / sizeof(colours[0]))]);
    if (job->style == JOB_NUMBERED)
        fprintf(to, "[%d:t%x]", job->number, (unsigned)tid);
    else if (job->style != JOB_PLAIN)
        fprintf(to, "[t%x]", (unsigned)tid);
    if (job->style == JOB_TAGS)
        fprintf(to, "<%s>", stream == ERR ? "stderr" : "stdout");
    fputs(coloured ? "\033[0m " : " ", to);
}

static void write_line(const struct job *job, int tid, enum stream stream, const char *text, size_t length)
{
    FILE *to = file_of(job, stream);

    before_output(job);
    write_prefix(job, tid, stream, to);
    fwrite(text, 1, length, to);
    putc('\n', to);
}

/* Prints one line of a task's output. */
static void print_line(const struct job *job, int tid, enum stream stream, const char *text, size_t length)
{
    if (job->trace != NULL)
        sddf_output(job->trace, tid, text, length);
    if (!job->output_in_trace)
        write_line(job, tid, stream, text, length);
}

static void flush_line(const struct job *job, struct job_task *task, enum stream stream)
{
    struct line *line = &task->lines[stream];

    if (line->length > 0)
        print_line(job, task->tid, stream, line->text, line->length);
    line->length = 0;
}

/* Buffers the beginning of a line until its rest arrives. */
static void keep_line(const struct job *job, struct job_task *task, enum stream stream, const char *text, size_t length)
{
    struct line *line = &task->lines[stream];

    while (length > 0) {
        if (line->text == NULL && (line->text = malloc(LINE_BYTES_MAX)) == NULL)
            return;
        size_t room = LINE_BYTES_MAX - line->length;
        size_t part = length < room ? length : room;
        memcpy(line->text + line->length, text, part);
        line->length += part;
        text += part;
        length -= part;
        if (line->length == LINE_BYTES_MAX)
            flush_line(job, task, stream);
    }
}

static void print_text(const struct job *job, struct job_task *task, enum stream stream, const char *text,
                       size_t length)
{
    const char *newline;

    while (length > 0 && (newline = memchr(text, '\n', length)) != NULL) {
        size_t part = (size_t)(newline - text);
        if (task->lines[stream].length > 0) {
            keep_line(job, task, stream, text, part);
            flush_line(job, task, stream);
        } else {
            print_line(job, task->tid, stream, text, part);
        }
        text += part + 1;
        length -= part + 1;
    }
    keep_line(job, task, stream, text, length);
}

/* Plain output is not buffered by line: a progress bar must not wait for its newline. */
static void print_plain(const struct job *job, enum stream stream, const char *text, size_t length)
{
    FILE *to = file_of(job, stream);

    if (to == stderr)
        fflush(job->out); /* as they were printed */
    fwrite(text, 1, length, to);
}

static void end_task(const struct job *job, struct job_task *task)
{
    if (task->ended)
        return;
    task->ended = true;
    for (int i = 0; i < STREAMS; i++)
        flush_line(job, task, i);
    if (job->trace != NULL)
        sddf_output(job->trace, task->tid, "GOTEOF", 6);
    if (job->style == JOB_NUMBERED && !job->output_in_trace)
        write_line(job, task->tid, OUT, "EOF", 3);
}

/* Frees the job if it is finished. */
static void check_over(struct job *job)
{
    for (struct job_task *task = job->tasks; task != NULL; task = task->hh.next)
        if (!task->ended || task->traced)
            return;
    if (!job->launched)
        return;
    if (job->style == JOB_NUMBERED) {
        if (console_before_output != NULL)
            console_before_output();
        printf("[%d] finished\n", job->number);
    }
    free_job(job);
}

static void take_bytes(const struct job *job, struct job_task *task, enum stream stream, int count)
{
    char *text = count > 0 && count <= MESSAGE_BYTES_MAX ? malloc((size_t)count) : NULL;

    if (text != NULL && pvm_upkbyte(text, count, 1) >= 0) {
        if (job->style == JOB_PLAIN)
            print_plain(job, stream, text, (size_t)count);
        else
            print_text(job, task, stream, text, (size_t)count);
    }
    free(text);
}

static struct job *find_job(int number)
{
    struct job *job;

    LL_FOREACH (jobs, job)
        if (job->number == number)
            return job;
    return NULL;
}

/* What only tasks with PvmTaskStreams have. */
static void take_apart(const struct job *job, struct job_task *task, int mark)
{
    int value = 0;

    if (pvm_upkint(&value, 1, 1) < 0)
        return;
    if (mark == PvmOutputError)
        take_bytes(job, task, ERR, value);
    else if (job->status != NULL)
        job->status(task->tid, value);
}

void job_output(int number)
{
    struct job *job = find_job(number);
    int tid = 0, count = 0;

    if (job == NULL || pvm_upkint(&tid, 1, 1) < 0 || pvm_upkint(&count, 1, 1) < 0)
        return;
    struct job_task *task = find_task(job, tid);
    if (task == NULL)
        return;
    if (count > 0)
        take_bytes(job, task, OUT, count);
    else if (count == PvmOutputError || count == PvmOutputStatus)
        take_apart(job, task, count);
    else if (count == OUTPUT_EOF)
        end_task(job, task);
    else if (job->trace != NULL)
        sddf_output(job->trace, tid, count == OUTPUT_NEW ? "CREATION" : "GOTSPAWN", 8);
    if (job->out != stdout)
        fflush(job->out);
    check_over(job);
}

void job_launched(struct job *job, const int *tids, int n)
{
    if (n <= 0) {
        free_job(job);
        return;
    }
    for (int i = 0; i < n; i++)
        find_task(job, tids[i]);
    job->launched = true;
    check_over(job);
}

void job_host_deleted(void)
{
    int host = 0;
    struct job *job, *next;

    if (pvm_upkint(&host, 1, 1) < 0)
        return;
    unsigned slot = (unsigned)host >> 18 & 4095;
    watched[slot / 8] = (unsigned char)(watched[slot / 8] & ~(1U << slot % 8));
    LL_FOREACH_SAFE (jobs, job, next) {
        for (struct job_task *task = job->tasks; task != NULL; task = task->hh.next)
            if (!task->ended && pvm_tidtohost(task->tid) == host) {
                tasks_lost++;
                task->traced = false;
                end_task(job, task);
            }
        check_over(job);
    }
}

static void task_traced(void *arg, int tid, bool ended)
{
    struct job_task *task = find_task(arg, tid);

    if (task != NULL)
        task->traced = !ended;
}

/* After an unreadable trace message, which may have reported the end of a task: the job must not wait for it. */
static void expect_no_events(struct job *job)
{
    for (struct job_task *task = job->tasks; task != NULL; task = task->hh.next)
        task->traced = false;
}

void job_trace(int number)
{
    struct job *job = find_job(number);

    if (job == NULL || job->trace == NULL)
        return;
    if (!sddf_message(job->trace, task_traced, job))
        expect_no_events(job);
    check_over(job);
}

bool job_any(void)
{
    return jobs != NULL;
}

int job_tasks_lost(void)
{
    return tasks_lost;
}

static int by_tid(const struct job_task *a, const struct job_task *b)
{
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void job_each(void (*each)(int number, const int *tids, int n, void *arg), void *arg)
{
    struct job *job, *next;

    LL_FOREACH_SAFE (jobs, job, next) {
        int *tids = malloc((HASH_COUNT(job->tasks) + 1) * sizeof(*tids));
        int n = 0;
        if (tids == NULL)
            return;
        HASH_SORT(job->tasks, by_tid);
        for (struct job_task *task = job->tasks; task != NULL; task = task->hh.next)
            if (!task->ended)
                tids[n++] = task->tid;
        each(job->number, tids, n, arg);
        free(tids);
    }
}

void job_forget_all(void)
{
    struct job *job, *next;

    LL_FOREACH_SAFE (jobs, job, next)
        free_job(job);
}
