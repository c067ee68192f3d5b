/*
 * fuzz_libpvm.c - a task with a malicious daemon, malicious tasks and malicious direct links: control messages, answers
 * to its requests, frames in any order, links that break within a frame.
 *
 * The daemon is faked on a real socket; the links belong to a transport in this file. Input: a byte of options, then
 * records { kind, choice, length, bytes }. The bytes form a frame's header and payload, or the answers to the requests
 * of a call.
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "core/message/partial.h"
#include "libpvm/base/active.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/peer.h"
#include "libpvm/route/route.h"
#include "libpvm/base/task.h"
#include "libpvm/engine/wait.h"
#include "fuzz.h"
#include "pvm3.h"
#include "pvmproto.h"

enum { OWN = 0x40001, NEIGHBOUR = 0x40002, REMOTE = 0x80001, LINKS = 2, RECORDS_MAX = 32, ANSWER_BYTES_MAX = 512 };

static struct fuzz_input answers; /* the daemon's answers */

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

/* ---- the daemon ---- */

static int listener = -1, daemon_end = -1;

static void listen_as_daemon(void)
{
    static struct sockaddr_un sun = {.sun_family = AF_UNIX};
    snprintf(sun.sun_path, sizeof sun.sun_path, "/tmp/dpvm-fuzz-%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    MUST(!bind(listener, (struct sockaddr *)&sun, sizeof sun) && !listen(listener, 5));
    setenv("PVMSOCK", sun.sun_path, 1);
}

static void remove_socket(void)
{
    unlink(getenv("PVMSOCK"));
}

static void send_frame(const struct pvmc_frame_header *h, const uint8_t *payload)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES + ANSWER_BYTES_MAX];
    MUST(h->length <= ANSWER_BYTES_MAX);
    pvmc_frame_encode(h, wire);
    if (h->length)
        memcpy(wire + PVMC_FRAME_HEADER_BYTES, payload, h->length);
    send(daemon_end, wire, PVMC_FRAME_HEADER_BYTES + h->length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(const struct pvmc_frame_header *question, const uint8_t *body, size_t length)
{
    struct pvmc_frame_header h = {.length = (uint32_t)length,
                                  .body_length = length,
                                  .src = PVMC_TID_DAEMON,
                                  .dst = OWN,
                                  .ctx = PVMC_CTX_TM,
                                  .tag = question->tag,
                                  .wid = question->wid};
    send_frame(&h, body);
}

static void answer_connect(const struct pvmc_frame_header *question)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_i32(&b, PvmOk);
    pvmc_buf_put_u32(&b, OWN);
    pvmc_buf_put_i32(&b, PvmNoParent);
    for (int i = 0; i < 7; i++) /* context, output, traces */
        pvmc_buf_put_u32(&b, 0);
    pvmc_buf_put_u32(&b, fuzz_byte(&answers) % 2 ? NEIGHBOUR : 0); /* the resource manager */
    pvmc_buf_put_u8(&b, fuzz_byte(&answers) % 2);
    answer(question, b.data, b.length);
    pvmc_buf_free(&b);
}

/* A byte gives the length of the answer in the input. */
static void answer_question(const struct pvmc_frame_header *question)
{
    if (question->tag == (int32_t)PVMC_TM_CONNECT) {
        answer_connect(question);
        return;
    }
    size_t length = fuzz_byte(&answers);
    if (length > answers.left)
        length = answers.left;
    answer(question, answers.data, length);
    if (length)
        answers.data += length;
    answers.left -= length;
}

/* To the resource manager, whose answers are packed values. */
static void answer_as_manager(const struct pvmc_frame_header *question)
{
    size_t length = answers.left;
    struct pvmc_frame_header h = {.length = (uint32_t)length,
                                  .body_length = length,
                                  .src = NEIGHBOUR,
                                  .dst = OWN,
                                  .tag = question->tag,
                                  .wid = question->wid,
                                  .seq = pvmi_peer_get(NEIGHBOUR)->rx_seq,
                                  .enc = PVMC_ENC_DEFAULT,
                                  .dsig = pvmc_dsig_own()};
    send_frame(&h, answers.data);
    answers.left = 0;
}

