/* side.c - frames, callbacks, and connecting two sides. */
#include "side.h"
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

enum { SRC = 0x40002, DST = 0x40001, PART_OFFSET = 4096, INPLACE_AFTER = 0xee };

const struct pvmt_transport_ops *ops;
struct side server, client;
bool use_whole, one_process, faults_end, wire_loses, kills_spread, devices_stay;
int wire_slowness = 1;

bool in_other_process;

static char folder[64];

struct inplace {
    struct pvmc_frame *frame;
    uint8_t *data;
    uint32_t length;
    struct inplace *prev, *next;
};

void other_process_failed(const char *file, int line, const char *expression, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "the other process: %s:%d: %s", file, line, expression);
    if (format) {
        fputs(": ", stderr);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
    }
    fputc('\n', stderr);
    _exit(1);
}

/* ---- frames ---- */

static uint8_t pattern(uint32_t seq, uint32_t i)
{
    return (uint8_t)(seq * 31 + i * 7 + (i >> 8));
}

static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

/* Every field that a transport only carries is a function of seq. */
static struct pvmc_frame_header header_make(uint32_t seq, uint32_t length, enum payload payload)
{
    return (struct pvmc_frame_header){
        .length = length,
        .dst = DST,
        .src = SRC,
        .seq = seq,
        .tag = (int32_t)scramble(seq + 1),
        .ctx = scramble(seq + 2),
        .wid = (int32_t)scramble(seq + 3),
        .enc = scramble(seq + 4),
        .dsig = scramble(seq + 5),
        .crc = (int32_t)scramble(seq + 6),
        .body_length = payload == PAYLOAD_PART && length ? (uint64_t)length + 2 * PART_OFFSET : length,
        .offset = payload == PAYLOAD_PART && length ? PART_OFFSET : 0,
    };
}

static struct pvmc_frame_header stream_header_make(uint32_t seq, uint32_t length, enum payload payload)
{
    struct pvmc_frame_header h = header_make(seq, length, PAYLOAD_OWN);
    h.flags = PVMC_FRAME_STREAM | (payload == PAYLOAD_ABORT ? PVMC_FRAME_ABORT : 0);
    h.offset = payload == PAYLOAD_FIRST ? 0 : PART_OFFSET;
    h.body_length = payload == PAYLOAD_LAST ? PART_OFFSET + (uint64_t)length : PVMC_FRAME_LENGTH_OPEN;
    return h;
}

static struct pvmc_frame_header header_like(const struct pvmc_frame_header *h)
{
    if (!(h->flags & PVMC_FRAME_STREAM))
        return header_make(h->seq, h->length, h->offset ? PAYLOAD_PART : PAYLOAD_OWN);
    return stream_header_make(h->seq, h->length,
                              h->flags & PVMC_FRAME_ABORT ? PAYLOAD_ABORT
                              : pvmc_frame_is_last(h)     ? PAYLOAD_LAST
                              : h->offset                 ? PAYLOAD_NEXT
                                                          : PAYLOAD_FIRST);
}

static bool header_right(const struct pvmc_frame_header *h)
{
    struct pvmc_frame_header want = header_like(h);
    return h->dst == want.dst && h->src == want.src && h->tag == want.tag && h->ctx == want.ctx && h->wid == want.wid &&
           h->enc == want.enc && h->dsig == want.dsig && h->crc == want.crc && h->body_length == want.body_length &&
           h->offset == want.offset && (h->flags & ~PVMC_FRAME_FD) == want.flags;
}

static void fill(uint8_t *data, uint32_t seq, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        data[i] = pattern(seq, i);
}

static bool filled(const uint8_t *data, uint32_t seq, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (data[i] != pattern(seq, i))
            return false;
    return true;
}

static void cut_in_pieces(struct pvmc_frame *f, uint8_t *data, uint32_t length, unsigned pieces)
{
    uint32_t at = 0;
    if (length < pieces)
        pieces = 1;
    for (unsigned k = 0; length && k < pieces; k++) {
        uint32_t n = k + 1 < pieces ? 1 + (length - at) / (pieces * 2) : length - at;
        pvmc_frame_add_piece(f, data + at, n);
        at += n;
    }
}

