/* output.c - see output.h. An output may outlive its task, since a process may print after pvm_exit(). */
#include "output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ev.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "dpvm.h"
#include "pvmd/base/self.h"
#include "pvmd/base/logfile.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/rpc.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/base/virtual.h"
#include "pvmd/tasks/watch.h"

#define READ_BYTES 16384
#define LINE_BYTES 4096 /* longer lines are sent in pieces */
#define PIPE_BYTES 65536

struct stream {
    ev_io io; /* fd -1: closed */
    struct output *output;
    bool is_error;
    char *line; /* the unfinished last line, or NULL */
    size_t line_length;
};

enum { STREAMS = 2 };

struct output {
    struct stream streams[STREAMS];
    pvmc_tid tid;
    int32_t parent;
    struct pvmd_collector collector; /* tid 0: the master's log */
    struct pvmd_watch *watch;        /* of the collector */
    unsigned spawns;                 /* of the task, in progress */
    bool apart;                      /* the collector knows the marks of PvmTaskStreams */
    bool runs;                       /* its process has not ended, and the collector waits for its status */
    struct output *prev, *next;
};

static struct output *outputs;

static struct output *find(pvmc_tid tid)
{
    struct output *o;
    DL_SEARCH_SCALAR(outputs, o, tid, tid);
    return o;
}

/* ---- holding back ---- */

static pvmc_tid *held; /* tasks and hosts that told us to hold their output */
static size_t held_count;

static bool holds(pvmc_tid receiver)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i] == receiver)
            return true;
    return false;
}

static void pause_or_go_on(struct output *o)
{
    pvmc_tid to = o->collector.tid ? o->collector.tid : pvmc_tid_of_host_index(pvmd.master_index);
    bool pauses = holds(to) || holds(pvmc_tid_host(to));
    for (int i = 0; i < STREAMS; i++) {
        ev_io *io = &o->streams[i].io;
        if (io->fd < 0 || pauses)
            ev_io_stop(pvmd.loop, io);
        else
            ev_io_start(pvmd.loop, io);
    }
}

static void pause_or_go_on_all(void)
{
    struct output *o;
    DL_FOREACH (outputs, o)
        pause_or_go_on(o);
}

static void remove_held(pvmc_tid receiver)
{
    for (size_t i = 0; i < held_count; i++)
        if (held[i] == receiver)
            held[i--] = held[--held_count];
}

void pvmd_output_hold(pvmc_tid receiver, bool hold)
{
    remove_held(receiver);
    pvmc_tid *more = hold ? realloc(held, (held_count + 1) * sizeof *held) : NULL;
    if (more) {
        held = more;
        held[held_count++] = receiver;
    }
    pause_or_go_on_all();
}

void pvmd_output_host_left(unsigned index)
{
    for (size_t i = 0; i < held_count; i++)
        if (pvmc_tid_host_index(held[i]) == index)
            held[i--] = held[--held_count];
    pause_or_go_on_all();
}

/* ---- sending ---- */

/* Sends a tid with a mark, or the number of bytes that follow, `value` if n < 0, and data. */
static void send_collector(const struct pvmd_collector *to, pvmc_tid tid, int n, int value, const char *data,
                           size_t length)
{
    int head[] = {(int)tid, n, value};
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return;
    m->src = PVMC_TID_DAEMON | pvmd_host_tid();
    m->dst = to->tid;
    m->ctx = to->ctx;
    m->tag = to->tag;
    int rc = pvmc_message_pack(m, PVM_INT, head, n < 0 ? 3 : 2, 1);
    if (!rc && length > 0)
        rc = pvmc_message_pack(m, PVM_BYTE, data, (int)length, 1);
    if (!rc)
        pvmd_relay_message(m);
    pvmc_message_unref(m);
}

static void send_log(const struct output *o, const char *data, size_t length)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, o->tid);
    pvmc_buf_put_blob(&b, data, length);
    if (pvmd_tables_are_leaderless())
        pvmd_ask_master(PVMD_DM_OUTPUT, &b, NULL, NULL); /* the next one logs it */
    else
        pvmd_ask(pvmd.master_index, PVMD_DM_OUTPUT, &b, NULL, NULL);
    pvmc_buf_free(&b);
}

static void send_mark(const struct output *o, enum pvmc_output_mark mark, int value)
{
    if (o->collector.tid)
        send_collector(&o->collector, o->tid, mark, value, NULL, 0);
}

