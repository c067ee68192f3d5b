/* fake_daemon.c - see fake_daemon.h. */
#include "fake_daemon.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/clock.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/message/message.h"
#include "core/message/proto.h"
#include "transports/transport.h"
#include "pvm3.h"

#define TASKS_MAX  16
#define HOST       0x40000u
#define RELEASE_US 500000
#define HALF_BYTES 100 /* of the message that FAKE_BEGIN starts */

struct task {
    struct pvmt_endpoint *ep; /* NULL: free */
    pvmc_tid tid;
    struct pvmc_frame *incoming;
    struct pvmc_frame **queue;
    size_t queued, capacity;
    uint32_t seq[8];  /* number of frames to it from the tids HOST + 0x100 + i */
    uint32_t offer;   /* the number of the last direct link that it has offered */
    pvmc_tid refuser; /* who refuses that offer once the task leaves; 0: nobody */
};

pid_t fake_daemon_pid;

static char folder[64], socket_path[128], place_path[128];
static struct task tasks[TASKS_MAX];
static pvmc_tid next_tid = HOST + 1;
static struct {
    pvmc_tid tid; /* 0: nothing to release */
    int64_t at_us;
    struct task *task;
} release;

/* ---- sending ---- */

static void drain(struct task *t)
{
    while (t->ep && t->queued && !t->ep->transport->ops->send(t->ep, t->queue[0])) {
        pvmc_frame_unref(t->queue[0]);
        memmove(t->queue, t->queue + 1, --t->queued * sizeof *t->queue);
    }
}

static void send_frame(struct task *t, struct pvmc_frame *f)
{
    if (t->queued == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->queue = realloc(t->queue, t->capacity * sizeof *t->queue);
    }
    t->queue[t->queued++] = f;
    drain(t);
}

static void send_bytes(struct task *t, struct pvmc_frame_header h, const void *data)
{
    h.dst = t->tid;
    h.dsig = pvmc_dsig_own();
    h.enc = PVMC_ENC_DEFAULT;
    struct pvmc_frame *f = pvmc_frame_alloc(&h);
    if (data)
        memcpy(f->mem->data, data, h.length);
    send_frame(t, f);
}

static void send_control(struct task *t, uint32_t ctx, int tag, int wid, const void *data, size_t length)
{
    send_bytes(t,
               (struct pvmc_frame_header){.src = PVMC_TID_DAEMON,
                                          .ctx = ctx,
                                          .tag = tag,
                                          .wid = wid,
                                          .length = (uint32_t)length,
                                          .body_length = length},
               data);
}

static void send_number(struct task *t, int tag, uint32_t number)
{
    send_control(t, PVMC_CTX_TC, tag, 0, &number, sizeof number);
}

static void answer(struct task *t, const struct pvmc_frame *request, int code, const struct pvmc_buf *rest)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_i32(&body, code);
    if (rest)
        pvmc_buf_put_bytes(&body, rest->data, rest->length);
    send_control(t, PVMC_CTX_TM, request->h.tag, request->h.wid, body.data, body.length);
    pvmc_buf_free(&body);
}

/* ---- tricks ---- */

/* A frame with a part of a message from another task. */
static void send_part(struct task *t, pvmc_tid src, uint32_t seq, uint64_t offset, uint32_t length, uint64_t whole)
{
    static const char zeros[2 * HALF_BYTES];
    send_bytes(t,
               (struct pvmc_frame_header){
                   .src = src, .seq = seq, .tag = 77, .length = length, .offset = offset, .body_length = whole},
               zeros);
}

static void send_output(struct task *t, pvmc_tid child, int n, const char *text)
{
    struct {
        int tid, n, parent;
    } mark = {(int)child, n, (int)t->tid};
    char body[128];
    size_t length = n > 0 ? 2 * sizeof(int) : n == PVMC_OUTPUT_EOF ? 2 * sizeof(int) : sizeof mark;
    memcpy(body, &mark, length);
    if (n > 0) {
        memcpy(body + length, text, n);
        length += n;
    }
    send_control(t, PVMC_CTX_TC, PVMC_TC_OUTPUT, 0, body, length);
}

static void send_text(struct task *t, pvmc_tid child, const char *text)
{
    send_output(t, child, (int)strlen(text), text);
}

/* A task that leaves withdraws its offer by an empty one with the same number. */
static void note_offer(struct task *t, const struct pvmc_frame *f)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, f->mem->data, f->h.length);
    t->offer = pvmc_buf_get_u32(&body);
}