struct pvmc_frame *frame_make(uint32_t seq, uint32_t length, unsigned pieces, enum payload payload)
{
    struct pvmc_frame_header h = (payload < PAYLOAD_FIRST ? header_make : stream_header_make)(seq, length, payload);
    uint32_t before = payload == PAYLOAD_PART ? PART_OFFSET : 0;
    struct pvmc_mem *mem = length && payload != PAYLOAD_INPLACE ? pvmc_mem_new(before + length) : NULL;
    struct pvmc_frame *f = pvmc_frame_new(&h, mem);
    ck_assert_ptr_nonnull(f);
    uint8_t *data = mem ? mem->data + before : length ? malloc(length) : NULL;
    if (length)
        fill(data, seq, length);
    cut_in_pieces(f, data, length, pieces);
    return f;
}

/* The program owns in-place data again when the sender's reference is the only one. */
static void sweep(struct side *s, bool all)
{
    struct inplace *p, *next;
    DL_FOREACH_SAFE (s->inplace, p, next) {
        if (p->frame->refs > 1 && !all)
            continue;
        memset(p->data, INPLACE_AFTER, p->length);
        pvmc_frame_unref(p->frame);
        free(p->data);
        DL_DELETE(s->inplace, p);
        free(p);
    }
}

unsigned side_inplace(struct side *s)
{
    unsigned n = 0;
    const struct inplace *p;
    sweep(s, false);
    DL_FOREACH (s->inplace, p)
        n++;
    return n;
}

int side_send(struct side *s, uint32_t seq, uint32_t length, unsigned pieces, enum payload payload)
{
    struct pvmc_frame *f = frame_make(seq, length, pieces, payload);
    uint8_t *data = !f->mem && length ? f->pieces[0].iov_base : NULL;
    int rc = ops->send(s->ep, f);
    if (data) {
        struct inplace *p = calloc(1, sizeof *p);
        *p = (struct inplace){.frame = f, .data = data, .length = length};
        DL_APPEND(s->inplace, p);
        sweep(s, false);
    } else {
        pvmc_frame_unref(f);
    }
    return rc;
}

/* All sizes, mostly small ones. */
static uint32_t mixed_length(const struct side *s, uint32_t seq, uint32_t maximum)
{
    uint32_t r = scramble(seq + 77), most = frame_max(s) < maximum ? frame_max(s) : maximum;
    static const uint32_t ranges[] = {1, 64, 256, 4096, 20000, 70000, 300000, 1u << 20};
    uint32_t range = ranges[r % 64 < 32 ? r % 4 : r % 64 < 60 ? 2 + r % 4 : r % 8];
    return scramble(r) % (range < most ? range : most + 1);
}

int side_send_mixed(struct side *s, uint32_t seq)
{
    uint32_t r = scramble(seq + 99);
    return side_send(s, seq, mixed_length(s, seq, 1u << 20), 1 + r % PVMC_FRAME_PIECES_MAX,
                     (enum payload)(r / 64 % (PAYLOAD_INPLACE + 1)));
}

int side_send_kept(struct side *s, uint32_t seq)
{
    uint32_t r = scramble(seq + 99);
    return side_send(s, seq, mixed_length(s, seq, 65536), 1 + r % PVMC_FRAME_PIECES_MAX,
                     (enum payload)(r / 64 % PAYLOAD_INPLACE));
}

/* ---- callbacks ---- */

static void wrong(struct side *s, const struct pvmc_frame_header *h, const char *what)
{
    if (!s->wrong[0])
        snprintf(s->wrong, sizeof s->wrong, "frame %u (due %u) of %u bytes: %s", h->seq, s->next_seq, h->length, what);
}

static void take(struct side *s, const struct pvmc_frame_header *h, const uint8_t *data)
{
    s->done++;
    if (h->seq != s->next_seq)
        wrong(s, h, h->seq < s->next_seq ? "again, or out of order" : "after a gap");
    if (!header_right(h))
        wrong(s, h, "its header was changed");
    if (!filled(data, h->seq, h->length))
        wrong(s, h, "its payload was changed");
    s->next_seq = h->seq + 1;
}

