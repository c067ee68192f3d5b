/*
 * shm.c - frames between two tasks of one host by shared memory.
 *
 * An offer makes a socketpair and a sealed memfd with two rings (link.h, ring.h). The descriptor of the offer is the
 * peer's end of the socket, and the memfd waits in it, with the bell of this process, an eventfd that wakes it: nothing
 * has a name. The answer on the socket brings the peer's bell. The socket reports the end of the other side and carries
 * the descriptors of arenas. A link keeps the socket and the peer's bell.
 *
 *   small whole messages   copied into the ring, one cache line for up to 24 bytes                        send.c
 *   larger ones            stay in the sender's arena, the peer reads them there and gives them back   reference.c
 *   data in place          copied through the ring, piece by piece                                        send.c
 *
 * While a task spins, progress() and glance() make no system call: they look at the rings of the links used last and,
 * in turn, at some of the others. arm() looks at all of them and sets their bells; a peer that then publishes something
 * rings, or writes a byte to the socket if it has no bell. One epoll has the bell, and the sockets, which also report
 * peers that died: their rings are read to the end first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/config.h"
#include "core/message/dsig.h"
#include "core/error.h"
#include "core/log.h"
#include "link.h"

#define HOT_LINKS      4    /* checked by each progress() and glance() */
#define COLD_LINKS     64   /* of the others, checked in turn by progress() ... */
#define COLD_GLANCE    2    /* ... and by glance() */
#define CALLS_PER_LOOK 4096 /* calls of a spinning task between two checks of its sockets */
#define EVENTS_MAX     64
#define CALM_EVENTS    256 /* records without a sleep after which the peer need not fence */
#define IDENTITY_BYTES 36  /* of a host: its boot id */

struct shm_transport {
    struct pvmt_transport base;
    int epoll;
    int bell; /* an eventfd in the epoll set by which peers wake this process; -1: none */
    size_t ring_bytes;
    struct pvmt_shm_link **links; /* the first HOT_LINKS were used most recently */
    unsigned count, capacity;
    unsigned next_cold, next_hot;
    unsigned calls;
    bool armed;
    bool in_progress;
    bool untidy; /* a parted link is still in the list */
};

static struct shm_transport *of(struct pvmt_transport *t)
{
    return (struct shm_transport *)t;
}

static struct pvmt_shm_link *link_of(const struct pvmt_endpoint *ep)
{
    return (struct pvmt_shm_link *)ep;
}

static int shm_available(char *why, size_t size)
{
    int fd = memfd_create("pvm-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (size)
        why[0] = '\0';
    if (fd < 0 && errno == ENOSYS) {
        snprintf(why, size, "this kernel has no memfd_create()");
        return PVMC_EUNSUPPORTED;
    }
    if (fd >= 0)
        close(fd);
    return 0;
}

/* A power of two, so that positions can be masked. */
static size_t round_ring(size_t bytes)
{
    size_t rounded = 16384;
    while (rounded < bytes)
        rounded *= 2;
    return rounded;
}

/* It is edge-triggered, so nobody reads it. */
static void open_bell(struct shm_transport *t)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};
    t->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->bell >= 0 && epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->bell, &e)) {
        close(t->bell);
        t->bell = -1;
    }
}

static int shm_open_transport(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                              struct pvmt_transport **out)
{
    extern const struct pvmt_transport_ops pvmt_shm_ops;
    if (address)
        return PVMC_EUNSUPPORTED;
    struct shm_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMC_ENOMEM;
    t->base = (struct pvmt_transport){.ops = &pvmt_shm_ops, .callbacks = callbacks, .arg = arg};
    t->ring_bytes = round_ring((size_t)pvmc_config_integer(PVMC_SETTING_SHM_RING));
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll < 0) {
        free(t);
        return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : PVMC_ESYSTEM;
    }
    open_bell(t);
    pvmt_shm_reserve_open();
    *out = &t->base;
    return 0;
}

static void shm_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){.frame_max = PVMT_SHM_FRAME_MAX,
                                    .copy_max = PVMT_SHM_WHOLE_MAX,
                                    .latency_ns = 150,
                                    .bandwidth_mbs = 20000,
                                    .local_only = true,
                                    .lossless = true,
                                    .by_reference = true};
}

/* ---- the list of links ---- */

static int list_add(struct shm_transport *t, struct pvmt_shm_link *l, void *owner)
{
    if (t->count == t->capacity) {
        unsigned capacity = t->capacity ? 2 * t->capacity : 16;
        struct pvmt_shm_link **links = realloc(t->links, capacity * sizeof *links);
        if (!links)
            return PVMC_ENOMEM;
        t->links = links;
        t->capacity = capacity;
    }
    int rc = pvmt_shm_link_watch(l, t->epoll);
    if (rc)
        return rc;
    l->base = (struct pvmt_endpoint){.transport = &t->base, .owner = owner};
    t->links[t->count++] = l;
    return 0;
}