static void send_text(const struct stream *s, const char *data, size_t length)
{
    const struct output *o = s->output;
    if (!length)
        return;
    if (!o->collector.tid)
        send_log(o, data, length);
    else if (s->is_error && o->apart)
        send_collector(&o->collector, o->tid, PVMC_OUTPUT_ERROR, (int)length, data, length);
    else
        send_collector(&o->collector, o->tid, (int)length, 0, data, length);
}

/* At the master: a line for the log. */
static int log_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    (void)q;
    size_t left;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    const char *data = (const char *)pvmc_buf_get_blob(body, &left);
    int rc = pvmc_buf_end(body);
    while (!rc && left) {
        const char *end = memchr(data, '\n', left);
        size_t length = end ? (size_t)(end - data) : left;
        pvmd_logfile_output(tid, data, length);
        length += end != NULL;
        data += length;
        left -= length;
    }
    return rc;
}

static int log_petition(const struct pvmd_petition *p, struct pvmc_buf *body)
{
    int rc = log_question(&p->question, body);
    if (!rc)
        pvmd_petition_answer(p, PvmOk, NULL);
    return rc;
}

/* ---- the end ---- */

static void close_pipe(struct stream *s)
{
    ev_io_stop(pvmd.loop, &s->io);
    close(s->io.fd);
    s->io.fd = -1;
}

static bool is_open(const struct output *o)
{
    return o->streams[0].io.fd >= 0 || o->streams[1].io.fd >= 0;
}

static void output_free(struct output *o)
{
    for (int i = 0; i < STREAMS; i++) {
        if (o->streams[i].io.fd >= 0)
            close_pipe(&o->streams[i]);
        free(o->streams[i].line);
    }
    pvmd_watch_cancel(o->watch);
    DL_DELETE(outputs, o);
    free(o);
}

/* Spawns in progress hold EOF back, and so does a process whose status is to come first. */
static void end_if_complete(struct output *o)
{
    if (is_open(o) || o->spawns || o->runs)
        return;
    send_mark(o, PVMC_OUTPUT_EOF, 0);
    output_free(o);
}

/* ---- collectors ---- */

static void collector_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct output *o = arg;
    o->watch = NULL;
    o->collector.tid = 0;
    o->apart = o->runs = false;
    pause_or_go_on(o);
    end_if_complete(o);
}

static void set_collector(struct output *o, const struct pvmd_collector *collector)
{
    pvmd_watch_cancel(o->watch);
    o->watch = NULL;
    o->collector = *collector;
    if (collector->tid)
        o->watch = pvmd_watch(collector->tid, collector_ended, o);
}

void pvmd_output_redirect(pvmc_tid tid, const struct pvmd_collector *collector)
{
    struct output *o = find(tid);
    if (!o)
        return;
    if (o->collector.tid != collector->tid) {
        send_mark(o, PVMC_OUTPUT_EOF, 0); /* the old collector need not wait for more */
        o->apart = o->runs = false;
    }
    set_collector(o, collector);
    pause_or_go_on(o);
    end_if_complete(o);
}

/* ---- reading ---- */

static void stream_end(struct stream *s)
{
    send_text(s, s->line, s->line_length);
    s->line_length = 0;
    close_pipe(s);
    end_if_complete(s->output);
}

/* Puts the unfinished last line in front of what is read next. Returns its length. */
static size_t take_line(struct stream *s, char *to)
{
    size_t length = s->line_length;
    if (length)
        memcpy(to, s->line, length);
    free(s->line);
    s->line = NULL;
    s->line_length = 0;
    return length;
}

/* Keeps an unfinished line for later, or sends it if it is too long. */
static void keep_line(struct stream *s, const char *data, size_t length)
{
    if (!length)
        return;
    s->line = length < LINE_BYTES ? malloc(length) : NULL;
    if (!s->line) {
        send_text(s, data, length);
        return;
    }
    memcpy(s->line, data, length);
    s->line_length = length;
}

/* Returns whether there may be more now. At end of file the output may be freed. */
static bool read_some(struct stream *s)
{
    static char data[LINE_BYTES + READ_BYTES];
    size_t kept = take_line(s, data);
    pvmd_virtual_hold(); /* a task that waits for its output to be read continues only after the effects of that */
    ssize_t n = read(s->io.fd, data + kept, READ_BYTES);
    pvmd_virtual_release();
    bool again = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n <= 0) {
        keep_line(s, data, kept);
        if (!again)
            stream_end(s);
        return false;
    }
    size_t length = kept + (size_t)n;
    const char *last = memrchr(data, '\n', length);
    size_t whole = last ? (size_t)(last - data) + 1 : 0;
    send_text(s, data, whole);
    keep_line(s, data + whole, length - whole);
    return true;
}

