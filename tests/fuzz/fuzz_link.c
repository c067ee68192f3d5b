/*
 * fuzz_link.c - a link between daemons whose other end has the machine's secret and sends anything within TLS: frames,
 * signals and counts, in pieces of any size, over connections that break and are re-established at any time.
 *
 * This file fakes TLS (src/wire/tls.h). Input: a byte that selects the master, then records { kind, choice, length,
 * bytes }.
 */
#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "pvmd/base/self.h"
#include "pvmd/net/detour.h"
#include "pvmd/net/dial.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/link.h"
#include "pvmd/frames/hold.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/stream.h"
#include "pvmd/base/virtual.h"
#include "wire/tls.h"
#include "fuzz.h"

enum {
    SELF = 2,
    PEER = 3,
    MASTER = 1,
    RETURNED = 4, /* the master's daemon, started again */
    RECORDS_MAX = 48,
    FRAME_MAX = 1024,
    DETOUR_AT = 56,
    COUNT_AT = 60,
    ASK_FLAG = 0x80,
    ANSWER_CALL = 240
};

struct pvmd_daemon pvmd;

static uint32_t relayed; /* frames that came */
static bool lost;

/* ---- fake TLS: bytes are passed unchanged ---- */

struct pvmw_tls {
    int fd;
};

static bool wire_is_full;

struct pvmw_tls *pvmw_tls_new(int fd, enum pvmw_tls_role role, const struct pvmw_tls_key *key)
{
    struct pvmw_tls *s = malloc(sizeof *s);
    (void)role, (void)key;
    s->fd = fd;
    return s;
}

int pvmw_tls_handshake(struct pvmw_tls *s)
{
    (void)s;
    return 1;
}

ssize_t pvmw_tls_read(struct pvmw_tls *s, void *to, size_t size)
{
    ssize_t n = recv(s->fd, to, size, MSG_DONTWAIT);
    return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
}

/* One call per read, as when the kernel has more data. */
bool pvmw_tls_has_pending(const struct pvmw_tls *s)
{
    uint8_t byte;
    return recv(s->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

size_t pvmw_tls_put(struct pvmw_tls *s, const void *data, size_t length)
{
    (void)s, (void)data;
    return wire_is_full ? length / 2 : length;
}

bool pvmw_tls_flush(struct pvmw_tls *s)
{
    (void)s;
    return !wire_is_full;
}

bool pvmw_tls_is_blocked(const struct pvmw_tls *s)
{
    (void)s;
    return wire_is_full;
}

const char *pvmw_tls_error(const struct pvmw_tls *s)
{
    (void)s;
    return NULL;
}

void pvmw_tls_end(struct pvmw_tls *s, bool politely)
{
    (void)politely;
    free(s);
}

const struct pvmw_tls_ops pvmw_tls_table = {
    .read = pvmw_tls_read,
    .put = pvmw_tls_put,
    .flush = pvmw_tls_flush,
    .is_blocked = pvmw_tls_is_blocked,
    .error = pvmw_tls_error,
};

/* ---- functions that a link needs ---- */

void pvmd_relay(struct pvmc_frame *f, unsigned from_host)
{
    MUST(from_host == PEER && !pvmc_frame_check(&f->h));
    relayed++;
}

void pvmd_tell_link_up(unsigned host_index)
{
    MUST(host_index == PEER && pvmd_link_state(pvmd_host_any(PEER)) == PVMD_LINK_UP);
}

void pvmd_tell_link_lost(unsigned host_index, const char *why)
{
    MUST(host_index == PEER && why);
    lost = pvmd_host_any(PEER)->lost = true;
    MUST(!pvmd_link_is_out(pvmd_host_any(PEER)) || pvmd.master_index == PEER);
    pvmd_link_is_proven(pvmd_host_any(PEER));
    pvmd_link_close(pvmd_host_any(PEER));
}

void pvmd_tell_link_out(unsigned host_index)
{
    (void)host_index;
}

void pvmd_tell_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind)
{
    (void)received, (void)kind;
    MUST(host_index == PEER);
}

void pvmd_hold_tell(pvmc_tid sender, pvmc_tid receiver, bool hold)
{
    (void)sender, (void)receiver, (void)hold;
}

void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes)
{
    (void)sender, (void)receiver, (void)bytes;
}

bool pvmd_virtual_is_watched(void)
{
    return false;
}

void pvmd_virtual_tell(void)
{
}

void pvmd_trim_later(void)
{
}

/* ---- fake calls of ours: records decide what becomes of them ---- */