static void swap(struct shm_transport *t, unsigned i, unsigned j)
{
    struct pvmt_shm_link *l = t->links[i];
    t->links[i] = t->links[j];
    t->links[j] = l;
}

/* Moves links[i], which was active, to the front. */
static void make_hot(struct shm_transport *t, unsigned i)
{
    if (i >= HOT_LINKS && i < t->count)
        swap(t, i, t->next_hot++ % HOT_LINKS);
}

static void make_link_hot(struct shm_transport *t, const struct pvmt_shm_link *l)
{
    for (unsigned i = HOT_LINKS; i < t->count; i++)
        if (t->links[i] == l)
            make_hot(t, i);
}

/* Frees parted links that neither side needs; the others stay while their peers have references to our memory. */
static void tidy(struct shm_transport *t)
{
    t->untidy = false;
    for (unsigned i = t->count; i-- > 0;) {
        struct pvmt_shm_link *l = t->links[i];
        if (!l->parted)
            continue;
        if (pvmt_shm_link_release(l))
            t->links[i] = t->links[--t->count];
        else
            t->untidy = true;
    }
}

/* ---- connecting ---- */

/* The boot id, zeros if it is unknown: without /proc, the descriptor alone proves that the peer is on this host. */
static const char *host_identity(void)
{
    static char id[IDENTITY_BYTES];
    static bool is_read;
    int fd = is_read ? -1 : open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return id;
    is_read = read(fd, id, sizeof id) == sizeof id;
    close(fd);
    return id;
}

static void shm_disconnect(struct pvmt_endpoint *ep)
{
    struct shm_transport *t = of(ep->transport);
    struct pvmt_shm_link *l = link_of(ep);
    if (l->current && !l->current->mem)
        pvmt_shm_link_drop_current(l); /* its data may be gone */
    l->parted = true;
    if (!l->current)
        pvmt_shm_link_part(l);
    t->untidy = true;
    if (!t->in_progress)
        tidy(t);
}

static int shm_offer(struct pvmt_transport *base, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                     struct pvmt_endpoint **out)
{
    struct shm_transport *t = of(base);
    int rc;
    struct pvmt_shm_link *l = pvmt_shm_link_offer(t->ring_bytes, t->bell, fd, &rc);
    if (!l)
        return rc;
    rc = list_add(t, l, owner);
    if (rc) {
        close(*fd);
        pvmt_shm_link_free(l);
        return rc;
    }
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, PVMT_SHM_VERSION);
    pvmc_buf_put_u32(&b, pvmc_dsig_own());
    pvmc_buf_put_u32(&b, (uint32_t)t->ring_bytes);
    pvmc_buf_put_bytes(&b, host_identity(), IDENTITY_BYTES);
    rc = pvmc_buf_error(&b) ? PVMC_ENOMEM : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmc_buf_free(&b);
    if (rc < 0) {
        close(*fd);
        shm_disconnect(&l->base);
        return rc;
    }
    *out = &l->base;
    return rc;
}

/* Stores the size of the rings. 0, or why the offer cannot be joined. */
static int read_offer(const uint8_t *blob, size_t length, size_t *ring_bytes)
{
    struct pvmc_buf b;
    pvmc_buf_view(&b, blob, length);
    uint32_t version = pvmc_buf_get_u32(&b);
    pvmc_dsig dsig = pvmc_buf_get_u32(&b);
    *ring_bytes = pvmc_buf_get_u32(&b);
    const uint8_t *theirs = pvmc_buf_get_bytes(&b, IDENTITY_BYTES);
    if (!pvmc_buf_error(&b) && version != PVMT_SHM_VERSION)
        return PVMC_EVERSION;
    if (pvmc_buf_end(&b) || *ring_bytes < 16384 || *ring_bytes > (16u << 20) || (*ring_bytes & (*ring_bytes - 1)))
        return PVMC_EFORMAT;
    if (dsig != pvmc_dsig_own()) { /* the two sides would interpret the area differently */
        pvmc_log_once(PVMC_LOG_INFO,
                      "no shared memory with tasks of data format 0x%08x, ours is 0x%08x: "
                      "using other routes",
                      dsig, pvmc_dsig_own());
        return PVMC_EUNSUPPORTED;
    }
    return memcmp(host_identity(), theirs, IDENTITY_BYTES) ? PVMC_EUNREACHABLE : 0;
}