static void refuse_offer(struct task *t)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, t->offer);
    pvmc_buf_put_i32(&body, PVMC_EDOWN);
    pvmc_buf_put_string(&body, "");
    pvmc_buf_put_blob(&body, NULL, 0);
    send_bytes(t,
               (struct pvmc_frame_header){.src = t->refuser,
                                          .seq = t->seq[t->refuser & 7]++,
                                          .ctx = PVMC_CTX_TC,
                                          .tag = PVMC_TC_ANSWER,
                                          .length = (uint32_t)body.length,
                                          .body_length = body.length},
               body.data);
    pvmc_buf_free(&body);
}

static void do_trick(struct task *t, enum fake_trick trick, uint32_t number)
{
    uint32_t *seq = &t->seq[number & 7];
    int siblings[] = {3, (int)number, PvmNoFile, (int)t->tid};
    switch (trick) {
    case FAKE_HOLD:
        send_number(t, PVMC_TC_HOLD, number);
        release.tid = number;
        release.at_us = pvmc_clock_us() + RELEASE_US;
        release.task = t;
        break;
    case FAKE_GONE:
        send_number(t, PVMC_TC_GONE, number);
        break;
    case FAKE_BEGIN:
        send_part(t, number, (*seq)++, 0, HALF_BYTES, 2 * HALF_BYTES);
        break;
    case FAKE_ABORT:
        send_bytes(t, (struct pvmc_frame_header){.src = number, .flags = PVMC_FRAME_ABORT}, NULL);
        break;
    case FAKE_GAP:
        send_part(t, number, *seq + 5, 0, HALF_BYTES, HALF_BYTES);
        break;
    case FAKE_WRONG_OFFSET:
        send_part(t, number, (*seq)++, 0, HALF_BYTES, 2 * HALF_BYTES);
        send_part(t, number, (*seq)++, HALF_BYTES / 2, HALF_BYTES, 2 * HALF_BYTES);
        break;
    case FAKE_RENEW:
        *seq = 0;
        break;
    case FAKE_WHOLE:
        send_bytes(t,
                   (struct pvmc_frame_header){
                       .src = number, .seq = (*seq)++, .tag = 78, .length = sizeof(int), .body_length = sizeof(int)},
                   &number);
        break;
    case FAKE_OUTPUT:
        send_output(t, number, PVMC_OUTPUT_NEW, NULL);
        send_text(t, number, "first line\nsec");
        break;
    case FAKE_OUTPUT_END:
        send_text(t, number, "ond line\n\nunfinished");
        send_output(t, number, PVMC_OUTPUT_EOF, NULL);
        break;
    case FAKE_SIBLINGS:
        send_control(t, PVMC_CTX_TC, PVMC_TC_SIBLINGS, 0, siblings, sizeof siblings);
        break;
    case FAKE_SHORT_ANSWER:
        break;
    case FAKE_LATE_REFUSAL:
        t->refuser = number;
        break;
    case FAKE_DIE:
        _exit(0);
    }
}

/* ---- requests ---- */

static void connect_task(struct task *t, struct pvmc_frame *f)
{
    struct pvmc_buf in, out;
    pvmc_buf_view(&in, f->mem->data, f->h.length);
    uint32_t fields[4];
    for (int i = 0; i < 4; i++)
        fields[i] = pvmc_buf_get_u32(&in);
    t->tid = next_tid++;
    pvmc_buf_init(&out);
    pvmc_buf_put_u32(&out, t->tid);
    pvmc_buf_put_i32(&out, PvmNoParent);
    pvmc_buf_put_u32(&out, 0);
    for (int i = 0; i < 6; i++) /* output and traces */
        pvmc_buf_put_u32(&out, 0);
    pvmc_buf_put_u32(&out, 0);
    pvmc_buf_put_u8(&out, fields[2] != 0); /* a task that presents a cookie was spawned */
    answer(t, f, fields[0] == PVMC_TASK_PROTOCOL ? PvmOk : PvmBadVersion, &out);
    pvmc_buf_free(&out);
}

static void tickle(struct task *t, struct pvmc_frame *f)
{
    struct pvmc_buf in, out;
    pvmc_buf_view(&in, f->mem->data, f->h.length);
    pvmc_buf_get_u32(&in);
    enum fake_trick trick = (enum fake_trick)pvmc_buf_get_i32(&in);
    do_trick(t, trick, pvmc_buf_get_u32(&in));
    pvmc_buf_init(&out);
    if (trick != FAKE_SHORT_ANSWER)
        pvmc_buf_put_u32(&out, 0);
    answer(t, f, PvmOk, &out);
    pvmc_buf_free(&out);
}