static void act_on_done(struct side *s, const struct pvmc_frame_header *h)
{
    int rc = s->answer_in_done ? PVMC_EAGAIN : 0;
    for (int i = 0; rc == PVMC_EAGAIN && i < 100; i++) /* faults may cause the refusal */
        rc = side_send(s, h->seq, 16, 1, PAYLOAD_OWN);
    if (rc)
        wrong(s, h, "cannot be answered");
    if (s->disconnect_in_done)
        side_disconnect(s);
}

static int on_accepted(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who)
{
    struct side *s = arg;
    s->accepted++;
    ck_assert(who->uid == getuid() || (int)who->uid == -1);
    if (s->refuse_accept)
        return 1;
    ep->owner = s;
    s->ep = ep;
    return 0;
}

static uint8_t *on_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = ep->owner;
    (void)arg;
    if (ep != s->ep || s->down)
        wrong(s, h, "came to an endpoint that is gone");
    if (s->refuse_frames) {
        s->refused++;
        return NULL;
    }
    if (s->disconnect_in_place) {
        side_disconnect(s);
        return NULL;
    }
    s->in_frame = true;
    if (h->length + 1 > s->place_size) {
        s->place_size = h->length + 1;
        s->place = realloc(s->place, s->place_size);
    }
    return s->place;
}

static void on_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct side *s = ep->owner;
    (void)arg;
    if (ep != s->ep || s->down || !s->in_frame)
        wrong(s, h, "rx_done without rx_place");
    s->in_frame = false;
    take(s, h, s->place);
    act_on_done(s, h);
}

static int on_whole(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    struct side *s = ep->owner;
    (void)arg;
    if (ep != s->ep || s->down || s->in_frame)
        wrong(s, h, "rx_whole came out of place");
    if (h->offset || h->length != h->body_length)
        wrong(s, h, "rx_whole for a part of a message");
    if (s->refuse_frames) {
        s->refused++;
        return 1;
    }
    s->whole++;
    take(s, h, data);
    if (mem) {
        s->references++;
        if (h->length && (data < mem->data || data + h->length > mem->data + mem->capacity))
            wrong(s, h, "its data is not in its memory");
        side_release(s, s->hold ? s->hold - 1 : 0);
        s->held[s->held_count++] = (struct held){mem, data, h->seq, h->length};
        if (!s->hold)
            side_release(s, 0);
    }
    act_on_done(s, h);
    return 0;
}

static void on_descriptor(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd)
{
    struct side *s = ep->owner;
    (void)arg;
    if (!s->in_frame || s->descriptor >= 0)
        wrong(s, h, "a descriptor came out of place");
    s->descriptor = fd;
}

static void on_ready(void *arg, struct pvmt_endpoint *ep)
{
    struct side *s = ep->owner;
    (void)arg;
    ck_assert_msg(ep == s->ep && !s->down, "tx_ready of an endpoint that is gone");
    s->ready++;
    if (s->disconnect_in_ready)
        side_disconnect(s);
}

static void on_down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct side *s = ep->owner;
    (void)arg;
    ck_assert_msg(ep == s->ep && !s->down, "down of an endpoint that is gone");
    s->down++;
    s->down_reason = reason;
    s->in_frame = false;
}

#define CALLBACKS                                                                                                      \
    .accepted = on_accepted, .rx_place = on_place, .rx_done = on_done, .rx_descriptor = on_descriptor,                 \
    .tx_ready = on_ready, .down = on_down

static const struct pvmt_callbacks callbacks_plain = {CALLBACKS};
static const struct pvmt_callbacks callbacks_whole = {CALLBACKS, .rx_whole = on_whole};

/* ---- sides ---- */

/*
 * CONFORM_PLACES, "VARIABLE=A,B": the server is opened with the variable set to A, the client to B. For a transport
 * that would otherwise find both in the same place, without its network in between.
 */
static void go_to_place_of(const struct side *s)
{
    const char *places = getenv("CONFORM_PLACES");
    char variable[64], value[2][64];
    if (!places)
        return;
    ck_assert_int_eq(sscanf(places, "%63[^=]=%63[^,],%63s", variable, value[0], value[1]), 3);
    setenv(variable, value[s == &client], 1);
}

void side_open(struct side *s, const char *address)
{
    go_to_place_of(s);
    memset(s, 0, sizeof *s);
    s->descriptor = -1;
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    int rc;
    while ((rc = ops->open(address, use_whole ? &callbacks_whole : &callbacks_plain, s, &s->transport)) != 0) {
        ck_assert_msg(faults_end && pvmc_clock_us() < end_us, "cannot be opened: %d", rc);
        usleep(20000); /* its device may be down for a while */
    }
}

