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

struct output {
    ev_io io;
    pvmc_tid tid;
    int32_t parent;
    struct pvmd_collector collector; /* tid 0: the master's log */
    struct pvmd_watch *watch;        /* of the collector */
    unsigned spawns;                 /* of the task, in progress */
    bool over;                       /* the pipe is closed, and only spawns hold EOF back */
    char *line;                      /* the unfinished last line, or NULL */
    size_t line_length;
    struct output *prev, *next;
};

static struct output *outputs;

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
    if (o->over || holds(to) || holds(pvmc_tid_host(to)))
        ev_io_stop(pvmd.loop, &o->io);
    else
        ev_io_start(pvmd.loop, &o->io);
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

/* Sends a tid with n bytes of data, or with a mark (n < 0) and the parent. */
static void send_collector(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent, int n, const char *data)
{
    int head[] = {(int)tid, n, parent};
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return;
    m->src = PVMC_TID_DAEMON | pvmd_host_tid();
    m->dst = to->tid;
    m->ctx = to->ctx;
    m->tag = to->tag;
    int rc = pvmc_message_pack(m, PVM_INT, head, n < 0 ? 3 : 2, 1);
    if (!rc && n > 0)
        rc = pvmc_message_pack(m, PVM_BYTE, data, n, 1);
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

static void send_mark(const struct output *o, enum pvmc_output_mark mark)
{
    if (o->collector.tid)
        send_collector(&o->collector, o->tid, o->parent, mark, NULL);
}

static void send_text(const struct output *o, const char *data, size_t length)
{
    if (!length)
        return;
    if (o->collector.tid)
        send_collector(&o->collector, o->tid, o->parent, (int)length, data);
    else
        send_log(o, data, length);
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

/* ---- collectors ---- */

static void collector_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct output *o = arg;
    o->watch = NULL;
    o->collector.tid = 0;
    pause_or_go_on(o);
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
    struct output *o;
    DL_SEARCH_SCALAR(outputs, o, tid, tid);
    if (!o)
        return;
    if (o->collector.tid != collector->tid)
        send_mark(o, PVMC_OUTPUT_EOF); /* the old collector need not wait for more */
    set_collector(o, collector);
    pause_or_go_on(o);
}

/* ---- reading ---- */

static void close_pipe(struct output *o)
{
    ev_io_stop(pvmd.loop, &o->io);
    close(o->io.fd);
    o->over = true;
}

static void output_free(struct output *o)
{
    if (!o->over)
        close_pipe(o);
    pvmd_watch_cancel(o->watch);
    DL_DELETE(outputs, o);
    free(o->line);
    free(o);
}

static void end_unless_it_spawns(struct output *o)
{
    if (o->spawns)
        return;
    send_mark(o, PVMC_OUTPUT_EOF);
    output_free(o);
}

static void output_end(struct output *o)
{
    send_text(o, o->line, o->line_length);
    o->line_length = 0;
    close_pipe(o);
    end_unless_it_spawns(o);
}

/* Puts the unfinished last line in front of what is read next. Returns its length. */
static size_t take_line(struct output *o, char *to)
{
    size_t length = o->line_length;
    if (length)
        memcpy(to, o->line, length);
    free(o->line);
    o->line = NULL;
    o->line_length = 0;
    return length;
}

/* Keeps an unfinished line for later, or sends it if it is too long. */
static void keep_line(struct output *o, const char *data, size_t length)
{
    if (!length)
        return;
    o->line = length < LINE_BYTES ? malloc(length) : NULL;
    if (!o->line) {
        send_text(o, data, length);
        return;
    }
    memcpy(o->line, data, length);
    o->line_length = length;
}

/* Returns whether there may be more now. At end of file o is freed. */
static bool read_some(struct output *o)
{
    static char data[LINE_BYTES + READ_BYTES];
    size_t kept = take_line(o, data);
    pvmd_virtual_hold(); /* a task that waits for its output to be read continues only after the effects of that */
    ssize_t n = read(o->io.fd, data + kept, READ_BYTES);
    pvmd_virtual_release();
    bool again = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n <= 0) {
        keep_line(o, data, kept);
        if (!again)
            output_end(o);
        return false;
    }
    size_t length = kept + (size_t)n;
    const char *last = memrchr(data, '\n', length);
    size_t whole = last ? (size_t)(last - data) + 1 : 0;
    send_text(o, data, whole);
    keep_line(o, data + whole, length - whole);
    return true;
}

static void on_output(EV_P_ ev_io *io, int events)
{
    (void)loop;
    (void)events;
    read_some((struct output *)io);
}

/* Reads at most as much as a pipe holds, because a process that prints endlessly may still have the other end. */
static void drain(pvmc_tid tid)
{
    struct output *o;
    DL_SEARCH_SCALAR(outputs, o, tid, tid);
    for (int i = 0; o && !o->over && i < PIPE_BYTES / READ_BYTES && read_some(o); i++)
        ;
}

/* ---- programs from a shell ---- */

static void send_shell_mark(const struct pvmd_task *task, int mark)
{
    if (task->spawn_flags == -1 && pvmc_tid_is_task(task->output.tid))
        send_collector(&task->output, task->tid, -1, mark, NULL);
}

void pvmd_output_shell_begins(const struct pvmd_task *task)
{
    send_shell_mark(task, PVMC_OUTPUT_NEW);
}

void pvmd_output_task_ends(const struct pvmd_task *task)
{
    drain(task->tid);
    send_shell_mark(task, PVMC_OUTPUT_EOF);
}

/* ---- spawns ---- */

void pvmd_output_spawn_begins(pvmc_tid parent)
{
    struct output *o;
    DL_SEARCH_SCALAR(outputs, o, tid, parent);
    if (o)
        o->spawns++;
}

void pvmd_output_spawned(const struct pvmd_collector *to, pvmc_tid tid, int32_t parent)
{
    if (to->tid)
        send_collector(to, tid, parent, PVMC_OUTPUT_SPAWN, NULL);
}

void pvmd_output_spawn_ends(pvmc_tid parent)
{
    struct output *o;
    DL_SEARCH_SCALAR(outputs, o, tid, parent);
    if (!o || !o->spawns)
        return;
    o->spawns--;
    if (o->over)
        end_unless_it_spawns(o);
}

void pvmd_output_new(const struct pvmd_task *task, int fd)
{
    struct output *o = calloc(1, sizeof *o);
    if (!o) {
        pvmc_log(PVMC_LOG_ERROR, "no memory: lost the output of t%x", task->tid);
        close(fd);
        return;
    }
    o->tid = task->tid;
    o->parent = task->parent;
    ev_io_init(&o->io, on_output, fd, EV_READ);
    ev_set_priority(&o->io, EV_MINPRI); /* messages first */
    DL_APPEND(outputs, o);
    set_collector(o, &task->output);
    send_mark(o, PVMC_OUTPUT_NEW);
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