struct pvmd_dial {
    const struct pvmd_dial_events *events;
    void *owner;
    union pvmw_address address;
};

static struct pvmd_dial *dialing;

struct pvmd_dial *pvmd_dial_new(struct ev_loop *loop, const struct pvmw_addresses *addresses,
                                const struct pvmd_preface *preface, const struct pvmd_dial_events *events, void *owner)
{
    (void)loop;
    MUST(!dialing && addresses->count && preface->to_index == PEER);
    dialing = malloc(sizeof *dialing);
    *dialing = (struct pvmd_dial){.events = events, .owner = owner, .address = addresses->list[0]};
    return dialing;
}

void pvmd_dial_cancel(struct pvmd_dial *d)
{
    MUST(d == dialing);
    free(d);
    dialing = NULL;
}

bool pvmd_dial_is_answered(const struct pvmd_dial *d)
{
    MUST(d == dialing);
    return false;
}

bool pvmd_dial_has_asked(const struct pvmd_dial *d)
{
    MUST(d == dialing);
    return true;
}

const char *pvmd_dial_why(const struct pvmd_dial *d)
{
    MUST(d == dialing);
    return "";
}

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

/* ---- the other daemon ---- */

static int wire = -1;

static void hang_up(void)
{
    if (wire >= 0)
        close(wire);
    wire = -1;
}

static void work(void)
{
    for (int i = 0; i < 3; i++)
        ev_run(pvmd.loop, EVRUN_NOWAIT);
}

/* A call from the other daemon, if the link accepts it. */
static void call(unsigned from, uint32_t epoch)
{
    static const uint8_t key[PVMD_KEY_BYTES] = {1};
    struct pvmd_preface p = {
        .from_index = from, .from_incarnation = PEER, .to_index = SELF, .to_incarnation = SELF, .epoch = epoch};
    int pair[2];
    enum pvmd_verdict verdict = pvmd_link_offered(&p);
    if (verdict == PVMD_VERDICT_CROSSED)
        pvmd_link_crossed(&p);
    if (verdict != PVMD_VERDICT_GO)
        return;
    hang_up();
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair));
    wire = pair[1];
    pvmd_link_accepted(&p, pair[0], key);
    work();
}

/* Our call reaches the other daemon, or fails. */
static void answer_call(uint8_t choice)
{
    static const enum pvmd_verdict verdicts[] = {0, PVMD_VERDICT_CROSSED, PVMD_VERDICT_RELAYED,
                                                 0, PVMD_VERDICT_WRONG,   PVMD_VERDICT_OUT};
    static const uint8_t key[PVMD_KEY_BYTES] = {1};
    struct pvmd_dial *d = dialing;
    int pair[2];
    if (!d)
        return;
    dialing = NULL; /* the link has forgotten it when this returns, and may call again meanwhile */
    if (choice % 4 < 3) {
        unsigned row = choice % 4 + (choice & 8 ? 4 : 0);
        d->events->failed(d->owner, verdicts[row < 6 ? row : 0], choice & 4, "nobody is there");
    } else {
        hang_up();
        MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair));
        wire = pair[1];
        d->events->connected(d->owner, pair[0], key, &d->address);
    }
    free(d);
}