void side_release(struct side *s, unsigned keep)
{
    while (s->held_count > keep) {
        struct held *h = &s->held[0];
        struct pvmc_frame_header header = {.seq = h->seq, .length = h->length};
        if (!filled(h->data, h->seq, h->length))
            wrong(s, &header, "its memory was changed while a reference was held");
        pvmc_mem_unref(h->mem);
        s->held_count--;
        memmove(s->held, s->held + 1, s->held_count * sizeof *h);
    }
}

void side_disconnect(struct side *s)
{
    struct pvmt_endpoint *ep = s->ep;
    s->ep = NULL;
    if (ep)
        ops->disconnect(ep);
    s->in_frame = false;
}

void side_close(struct side *s)
{
    if (!s->transport)
        return;
    bool quick = scramble((uint32_t)s->done) & 1; /* close() must work with and without disconnect() */
    if (quick)
        side_disconnect(s);
    ops->close(s->transport);
    s->transport = NULL;
    s->ep = NULL;
    side_release(s, 0);
    sweep(s, false);
    ck_assert_msg(!s->inplace, "a frame with data in place was not given back by the end");
    free(s->place);
    s->place = NULL;
    s->place_size = 0;
    if (s->descriptor >= 0)
        close(s->descriptor);
    s->descriptor = -1;
}

struct pvmt_attributes side_attributes(const struct side *s)
{
    struct pvmt_attributes a;
    ops->query(s->transport, &a);
    return a;
}

uint32_t frame_max(const struct side *s)
{
    return side_attributes(s).frame_max;
}

/* ---- moving ---- */

static int move(struct side *s)
{
    if (!s->transport || s->stop)
        return 0;
    int n = ops->progress(s->transport);
    ck_assert_msg(n >= 0, "progress() gave %d", n);
    sweep(s, false);
    return n;
}