static int shm_join(struct pvmt_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                    uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out)
{
    size_t ring_bytes;
    (void)reply;
    int rc = read_offer(blob, length, &ring_bytes);
    if (!rc && fd < 0)
        rc = PVMC_EUNREACHABLE;
    if (rc) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    struct pvmt_shm_link *l = pvmt_shm_link_join(fd, ring_bytes, &rc);
    if (!l)
        return rc;
    rc = list_add(of(base), l, owner);
    if (rc) {
        pvmt_shm_link_free(l);
        return rc;
    }
    rc = pvmt_shm_link_answer(l, of(base)->bell); /* at last: from now on the peer sends */
    if (rc)
        shm_disconnect(&l->base);
    else
        *out = &l->base;
    return rc;
}

/* ---- the end ---- */

static void shm_close(struct pvmt_transport *base)
{
    struct shm_transport *t = of(base);
    pvmt_shm_links_disown();
    while (t->count) {
        struct pvmt_shm_link *l = t->links[--t->count];
        pvmt_shm_link_drop_current(l);
        pvmt_shm_link_part(l);
        l->base.transport = NULL; /* pvmt_shm_links_reap() serves it from now on */
        pvmt_shm_link_unwatch(l);
        pvmt_shm_link_release(l);
    }
    close(t->epoll);
    if (t->bell >= 0)
        close(t->bell);
    pvmt_shm_reserve_close();
    free(t->links);
    free(t);
}

static int shm_send(struct pvmt_endpoint *ep, struct pvmc_frame *f)
{
    return pvmt_shm_link_send(link_of(ep), f);
}

static int shm_send_whole(struct pvmt_endpoint *ep, const struct pvmc_envelope *e, uint32_t seq, const uint8_t *data,
                          uint32_t length)
{
    return pvmt_shm_link_send_whole(link_of(ep), e, seq, data, length);
}

/* Does not count references: only their receiver needs the bytes. */
static size_t shm_pending(const struct pvmt_endpoint *ep)
{
    return link_of(ep)->current ? 1 : 0;
}

/* ---- progress ---- */

/* Handles rare events other than records. */
static int attend(struct pvmt_shm_link *l)
{
    struct pvmt_transport *t = l->base.transport;
    int n = 0;
    if (l->state == PVMT_LINK_OFFERED && __atomic_load_n(&l->theirs->joined, __ATOMIC_ACQUIRE))
        pvmt_shm_link_listen(l);
    if (l->lending.count)
        pvmt_shm_lending_reap(l);
    if (l->current)
        n += pvmt_shm_link_push(l);
    if (l->parted) {
        if (!l->current && !l->told_end)
            pvmt_shm_link_part(l);
        return n;
    }
    if (l->refused && !l->ended && l->state == PVMT_LINK_UP && pvmt_shm_link_has_room(l)) {
        l->refused = false;
        n++;
        t->callbacks->tx_ready(t->arg, &l->base);
    }
    bool drained = l->failed || !pvmt_shm_link_has_record(l);
    if (!l->parted && l->ended && drained && l->state != PVMT_LINK_DOWN) {
        l->state = PVMT_LINK_DOWN;
        n++;
        t->callbacks->down(t->arg, &l->base, l->end_reason);
    }
    return n;
}

static inline bool needs_attention(const struct pvmt_shm_link *l)
{
    return l->ended || l->refused || l->current || l->lending.count || l->state == PVMT_LINK_OFFERED;
}

/* After CALM_EVENTS records without a sleep the peer need not fence. */
static void count_calm(struct pvmt_shm_link *l, int records)
{
    l->calm += (unsigned)records;
    if (l->calm < CALM_EVENTS || l->may_fence)
        return;
    l->calm = 0;
    if (__atomic_load_n(&l->mine->bell, __ATOMIC_RELAXED))
        __atomic_store_n(&l->mine->bell, 0, __ATOMIC_RELEASE);
}

static inline int look_at(struct pvmt_shm_link *l)
{
    int n = 0;
    if (l->state != PVMT_LINK_DOWN) {
        n = pvmt_shm_link_has_record(l) ? pvmt_shm_link_receive(l) : 0;
        if (n)
            count_calm(l, n);
    }
    if (__builtin_expect(needs_attention(l), 0))
        n += attend(l);
    return n;
}

/* Not while a bell is set: progress() turns it off. */
static bool shm_peek_whole(struct pvmt_endpoint *ep, struct pvmt_whole *w)
{
    struct pvmt_shm_link *l = link_of(ep);
    bool is_special = l->state != PVMT_LINK_UP || l->bell_set || l->failed || l->parted || needs_attention(l);
    return !is_special && pvmt_shm_link_peek_whole(l, w);
}