/* Reads the task's messages and answers its requests. */
static void serve(void)
{
    static uint8_t wire[1 << 16];
    struct pvmc_frame_header h;
    if (daemon_end < 0)
        daemon_end = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    ssize_t n = recv(daemon_end, wire, sizeof wire, MSG_DONTWAIT);
    for (ssize_t at = 0; at + PVMC_FRAME_HEADER_BYTES <= n; at += PVMC_FRAME_HEADER_BYTES + h.length) {
        if (pvmc_frame_decode(wire + at, &h))
            return;
        if (h.ctx == PVMC_CTX_TM && h.wid)
            answer_question(&h);
        else if (h.dst == NEIGHBOUR && h.tag >= SM_FIRST && h.tag <= SM_LAST)
            answer_as_manager(&h);
    }
}

int __real_pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us);
int __wrap_pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us);
int __real_pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us);
int __wrap_pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us);

/* Replace the two functions that wait: the daemon answers at once, and nothing else will arrive. */
int __wrap_pvmi_wait_until(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    (void)deadline_us;
    serve();
    return __real_pvmi_wait_until(done, arg, 0);
}

int __wrap_pvmi_wait_for_message(pvmi_condition *done, void *arg, int64_t deadline_us)
{
    (void)deadline_us;
    serve();
    return __real_pvmi_wait_for_message(done, arg, 0);
}

/* ---- direct links: a transport that delivers the input ---- */

struct wire_link {
    struct pvmt_endpoint base; /* transport is NULL when it is down */
    struct pvmc_frame_header placing;
    uint8_t *place; /* of an incomplete frame */
};

static struct wire_link wires[LINKS];
static bool wire_is_full, wire_is_lossless;
static struct pvmt_transport wire_transport;

static int wire_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                     struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops wire_ops;
    (void)address;
    wire_transport = (struct pvmt_transport){.ops = &wire_ops, .callbacks = callbacks, .arg = arg};
    *out = &wire_transport;
    return 0;
}

static void wire_close(struct pvmt_transport *t)
{
    (void)t;
    memset(wires, 0, sizeof wires);
}

static void wire_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){.frame_max = 64, .copy_max = 64, .lossless = wire_is_lossless, .end_unseen = true};
}

static void wire_disconnect(struct pvmt_endpoint *ep)
{
    *(struct wire_link *)ep = (struct wire_link){0};
}

static int wire_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    MUST(ep->transport && f->h.length <= 64);
    return wire_is_full ? PVMC_EAGAIN : 0;
}

static size_t wire_pending(const struct pvmt_endpoint *ep)
{
    (void)ep;
    return 0;
}

static int wire_progress(struct pvmt_transport *t)
{
    (void)t;
    return 0;
}

static int wire_fd(struct pvmt_transport *t)
{
    static int fd = -1;
    (void)t;
    if (fd < 0)
        fd = eventfd(0, EFD_CLOEXEC);
    return fd;
}

const struct pvmt_transport_ops wire_ops = {.name = "wire",
                                            .open = wire_open,
                                            .close = wire_close,
                                            .query = wire_query,
                                            .disconnect = wire_disconnect,
                                            .send = wire_send,
                                            .pending = wire_pending,
                                            .progress = wire_progress,
                                            .fd = wire_fd,
                                            .arm = wire_progress};

static pvmc_tid tid_of_wire(unsigned i)
{
    return i ? REMOTE : NEIGHBOUR;
}

/* Makes a link to that task if there is none; joined, or already up. */
static void wire_new(unsigned i, bool up)
{
    struct pvmi_peer *p = wires[i].base.transport ? NULL : pvmi_peer_get(tid_of_wire(i));
    if (!p || p->route.attempt || !pvmi_link_is_up())
        return;
    struct pvmi_link *l = pvmi_link_new(&wire_ops, p, PVMI_LINK_JOINED);
    wires[i].base = (struct pvmt_endpoint){.transport = &wire_transport, .owner = l};
    l->ep = &wires[i].base;
    l->attempt = p->route.number = 1;
    p->route.attempt = l;
    if (up)
        pvmi_route_heard(l);
}

static void wire_down(struct wire_link *w)
{
    if (w->base.transport)
        wire_transport.callbacks->down(wire_transport.arg, &w->base, PVMC_EDOWN);
}

/* The payload of the current frame, from the input. */
static void wire_complete(struct wire_link *w, const uint8_t *bytes, size_t length)
{
    struct pvmc_frame_header h = w->placing;
    if (!w->place)
        return;
    memset(w->place, 0, h.length);
    if (length)
        memcpy(w->place, bytes, length < h.length ? length : h.length);
    w->place = NULL;
    wire_transport.callbacks->rx_done(wire_transport.arg, &w->base, &h);
}