static void on_output(EV_P_ ev_io *io, int events)
{
    (void)loop;
    (void)events;
    read_some((struct stream *)io);
}

/* Reads at most as much as a pipe holds, because a process that prints endlessly may still have the other end. */
static void drain(pvmc_tid tid, int stream)
{
    struct output *o = find(tid);
    for (int i = 0; o && o->streams[stream].io.fd >= 0 && i < PIPE_BYTES / READ_BYTES; i++)
        if (!read_some(&o->streams[stream]))
            break;
}

/* The process has ended, and what it had printed is read. */
static void tell_status(const struct pvmd_task *task)
{
    struct output *o = find(task->tid);
    if (!o || !o->runs)
        return;
    send_mark(o, PVMC_OUTPUT_STATUS, task->status);
    o->runs = false;
    end_if_complete(o);
}

/* ---- programs from a shell ---- */

static void send_shell_mark(const struct pvmd_task *task, int mark)
{
    if (task->spawn_flags == -1 && pvmc_tid_is_task(task->output.tid))
        send_collector(&task->output, task->tid, mark, -1, NULL, 0);
}

void pvmd_output_shell_begins(const struct pvmd_task *task)
{
    send_shell_mark(task, PVMC_OUTPUT_NEW);
}

void pvmd_output_task_ends(const struct pvmd_task *task)
{
    for (int i = 0; i < STREAMS; i++)
        drain(task->tid, i);
    tell_status(task);
    send_shell_mark(task, PVMC_OUTPUT_EOF);
}

/* ---- spawns ---- */

bool pvmd_output_is_apart(pvmc_tid tid, const struct pvmd_collector *collector)
{
    const struct output *o = find(tid);
    const struct pvmd_collector *has = o ? &o->collector : NULL;
    return o && o->apart && has->tid == collector->tid && has->ctx == collector->ctx && has->tag == collector->tag;
}

void pvmd_output_spawn_begins(pvmc_tid parent)
{
    struct output *o = find(parent);
    if (o)
        o->spawns++;
}

void pvmd_output_spawned(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent)
{
    if (to->tid)
        send_collector(to, tid, PVMC_OUTPUT_SPAWN, parent, NULL, 0);
}

void pvmd_output_spawn_ends(pvmc_tid parent)
{
    struct output *o = find(parent);
    if (!o || !o->spawns)
        return;
    o->spawns--;
    end_if_complete(o);
}

static void open_stream(struct output *o, int i, int fd)
{
    struct stream *s = &o->streams[i];
    *s = (struct stream){.output = o, .is_error = i > 0};
    ev_io_init(&s->io, on_output, fd, EV_READ);
    ev_set_priority(&s->io, EV_MINPRI); /* messages first */
}

void pvmd_output_new(const struct pvmd_task *task, int fd, int error_fd)
{
    struct output *o = calloc(1, sizeof *o);
    if (!o) {
        pvmc_log(PVMC_LOG_ERROR, "no memory: lost the output of t%x", task->tid);
        close(fd);
        if (error_fd >= 0)
            close(error_fd);
        return;
    }
    o->tid = task->tid;
    o->parent = task->parent;
    o->apart = error_fd >= 0 && task->output.tid;
    o->runs = o->apart && task->running && task->spawn_flags & PvmTaskStreams;
    open_stream(o, 0, fd);
    open_stream(o, 1, error_fd);
    DL_APPEND(outputs, o);
    set_collector(o, &task->output);
    send_mark(o, PVMC_OUTPUT_NEW, o->parent);
    pause_or_go_on(o);
}

/* ---- start and end ---- */

void pvmd_output_start(void)
{
    pvmd_dm_handle(PVMD_DM_OUTPUT, log_question);
    pvmd_petition_handle(PVMD_DM_OUTPUT, log_petition);
}

void pvmd_output_stop(void)
{
    struct output *o, *next;
    DL_FOREACH_SAFE (outputs, o, next)
        output_free(o);
    free(held);
    held = NULL;
    held_count = 0;
}