static void shm_take_whole(struct pvmt_endpoint *ep, uint32_t length)
{
    pvmt_shm_link_advance_whole(link_of(ep), length);
    count_calm(link_of(ep), 1);
}

/* This process is awake: peers need not wake it. */
static void disarm(struct shm_transport *t)
{
    t->armed = false;
    for (unsigned i = 0; i < t->count; i++) {
        struct pvmt_shm_link *l = t->links[i];
        if (!l->bell_set)
            continue;
        l->bell_set = false;
        l->calm = 0;
        __atomic_store_n(&l->mine->bell, PVMT_BELL_FENCE, __ATOMIC_RELAXED);
    }
}

/* Reads the packets on the sockets. */
static void look_at_sockets(struct shm_transport *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(t->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        struct pvmt_shm_link *l = events[i].data.ptr;
        if (!l)
            continue; /* the bell */
        pvmt_shm_link_listen(l);
        make_link_hot(t, l);
        t->untidy |= l->parted;
    }
}

/* Looks at some of the links that were not used last, in turn. */
static __attribute__((noinline)) int look_at_others(struct shm_transport *t, unsigned count)
{
    int n = 0;
    for (unsigned i = HOT_LINKS; i < t->count && count; i++, count--) {
        if (t->next_cold < HOT_LINKS || t->next_cold >= t->count)
            t->next_cold = HOT_LINKS;
        int here = look_at(t->links[t->next_cold]);
        if (here)
            make_hot(t, t->next_cold);
        n += here;
        t->next_cold++;
    }
    return n;
}

static inline int look_at_links(struct shm_transport *t, unsigned others)
{
    int n = 0;
    for (unsigned i = 0; i < HOT_LINKS && i < t->count; i++)
        n += look_at(t->links[i]);
    return t->count > HOT_LINKS ? n + look_at_others(t, others) : n;
}

static int look(struct shm_transport *t, unsigned others)
{
    t->in_progress = true;
    if (__builtin_expect(t->armed || ++t->calls % CALLS_PER_LOOK == 0, 0)) {
        if (t->armed)
            disarm(t);
        look_at_sockets(t);
    }
    int n = look_at_links(t, others);
    t->in_progress = false;
    if (__builtin_expect(t->untidy, 0))
        tidy(t);
    return n;
}

static int shm_progress(struct pvmt_transport *base)
{
    return look(of(base), COLD_LINKS);
}

static int shm_glance(struct pvmt_transport *base)
{
    return look(of(base), COLD_GLANCE);
}

/* ---- sleeping ---- */

static int shm_fd(struct pvmt_transport *base)
{
    return of(base)->epoll;
}

static bool has_work(struct pvmt_shm_link *l)
{
    if (l->state == PVMT_LINK_OFFERED)
        return l->ended; /* the peer's HELLO keeps the socket readable */
    if (pvmt_shm_link_can_push(l))
        return true;
    if (l->parted || l->state == PVMT_LINK_DOWN)
        return false;
    return l->ended || pvmt_shm_link_has_record(l) || (l->refused && pvmt_shm_link_has_room(l));
}

/* Sets the bells. Returns whether a peer still publishes records without fences. */
static bool set_bells(struct shm_transport *t)
{
    bool unfenced = false;
    for (unsigned i = 0; i < t->count; i++) {
        struct pvmt_shm_link *l = t->links[i];
        uint32_t bell = PVMT_BELL_FENCE | PVMT_WAKE_DATA | (l->refused || l->current ? PVMT_WAKE_ROOM : 0);
        uint32_t before = __atomic_exchange_n(&l->mine->bell, bell, __ATOMIC_SEQ_CST);
        unfenced |= !l->may_fence && !(before & PVMT_BELL_FENCE);
        l->bell_set = true;
    }
    return unfenced;
}

static int shm_arm(struct pvmt_transport *base)
{
    struct shm_transport *t = of(base);
    t->armed = true;
    if (set_bells(t))
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    for (unsigned i = 0; i < t->count; i++) {
        if (has_work(t->links[i])) {
            make_hot(t, i);
            return 1;
        }
    }
    return 0;
}

const struct pvmt_transport_ops pvmt_shm_ops = {
    .name = "shm",
    .summary = "shared memory between tasks of one host",
    .available = shm_available,
    .open = shm_open_transport,
    .close = shm_close,
    .query = shm_query,
    .offer = shm_offer,
    .join = shm_join,
    .disconnect = shm_disconnect,
    .send = shm_send,
    .send_whole = shm_send_whole,
    .pending = shm_pending,
    .peek_whole = shm_peek_whole,
    .take_whole = shm_take_whole,
    .progress = shm_progress,
    .glance = shm_glance,
    .fd = shm_fd,
    .arm = shm_arm,
};