static void say(const void *bytes, size_t length)
{
    if (wire >= 0)
        send(wire, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void put_count(uint8_t header[PVMC_FRAME_HEADER_BYTES], uint8_t count)
{
    memcpy(header + COUNT_AT, &(uint32_t){(uint32_t)(int8_t)count}, sizeof(uint32_t));
}

static void say_signal(uint8_t signal, uint8_t count)
{
    uint8_t header[PVMC_FRAME_HEADER_BYTES] = {'L', 'K', PVMC_DAEMON_PROTOCOL, signal};
    if (signal == PVMD_SIGNAL_DETOUR)
        memcpy(header + DETOUR_AT, &(uint32_t){pvmd_detour(count % 4, count & 4, count / 8)}, sizeof(uint32_t));
    put_count(header, count);
    say(header, sizeof header);
}

/* Bits of `choice`: 0 and 1 ask for our count, or set flags; 2 in two pieces; 3 without its end. */
static void say_frame(uint8_t choice, struct fuzz_input *in)
{
    uint8_t bytes[PVMC_FRAME_HEADER_BYTES + 256];
    struct pvmc_frame_header h = {.src = 0xc0001, .dst = 0x80001, .flags = choice & 2 ? PVMC_FRAME_ABORT : 0};
    uint8_t count = fuzz_byte(in);
    h.offset = fuzz_byte(in);
    uint8_t rest = fuzz_byte(in);
    h.length = h.flags ? 0 : (uint32_t)in->left;
    h.body_length = h.offset + h.length + rest;
    pvmc_frame_encode(&h, bytes);
    bytes[3] |= choice & 1 ? ASK_FLAG : 0;
    put_count(bytes, count);
    if (h.length)
        memcpy(bytes + PVMC_FRAME_HEADER_BYTES, in->data, h.length);
    size_t length = PVMC_FRAME_HEADER_BYTES + h.length, first = choice & 4 ? length / 2 : length;
    say(bytes, first);
    work();
    if (!(choice & 8))
        say(bytes + first, length - first);
}

/* ---- this daemon ---- */

static void send_frames(unsigned count, uint32_t length)
{
    for (unsigned i = 0; i < count && !lost; i++) {
        struct pvmc_frame_header h = {
            .length = length, .body_length = length, .src = 0x80001, .dst = 0xc0001, .seq = i};
        struct pvmc_frame *f = pvmc_frame_alloc(&h);
        if (length)
            memset(f->mem->data, 0, length);
        pvmd_link_send(pvmd_host_any(PEER), f);
        pvmc_frame_unref(f);
    }
}

static void do_record(uint8_t kind, uint8_t choice, struct fuzz_input *in)
{
    struct pvmd_host *peer = pvmd_host_any(PEER);
    bool up = pvmd_link_state(peer) == PVMD_LINK_UP;
    MUST(pvmd_link_why(peer) && (pvmd_link_fd(peer) >= 0) == up);
    if (kind >= ANSWER_CALL) {
        answer_call(choice);
        work();
        return;
    }
    switch (kind % 10) {
    case 0:
    case 1:
    case 2:
        say_frame(choice, in);
        break;
    case 3:
    case 4:
        say_signal(choice % 8, fuzz_byte(in));
        break;
    case 5:
        send_frames(choice % 16, choice & 16 ? 20000 : choice);
        break;
    case 6:
        call(choice & 64 ? RETURNED : PEER, choice % 8);
        break;
    case 7:
        wire_is_full = choice & 1;
        if (!(choice & 6))
            hang_up();
        break;
    case 8:
        say(in->data, in->left);
        break;
    default:
        if (choice % 4 == 0 && pvmd.master_index == MASTER)
            pvmd_link_peer_counts(peer, choice / 16, choice / 4 % 4);
        else if (choice % 4 == 1 && up)
            pvmd_link_ping(peer);
        else if (choice % 4 == 2 && up && choice & 4)
            pvmd_link_silent(peer, "it is silent");
        else if (choice % 4 == 2 && up)
            pvmd_link_stuck(peer, "it is silent");
        else if (choice % 4 == 3 && up && choice & 32)
            pvmd_link_look_idle(peer, pvmc_clock_us() + (choice & 64 ? 1000000000 : 0));
        else if (choice % 4 == 3 && up)
            pvmd_link_forgive(peer, pvmd_link_look(peer) ? pvmd_link_proven_us(peer) + choice : choice);
    }
    work();
}

static void start(uint8_t options)
{
    static struct pvmd_host *hosts[4];
    if (!pvmd.loop) {
        pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
        pvmd.loop = ev_default_loop(0);
        MUST(!pvmd_machine_new());
    }
    pvmd.host_index = SELF;
    pvmd.master_index = options & 1 ? SELF : options & 2 ? PEER : MASTER;
    for (unsigned i = 1; i <= PEER; i++)
        pvmd_host_set_state(hosts[i] = pvmd_host_new(i, i, &"abc"[i - 1]), PVMD_HOST_UP);
    hosts[PEER]->port = 1;
    MUST(!pvmd_host_set_text(&hosts[PEER]->address, "192.0.2.1"));
    relayed = 0;
    lost = wire_is_full = false;
}

static void stop(void)
{
    hang_up();
    for (unsigned i = 1; i <= RETURNED; i++)
        if (pvmd_host_any(i))
            pvmd_link_close(pvmd_host_any(i));
    work();
    pvmd_host_free_all();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    start(fuzz_byte(&in));
    call(PEER, 0);
    say_signal(PVMD_SIGNAL_HELLO, 0);
    work();
    for (int i = 0; i < RECORDS_MAX && in.left && !lost; i++) {
        uint8_t kind = fuzz_byte(&in), choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        struct fuzz_input record = {in.data, length};
        do_record(kind, choice, &record);
        in.data += length;
        in.left -= length;
    }
    stop();
    return 0;
}