static void handle_request(struct task *t, struct pvmc_frame *f)
{
    switch (f->h.tag) {
    case PVMC_TM_CONNECT:
        connect_task(t, f);
        break;
    case PVMC_TM_TICKLE:
        tickle(t, f);
        break;
    case PVMC_TM_EXIT:
        if (t->refuser)
            refuse_offer(t);
        answer(t, f, PvmOk, NULL);
        break;
    case PVMC_TM_NOTIFY:
        answer(t, f, PvmOk, NULL);
        break;
    default:
        answer(t, f, PvmNotImpl, NULL);
    }
}

/* ---- callbacks of the transport ---- */

static int accepted(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who)
{
    (void)arg;
    (void)who;
    for (int i = 0; i < TASKS_MAX; i++)
        if (!tasks[i].ep) {
            tasks[i] = (struct task){.ep = ep};
            ep->owner = &tasks[i];
            return 0;
        }
    return PVMC_ELIMIT;
}

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    static uint8_t nowhere;
    struct task *t = ep->owner;
    t->incoming = pvmc_frame_alloc(h);
    return h->length ? t->incoming->mem->data : &nowhere;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    (void)arg;
    struct task *t = ep->owner;
    struct pvmc_frame *f = t->incoming;
    t->incoming = NULL;
    if (h->dst == PVMC_TID_DAEMON) {
        handle_request(t, f);
    } else {
        if (h->ctx == PVMC_CTX_TC && h->tag == (int32_t)PVMC_TC_OFFER)
            note_offer(t, f);
        for (int i = 0; i < TASKS_MAX; i++)
            if (tasks[i].ep && tasks[i].tid == h->dst)
                send_frame(&tasks[i], pvmc_frame_ref(f));
    }
    pvmc_frame_unref(f);
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg;
    drain(ep->owner);
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    (void)arg;
    (void)reason;
    struct task *t = ep->owner;
    while (t->queued)
        pvmc_frame_unref(t->queue[--t->queued]);
    pvmc_frame_unref(t->incoming);
    free(t->queue);
    *t = (struct task){0};
    ep->transport->ops->disconnect(ep);
}

static const struct pvmt_callbacks callbacks = {
    .accepted = accepted, .rx_place = rx_place, .rx_done = rx_done, .tx_ready = tx_ready, .down = down};

/* ---- the process ---- */

static void remove_folder(void)
{
    unlink(socket_path);
    unlink(place_path);
    rmdir(folder);
}

static void leave(int signal)
{
    (void)signal;
    remove_folder();
    _exit(0);
}

/* The end of a test that failed ends its process group by SIGKILL, so the daemon that cleans up is not in that group.
 */
static void end_with_test(void)
{
    signal(SIGTERM, leave);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static void serve(int ready)
{
    struct pvmt_transport *t;
    const struct pvmt_transport_ops *ops = pvmt_transport_find("unix");
    end_with_test();
    if (ops->open(socket_path, &callbacks, NULL, &t))
        _exit(1);
    if (write(ready, "", 1) != 1)
        _exit(1);
    for (;;) {
        struct pollfd fd = {.fd = ops->fd(t), .events = POLLIN};
        if (!ops->arm(t))
            poll(&fd, 1, release.tid ? 20 : -1);
        ops->progress(t);
        if (release.tid && pvmc_clock_us() >= release.at_us) {
            send_number(release.task, PVMC_TC_RELEASE, release.tid);
            release.tid = 0;
        }
    }
}

void fake_daemon_start(void)
{
    char byte;
    int ready[2];
    strcpy(folder, "/tmp/fake_daemon.XXXXXX");
    if (!mkdtemp(folder) || pipe(ready))
        abort();
    setenv("PVM_TMP", folder, 1);
    unsetenv("PVM_VMID");
    unsetenv("PVMSOCK");
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    snprintf(place_path, sizeof place_path, "%s/pvmd.%u", folder, (unsigned)getuid());
    fake_daemon_pid = fork();
    if (!fake_daemon_pid)
        serve(ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        abort();
    close(ready[0]);
    mode_t mask = umask(077);
    FILE *f = fopen(place_path, "w");
    umask(mask);
    fputs(socket_path, f);
    fclose(f);
}

void fake_daemon_stop(void)
{
    kill(fake_daemon_pid, SIGKILL);
    waitpid(fake_daemon_pid, NULL, 0);
    remove_folder();
}

int fake_daemon_do(enum fake_trick trick, int number)
{
    int arguments[] = {(int)trick, number}, n, answers[10];
    int result = pvm_tickle(2, arguments, &n, answers);
    siginfo_t end;
    if (trick == FAKE_DIE) /* its listening socket may be closed after our connection; fake_daemon_stop() reaps it */
        waitid(P_PID, (id_t)fake_daemon_pid, &end, WEXITED | WNOWAIT);
    return result;
}