/* Fills in what wakes this side. `direct`: by sleep_on(), if it can. Whether there is work already. */
static bool armed(struct side *s, bool direct, struct pollfd p[PVMT_SLEEP_FDS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < PVMT_SLEEP_FDS; i++)
        p[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (!s->transport || s->stop)
        return false;
    if (direct && ops->sleep_on)
        n = ops->sleep_on(s->transport, p);
    if (n)
        return false;
    p[0].fd = ops->fd(s->transport);
    return ops->arm(s->transport);
}

/* Sleeps like a task: until a descriptor is readable or it is end_us. In virtual time the network wakes us instead. */
static bool sleep_on(struct pollfd *fds, nfds_t count, int64_t end_us, const struct pvmc_bypass *aside)
{
    if (pvmc_virtual_clock) {
        ck_assert_int_ge(pvmc_virtual_clock->sleep(end_us, aside), 0);
        return pvmc_clock_us() < end_us;
    }
    int64_t left_ms = (end_us - pvmc_clock_us()) / 1000;
    return left_ms > 0 && poll(fds, count, (int)left_ms) > 0;
}

static const struct pvmc_bypass nobody;

bool side_readable(struct side *s, int timeout_ms)
{
    struct pollfd p = {.fd = ops->fd(s->transport), .events = POLLIN};
    return sleep_on(&p, 1, pvmc_clock_us() + timeout_ms * 1000, &nobody);
}

bool drive_beside(int64_t end_us, const struct pvmc_bypass *aside)
{
    static unsigned turn;
    struct pollfd p[2 * PVMT_SLEEP_FDS];
    bool direct = turn++ % 2, moved = move(&server) + move(&client);
    moved = moved || armed(&server, direct, p) || armed(&client, direct, p + PVMT_SLEEP_FDS);
    return (moved || sleep_on(p, 2 * PVMT_SLEEP_FDS, end_us, aside)) && pvmc_clock_us() < end_us;
}

bool drive(int64_t end_us)
{
    return drive_beside(end_us, &nobody);
}

void drive_idly(void)
{
    int64_t end_us = pvmc_clock_us() + 20000;
    while (pvmc_clock_us() < end_us) {
        bool moved = move(&server) + move(&client);
        if (pvmc_virtual_clock && !moved)
            drive(end_us);
    }
}

void side_await_down(struct side *s)
{
    int64_t soon_us = pvmc_clock_us() + LIMIT_US / 4;
    if (wire_loses && side_attributes(s).end_unseen) {
        while (!s->down && drive(soon_us))
            ;
        DRIVE_UNTIL(s->down || side_send(s, 0, 100, 1, PAYLOAD_OWN) == 0);
    }
    DRIVE_UNTIL(s->down == 1);
}

/*
 * Whether a sleeper is left alone for 20 ms. If its transport has to look now and then, it may wake that often, and ten
 * times more; it must find nothing then.
 */
static bool is_quiet(struct side *s)
{
    int64_t begin_us = pvmc_clock_us(), look_us = side_attributes(s).look_us;
    for (int woken = -10; pvmc_clock_us() - begin_us < 20000; woken++) {
        if (ops->arm(s->transport))
            return false;
        if (!side_readable(s, 20))
            return true;
        if (!look_us || ops->progress(s->transport) || pvmc_clock_us() - begin_us < woken * look_us)
            return false;
    }
    return true;
}

bool side_comes_to_rest(struct side *s)
{
    bool quiet = false;
    for (int i = 0; i < 100 && !quiet; i++) { /* frames in flight still arrive, and references are returned */
        drive_idly();
        quiet = is_quiet(s);
    }
    return quiet;
}

/* ---- connecting ---- */

void meet_by_offer(struct side *a, struct side *b)
{
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd = -2, length = ops->offer(a->transport, a, blob, &fd, &a->ep);
    ck_assert_int_ge(length, 0);
    ck_assert_int_ge(fd, -1);
    int answer = ops->join(b->transport, blob, (size_t)length, fd, b, reply, &b->ep);
    ck_assert_int_ge(answer, 0);
    if (answer && ops->joined)
        ck_assert_int_eq(ops->joined(a->ep, reply, (size_t)answer), 0);
    DRIVE_UNTIL(a->ready == 1 || a->down || b->down);
    a->ready = b->ready = 0;
}

void meet_by_address(struct side *listener, struct side *caller)
{
    uint8_t blob[PATH_MAX];
    int before = listener->accepted, length = ops->address(listener->transport, blob, sizeof blob);
    ck_assert_int_gt(length, 0);
    ck_assert_int_gt(ops->reach(caller->transport, blob, length), 0);
    ck_assert_int_eq(ops->connect(caller->transport, blob, length, caller, &caller->ep), 0);
    DRIVE_UNTIL(listener->accepted == before + 1);
}

void meet(void)
{
    if (ops->offer)
        meet_by_offer(&server, &client);
    else
        meet_by_address(&server, &client);
}

const char *address_in_folder(void)
{
    static char address[80];
    snprintf(address, sizeof address, "%s/address", folder);
    return ops->offer ? NULL : address;
}

/* ---- before and after a test ---- */

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int count_memfd_mappings(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "/memfd:") != NULL;
    fclose(maps);
    return n;
}

struct leftovers leftovers_now(void)
{
    pvmc_mem_trim();
    return (struct leftovers){count_descriptors(), count_memfd_mappings()};
}

static struct leftovers at_start;

/* Opens the devices that stay open, so that they are not taken for a leak. */
static void warm_up(void)
{
    if (!devices_stay)
        return;
    side_open(&client, NULL);
    side_close(&client);
}

void both_open(void)
{
    warm_up();
    strcpy(folder, "/tmp/conform.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    at_start = leftovers_now();
    side_open(&server, address_in_folder());
    side_open(&client, NULL);
}

void both_close(void)
{
    side_close(&client);
    side_close(&server);
    struct leftovers now = leftovers_now();
    size_t in_use, cached;
    pvmc_mem_usage(&in_use, &cached);
    ck_assert_msg(in_use == 0, "%zu bytes of message memory are still in use", in_use);
    ck_assert_msg(now.descriptors == at_start.descriptors, "%d descriptors before, %d after", at_start.descriptors,
                  now.descriptors);
    ck_assert_msg(now.mappings == at_start.mappings, "%d mappings of memfds before, %d after", at_start.mappings,
                  now.mappings);
    ck_assert_msg(!rmdir(folder), "something was left in %s", folder);
}