/* A message that arrives whole, in its own memory if `owned`. */
static void wire_whole(struct wire_link *w, const struct pvmc_frame_header *h, const uint8_t *payload, bool owned)
{
    struct pvmc_mem *mem = owned && h->length ? pvmc_mem_new(h->length) : NULL;
    if (mem)
        memcpy(mem->data, payload, h->length);
    if (wire_transport.callbacks->rx_whole(wire_transport.arg, &w->base, h, mem, mem ? mem->data : payload))
        pvmc_mem_unref(mem);
}

/*
 * Bits of `way`: 0 the whole message at once if it is a single frame; 1 in its own memory; 2 the payload comes later.
 */
static void wire_frame(struct wire_link *w, const struct pvmc_frame_header *h, const uint8_t *payload, uint8_t way)
{
    if (!w->base.transport)
        return;
    if (w->place)
        wire_complete(w, NULL, 0);
    if (!w->base.transport)
        return;
    if (way & 1 && h->length == h->body_length && !h->flags) {
        wire_whole(w, h, payload, way & 2);
        return;
    }
    uint8_t *place = wire_transport.callbacks->rx_place(wire_transport.arg, &w->base, h);
    if (!w->base.transport || !place)
        return;
    w->placing = *h;
    w->place = place;
    if (!(way & 4))
        wire_complete(w, payload, h->length);
}

/* ---- frames ---- */

static const int32_t tags[] = {1,
                               2,
                               (int32_t)PVMC_TC_HOLD,
                               (int32_t)PVMC_TC_RELEASE,
                               (int32_t)PVMC_TC_GONE,
                               (int32_t)PVMC_TC_MANAGER,
                               (int32_t)PVMC_TC_OUTPUT,
                               (int32_t)PVMC_TC_SIBLINGS,
                               (int32_t)PVMC_TC_ENDED,
                               (int32_t)PVMC_TC_OFFER,
                               (int32_t)PVMC_TC_ANSWER,
                               (int32_t)PVMC_TC_ROUTES,
                               (int32_t)PVMC_TC_ACK,
                               SM_EXECACK,
                               SM_CONFIG,
                               SM_TASK};

/* Makes a header from eight bytes. False: no transport would pass it. */
static bool make_header(struct fuzz_input *in, struct pvmc_frame_header *h)
{
    const pvmc_tid senders[] = {NEIGHBOUR, REMOTE, PVMC_TID_DAEMON, PVMC_TID_DAEMON | 0x40000, OWN, 0x40003};
    const uint32_t contexts[] = {0, PVMC_CTX_TC, PVMC_CTX_TM, 5};
    uint8_t choice = fuzz_byte(in), tag = fuzz_byte(in);
    *h = (struct pvmc_frame_header){
        .src = senders[(choice & 7) % 6], .dst = OWN, .ctx = contexts[choice >> 3 & 3], .dsig = pvmc_dsig_own()};
    h->enc = choice & 32 ? PVMC_ENC_DEFAULT : PVMC_ENC_TRACE;
    h->flags = choice & 64 ? PVMC_FRAME_ABORT : choice & 128 ? PVMC_FRAME_AGAIN : 0;
    h->flags |= tag & 128 ? PVMC_FRAME_STREAM : 0;
    h->tag = tags[tag % 16];
    h->wid = tag >> 4 & 3;
    h->seq = (uint32_t)(int8_t)fuzz_byte(in);
    h->offset = fuzz_byte(in);
    uint8_t rest = fuzz_byte(in);
    h->length = h->flags & PVMC_FRAME_ABORT ? 0 : (uint32_t)in->left;
    h->body_length =
        tag & 64 && rest && h->flags & PVMC_FRAME_STREAM ? PVMC_FRAME_LENGTH_OPEN : h->offset + h->length + rest;
    return !pvmc_frame_check(h);
}

static void say_frame(struct fuzz_input *in, uint8_t way)
{
    struct pvmc_frame_header h;
    if (!make_header(in, &h))
        return;
    if (way & 8)
        wire_frame(&wires[way >> 4 & 1], &h, in->data, way);
    else
        send_frame(&h, in->data);
    pvmi_wait_poll();
}

/* ---- the program's calls ---- */

