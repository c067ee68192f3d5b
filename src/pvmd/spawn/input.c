/* input.c - see input.h. */
#include "input.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ev.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/net/rpc.h"
#include "pvmd/tasks/watch.h"

struct input {
    ev_io io; /* active while `data` waits */
    pvmc_tid tid;
    char *data; /* what the pipe has not taken yet, or NULL */
    size_t length, written;
    bool ends;                /* nothing follows */
    struct pvmd_watch *watch; /* of the collector of its output, or NULL */
    UT_hash_handle hh;
};

static struct input *inputs;

static struct input *find(pvmc_tid tid)
{
    struct input *in;
    HASH_FIND_INT(inputs, &tid, in);
    return in;
}

static void close_input(struct input *in)
{
    pvmd_watch_cancel(in->watch);
    ev_io_stop(pvmd.loop, &in->io);
    close(in->io.fd);
    HASH_DEL(inputs, in);
    free(in->data);
    free(in);
}

/* Writes as much as fits. False, and in is freed, if nobody reads any more, or the input has ended. */
static bool write_some(struct input *in)
{
    while (in->written < in->length) {
        ssize_t n = write(in->io.fd, in->data + in->written, in->length - in->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            ev_io_start(pvmd.loop, &in->io);
            return true;
        }
        if (n < 0) {
            close_input(in);
            return false;
        }
        in->written += (size_t)n;
    }
    ev_io_stop(pvmd.loop, &in->io);
    free(in->data);
    in->data = NULL;
    if (!in->ends)
        return true;
    close_input(in);
    return false;
}

static void on_room(EV_P_ ev_io *io, int events)
{
    (void)loop;
    (void)events;
    write_some((struct input *)io);
}

static void collector_ended(void *arg, pvmc_tid tid)
{
    (void)tid;
    struct input *in = arg;
    in->watch = NULL; /* freed by watch.c */
    close_input(in);
}

void pvmd_input_new(const struct pvmd_task *task, int fd)
{
    struct input *in = calloc(1, sizeof *in);
    if (in) {
        in->tid = task->tid;
        ev_io_init(&in->io, on_room, fd, EV_WRITE);
    }
    if (!in || !PVMC_HASH_ADD(hh, inputs, tid, in)) {
        pvmc_log(PVMC_LOG_ERROR, "no memory: t%x has no input", task->tid);
        free(in);
        close(fd);
        return;
    }
    if (task->output.tid)
        in->watch = pvmd_watch(task->output.tid, collector_ended, in);
}

void pvmd_input_task_ends(const struct pvmd_task *task)
{
    struct input *in = find(task->tid);
    if (in)
        close_input(in);
}

/* 0, or why not now or never. No bytes: the end of the input. */
static int take(struct input *in, const void *data, size_t length)
{
    if (!length) {
        in->ends = true;
        if (!in->data)
            close_input(in);
        return PvmOk;
    }
    if (in->ends)
        return PvmNoTask;
    if (in->data)
        return PvmOutOfRes;
    in->data = malloc(length);
    if (!in->data)
        return PvmNoMem;
    memcpy(in->data, data, length);
    in->length = length;
    in->written = 0;
    return write_some(in) ? PvmOk : PvmNoTask;
}

static int input_question(const struct pvmd_question *q, struct pvmc_buf *body)
{
    size_t length;
    pvmc_tid tid = pvmc_buf_get_u32(body);
    const void *data = pvmc_buf_get_blob(body, &length);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct input *in = find(tid);
    pvmd_answer(q, in ? take(in, data, length) : PvmNoTask, NULL);
    return 0;
}

void pvmd_input_start(void)
{
    pvmd_dm_handle(PVMD_DM_INPUT, input_question);
}

void pvmd_input_stop(void)
{
    struct input *in, *next;
    HASH_ITER (hh, inputs, in, next) {
        close_input(in);
    }
}