static void receive(void)
{
    char text[64];
    static int kept; /* may grow on */
    int numbers[4], bytes, tag, tid;
    while (pvm_nrecv(-1, -1) > 0) {
        const struct pvmc_message *m = pvmi_receive_buffer.m;
        if (m->partial == PVMC_PARTIAL_GROWS) { /* only what has come: nobody sends the rest while we wait */
            pvm_upkbyte(text, m->length < sizeof text ? (int)m->length : (int)sizeof text, 1);
            pvm_freebuf(kept);
            kept = pvm_setrbuf(0);
            continue;
        }
        pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid);
        pvm_upkint(numbers, 4, 1);
        if (bytes < (int)sizeof text)
            pvm_upkstr(text);
    }
}

static void send_to(int tid, bool large)
{
    static const char data[300];
    pvm_initsend(large ? PvmDataInPlace : PvmDataDefault);
    pvm_pkbyte((char *)data, large ? (int)sizeof data : 8, 1);
    pvm_send(tid, 1);
}

static void call(uint8_t which)
{
    static char *hosts[] = {"b", "c"};
    int n, m, tids[4], infos[2];
    struct pvmhostinfo *host_list;
    struct pvmtaskinfo *task_list;
    struct pvmmboxinfo *boxes;
    switch (which % 20) {
    case 0:
        pvm_config(&n, &m, &host_list);
        break;
    case 1:
        pvm_tasks(0, &n, &task_list);
        break;
    case 2:
        pvm_spawn("x", NULL, PvmTaskDefault, "", 3, tids);
        break;
    case 3:
        pvm_recvinfo("box", 0, PvmMboxDefault);
        break;
    case 4:
        pvm_getmboxinfo("*", &n, &boxes);
        break;
    case 5:
        pvm_addhosts(hosts, 2, infos);
        break;
    case 6:
        pvm_delhosts(hosts, 2, infos);
        break;
    case 7:
        pvm_notify(PvmTaskExit, 7, 1, (int[]){REMOTE});
        break;
    case 8:
        pvm_hostsync(0x80000, &(struct timeval){0}, &(struct timeval){0});
        break;
    case 9:
        pvm_tickle(1, (int[]){1}, &n, (int[10]){0});
        break;
    case 10:
        pvm_newcontext();
        break;
    case 11:
        pvm_putinfo("box", pvm_initsend(PvmDataDefault), PvmMboxDefault);
        break;
    case 12:
        pvm_siblings(NULL);
        break;
    case 13:
        pvm_pstat(REMOTE);
        break;
    case 14:
        pvm_setopt(PvmRoute, PvmRouteDirect);
        break;
    case 15:
        pvm_mcast((int[]){NEIGHBOUR, REMOTE}, 2, 3);
        break;
    case 16:
        pvm_probe(-1, -1);
        break;
    default:
        send_to(which & 1 ? NEIGHBOUR : REMOTE, which & 2);
    }
}

static void do_record(uint8_t kind, uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    struct wire_link *w = &wires[choice & 1];
    switch (kind % 6) {
    case 0:
    case 1:
        say_frame(&in, choice);
        break;
    case 2:
        answers = in;
        call(choice);
        break;
    case 3:
        receive();
        break;
    case 4:
        wire_new(choice & 1, choice & 2);
        break;
    default:
        wire_is_full = choice & 2;
        if (choice & 4)
            wire_down(w);
        else if (choice & 8)
            wire_complete(w, bytes, length);
        else if (!wire_is_full && w->base.transport)
            wire_transport.callbacks->tx_ready(wire_transport.arg, &w->base);
    }
    serve();
}

static void start(void)
{
    listen_as_daemon();
    atexit(remove_socket);
    setenv("PVM_TRANSPORT", "shm", 1);
    setenv("PVM_SHM_RING", "16k", 1);
    setenv("PVM_LINK_FRAMES", "1", 1);
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    pvm_setopt(PvmAutoErr, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    if (listener < 0)
        start();
    uint8_t options[] = {fuzz_byte(&in), 0};
    options[1] = options[0] >> 1;
    answers = (struct fuzz_input){options, sizeof options};
    wire_is_lossless = options[0] & 4;
    wire_is_full = false;
    MUST(pvm_mytid() == OWN);
    pvm_setopt(PvmRoute, PvmAllowDirect);
    for (int i = 0; i < RECORDS_MAX && in.left; i++) {
        uint8_t kind = fuzz_byte(&in), choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        do_record(kind, choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    answers = (struct fuzz_input){0};
    pvm_exit();
    close(daemon_end);
    daemon_end = -1;
    return 0;
}
