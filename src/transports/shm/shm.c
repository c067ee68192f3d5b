/*
 * shm.c - frames between two tasks of one host by shared memory.
 *
 * An offer makes a socketpair and a sealed memfd with two rings (link.h, ring.h). The descriptor of the offer is the
 * peer's end of the socket, the memfd waits in it: nothing has a name. The socket is a doorbell for sleepers, tells of
 * the other side's end, and carries the descriptors of arenas; in the long run it is the only descriptor of a link.
 *
 *   small whole messages   copied into the ring, one cache line for up to 24 bytes                        send.c
 *   larger ones            stay in the sender's arena, the peer reads them there and gives them back   reference.c
 *   data in place          the peer reads it by process_vm_readv(), or it goes through the ring   send.c, pull.c
 *
 * While a task spins, progress() makes no system call: it looks at the rings of the links used last and, in turn, at a
 * few of the others. arm() looks at all of them and sets their bells; whoever then publishes something for us writes a
 * byte to the socket. The sockets, in one epoll, also tell of peers that died: their rings are read to the end first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "../../core/buf.h"
#include "../../core/config.h"
#include "../../core/dsig.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "link.h"

#define HOT_LINKS      4    /* looked at in each progress() */
#define COLD_LINKS     2    /* of the others, in turn */
#define CALLS_PER_LOOK 4096 /* progress() calls between two looks at the sockets of a task that spins */
#define EVENTS_MAX     64
#define CALM_EVENTS    256 /* so many records without a sleep: the peer need not fence any more */
#define IDENTITY_BYTES 36  /* of a host: its boot id */

struct shm_transport {
    struct pvmi_transport base;
    int epoll;
    size_t ring_bytes;
    struct pvmi_shm_link **links; /* the first HOT_LINKS were used last */
    unsigned count, capacity;
    unsigned next_cold, next_hot;
    unsigned calls;
    bool armed;
    bool in_progress;
    bool untidy; /* a parted link is still in the list */
};

static struct shm_transport *of(struct pvmi_transport *t)
{
    return (struct shm_transport *)t;
}

static struct pvmi_shm_link *link_of(const struct pvmi_endpoint *ep)
{
    return (struct pvmi_shm_link *)ep;
}

static int shm_available(char *why, size_t size)
{
    int fd = memfd_create("pvm-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (size)
        why[0] = '\0';
    if (fd < 0 && errno == ENOSYS) {
        snprintf(why, size, "this kernel has no memfd_create()");
        return PVMI_EUNSUPPORTED;
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

static int shm_open_transport(const char *address, const struct pvmi_callbacks *callbacks, void *arg,
                              struct pvmi_transport **out)
{
    extern const struct pvmi_transport_ops pvmi_shm_ops;
    if (address)
        return PVMI_EUNSUPPORTED;
    struct shm_transport *t = calloc(1, sizeof *t);
    if (!t)
        return PVMI_ENOMEM;
    t->base = (struct pvmi_transport){.ops = &pvmi_shm_ops, .callbacks = callbacks, .arg = arg};
    t->ring_bytes = round_ring((size_t)pvmi_config_integer(PVMI_SETTING_SHM_RING));
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll < 0) {
        free(t);
        return errno == EMFILE || errno == ENFILE ? PVMI_ELIMIT : PVMI_ESYSTEM;
    }
    pvmi_shm_reserve_open();
    *out = &t->base;
    return 0;
}

static void shm_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    (void)t;
    *out = (struct pvmi_attributes){.frame_max = PVMI_SHM_FRAME_MAX,
                                    .copy_max = (uint32_t)pvmi_config_integer(PVMI_SETTING_SHM_INLINE),
                                    .latency_ns = 150,
                                    .bandwidth_mbs = 20000,
                                    .local_only = true,
                                    .lossless = true,
                                    .by_reference = true};
}

/* ---- the list of links ---- */

static int list_add(struct shm_transport *t, struct pvmi_shm_link *l, void *owner)
{
    if (t->count == t->capacity) {
        unsigned capacity = t->capacity ? 2 * t->capacity : 16;
        struct pvmi_shm_link **links = realloc(t->links, capacity * sizeof *links);
        if (!links)
            return PVMI_ENOMEM;
        t->links = links;
        t->capacity = capacity;
    }
    int rc = pvmi_shm_link_watch(l, t->epoll);
    if (rc)
        return rc;
    l->base = (struct pvmi_endpoint){.transport = &t->base, .owner = owner};
    t->links[t->count++] = l;
    return 0;
}

static void swap(struct shm_transport *t, unsigned i, unsigned j)
{
    struct pvmi_shm_link *l = t->links[i];
    t->links[i] = t->links[j];
    t->links[j] = l;
}

/* Something happened on links[i]: it is looked at first from now on. */
static void make_hot(struct shm_transport *t, unsigned i)
{
    if (i >= HOT_LINKS && i < t->count)
        swap(t, i, t->next_hot++ % HOT_LINKS);
}

static void make_link_hot(struct shm_transport *t, const struct pvmi_shm_link *l)
{
    for (unsigned i = HOT_LINKS; i < t->count; i++)
        if (t->links[i] == l)
            make_hot(t, i);
}

/* Frees parted links that nobody needs; others stay for what their peers still have of ours. */
static void tidy(struct shm_transport *t)
{
    t->untidy = false;
    for (unsigned i = t->count; i-- > 0;) {
        struct pvmi_shm_link *l = t->links[i];
        if (!l->parted)
            continue;
        if (pvmi_shm_link_release(l))
            t->links[i] = t->links[--t->count];
        else
            t->untidy = true;
    }
}

/* ---- coming together ---- */

static void host_identity(char id[IDENTITY_BYTES])
{
    memset(id, 0, IDENTITY_BYTES);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* without /proc: the descriptor alone tells that it is this host */
    ssize_t n = read(fd, id, IDENTITY_BYTES);
    (void)n;
    close(fd);
}

static int shm_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                     struct pvmi_endpoint **out)
{
    struct shm_transport *t = of(base);
    char id[IDENTITY_BYTES];
    int rc;
    struct pvmi_shm_link *l = pvmi_shm_link_offer(t->ring_bytes, fd, &rc);
    if (!l)
        return rc;
    rc = list_add(t, l, owner);
    if (rc) {
        close(*fd);
        pvmi_shm_link_free(l);
        return rc;
    }
    host_identity(id);
    struct pvmi_buf b;
    pvmi_buf_init(&b);
    pvmi_buf_put_u32(&b, PVMI_SHM_VERSION);
    pvmi_buf_put_u32(&b, pvmi_dsig_own());
    pvmi_buf_put_u32(&b, (uint32_t)t->ring_bytes);
    pvmi_buf_put_bytes(&b, id, sizeof id);
    rc = pvmi_buf_error(&b) ? PVMI_ENOMEM : (int)b.length;
    if (rc > 0)
        memcpy(blob, b.data, b.length);
    pvmi_buf_free(&b);
    *out = &l->base;
    return rc;
}

/* 0 and the size of the rings, or why the offer cannot be joined. */
static int read_offer(const uint8_t *blob, size_t length, size_t *ring_bytes)
{
    char id[IDENTITY_BYTES];
    struct pvmi_buf b;
    host_identity(id);
    pvmi_buf_view(&b, blob, length);
    uint32_t version = pvmi_buf_get_u32(&b);
    pvmi_dsig dsig = pvmi_buf_get_u32(&b);
    *ring_bytes = pvmi_buf_get_u32(&b);
    const uint8_t *theirs = pvmi_buf_get_bytes(&b, sizeof id);
    if (!pvmi_buf_error(&b) && version != PVMI_SHM_VERSION)
        return PVMI_EVERSION;
    if (pvmi_buf_end(&b) || *ring_bytes < 16384 || *ring_bytes > (16u << 20) || (*ring_bytes & (*ring_bytes - 1)))
        return PVMI_EFORMAT;
    if (dsig != pvmi_dsig_own()) { /* what lies in the area would be read otherwise than it was written */
        pvmi_log_once(PVMI_LOG_INFO,
                      "no shared memory with tasks of data format 0x%08x, ours is 0x%08x: other routes "
                      "lead there",
                      dsig, pvmi_dsig_own());
        return PVMI_EUNSUPPORTED;
    }
    return memcmp(id, theirs, sizeof id) ? PVMI_EUNREACHABLE : 0;
}

static int shm_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                    uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out)
{
    size_t ring_bytes;
    (void)reply;
    int rc = read_offer(blob, length, &ring_bytes);
    if (!rc && fd < 0)
        rc = PVMI_EUNREACHABLE;
    if (rc) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    struct pvmi_shm_link *l = pvmi_shm_link_join(fd, ring_bytes, &rc);
    if (!l)
        return rc;
    rc = list_add(of(base), l, owner);
    if (rc)
        pvmi_shm_link_free(l);
    else
        *out = &l->base;
    return rc;
}

/* ---- the end ---- */

static void shm_disconnect(struct pvmi_endpoint *ep)
{
    struct shm_transport *t = of(ep->transport);
    struct pvmi_shm_link *l = link_of(ep);
    if (l->current && !l->current->mem)
        pvmi_shm_link_drop_current(l); /* its data may be gone */
    l->parted = true;
    if (!l->current)
        pvmi_shm_link_part(l);
    t->untidy = true;
    if (!t->in_progress)
        tidy(t);
}

static void shm_close(struct pvmi_transport *base)
{
    struct shm_transport *t = of(base);
    pvmi_shm_links_disown();
    while (t->count) {
        struct pvmi_shm_link *l = t->links[--t->count];
        pvmi_shm_link_drop_current(l);
        pvmi_shm_link_part(l);
        l->base.transport = NULL; /* from now on it is looked after by pvmi_shm_links_reap() */
        pvmi_shm_link_unwatch(l);
        pvmi_shm_link_release(l);
    }
    close(t->epoll);
    pvmi_shm_reserve_close();
    free(t->links);
    free(t);
}

static int shm_send(struct pvmi_endpoint *ep, struct pvmi_frame *f)
{
    return pvmi_shm_link_send(link_of(ep), f);
}

static int shm_send_whole(struct pvmi_endpoint *ep, const struct pvmi_frame_header *h, const uint8_t *data)
{
    return pvmi_shm_link_send_whole(link_of(ep), h, data);
}

/* References are not counted: their bytes are neither changed nor needed by anybody but their receiver. */
static size_t shm_pending(const struct pvmi_endpoint *ep)
{
    return link_of(ep)->current ? 1 : 0;
}

/* ---- moving ---- */

/* What is due besides records: seldom anything. */
static int attend(struct pvmi_shm_link *l)
{
    struct pvmi_transport *t = l->base.transport;
    int n = 0;
    if (l->state == PVMI_LINK_OFFERED && __atomic_load_n(&l->theirs->joined, __ATOMIC_ACQUIRE))
        pvmi_shm_link_listen(l);
    if (l->lending.count)
        pvmi_shm_lending_reap(l);
    if (l->current)
        n += pvmi_shm_link_push(l);
    if (l->parted) {
        if (!l->current && !l->told_end)
            pvmi_shm_link_part(l);
        return n;
    }
    if (l->refused && !l->ended && l->state == PVMI_LINK_UP && pvmi_shm_link_has_room(l)) {
        l->refused = false;
        n++;
        t->callbacks->tx_ready(t->arg, &l->base);
    }
    bool drained = l->failed || !pvmi_shm_link_has_record(l);
    if (!l->parted && l->ended && drained && l->state != PVMI_LINK_DOWN) {
        l->state = PVMI_LINK_DOWN;
        n++;
        t->callbacks->down(t->arg, &l->base, l->end_reason);
    }
    return n;
}

static inline bool needs_attention(const struct pvmi_shm_link *l)
{
    return l->ended || l->refused || l->current || l->lending.count || l->state == PVMI_LINK_OFFERED;
}

/* Who has not slept over so many records spares its peer the fence. */
static void count_calm(struct pvmi_shm_link *l, int records)
{
    l->calm += (unsigned)records;
    if (l->calm < CALM_EVENTS || l->may_fence)
        return;
    l->calm = 0;
    if (__atomic_load_n(&l->mine->bell, __ATOMIC_RELAXED))
        __atomic_store_n(&l->mine->bell, 0, __ATOMIC_RELEASE);
}

static inline int look_at(struct pvmi_shm_link *l)
{
    int n = 0;
    if (l->state != PVMI_LINK_DOWN) {
        n = pvmi_shm_link_has_record(l) ? pvmi_shm_link_receive(l) : 0;
        if (n)
            count_calm(l, n);
    }
    if (__builtin_expect(needs_attention(l), 0))
        n += attend(l);
    return n;
}

/* Awake: nobody need ring. */
static void disarm(struct shm_transport *t)
{
    t->armed = false;
    for (unsigned i = 0; i < t->count; i++) {
        struct pvmi_shm_link *l = t->links[i];
        if (!l->bell_set)
            continue;
        l->bell_set = false;
        l->calm = 0;
        __atomic_store_n(&l->mine->bell, PVMI_BELL_FENCE, __ATOMIC_RELAXED);
    }
}

/* Reads what came by the sockets. */
static void look_at_sockets(struct shm_transport *t)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(t->epoll, events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        struct pvmi_shm_link *l = events[i].data.ptr;
        pvmi_shm_link_listen(l);
        make_link_hot(t, l);
        t->untidy |= l->parted;
    }
}

static int shm_progress(struct pvmi_transport *base)
{
    struct shm_transport *t = of(base);
    int n = 0;
    t->in_progress = true;
    if (__builtin_expect(t->armed || ++t->calls % CALLS_PER_LOOK == 0, 0)) {
        if (t->armed)
            disarm(t);
        look_at_sockets(t);
    }
    for (unsigned i = 0; i < HOT_LINKS && i < t->count; i++)
        n += look_at(t->links[i]);
    for (unsigned i = 0; i < COLD_LINKS && t->count > HOT_LINKS; i++) {
        if (t->next_cold < HOT_LINKS || t->next_cold >= t->count)
            t->next_cold = HOT_LINKS;
        int here = look_at(t->links[t->next_cold]);
        if (here)
            make_hot(t, t->next_cold);
        n += here;
        t->next_cold++;
    }
    t->in_progress = false;
    if (__builtin_expect(t->untidy, 0))
        tidy(t);
    return n;
}

/* ---- sleeping ---- */

static int shm_fd(struct pvmi_transport *base)
{
    return of(base)->epoll;
}

static bool has_work(struct pvmi_shm_link *l)
{
    if (l->state == PVMI_LINK_OFFERED)
        return l->ended || __atomic_load_n(&l->theirs->joined, __ATOMIC_ACQUIRE);
    if (pvmi_shm_link_can_push(l))
        return true;
    if (l->parted || l->state == PVMI_LINK_DOWN)
        return false;
    return l->ended || pvmi_shm_link_has_record(l) || (l->refused && pvmi_shm_link_has_room(l));
}

/* Sets the bells. Whether a peer sends to us without fences so far. */
static bool set_bells(struct shm_transport *t)
{
    bool unfenced = false;
    for (unsigned i = 0; i < t->count; i++) {
        struct pvmi_shm_link *l = t->links[i];
        uint32_t bell = PVMI_BELL_FENCE | PVMI_WAKE_DATA | (l->refused || l->current ? PVMI_WAKE_ROOM : 0);
        uint32_t before = __atomic_exchange_n(&l->mine->bell, bell, __ATOMIC_SEQ_CST);
        unfenced |= !l->may_fence && !(before & PVMI_BELL_FENCE);
        l->bell_set = true;
    }
    return unfenced;
}

static int shm_arm(struct pvmi_transport *base)
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

const struct pvmi_transport_ops pvmi_shm_ops = {
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
    .progress = shm_progress,
    .fd = shm_fd,
    .arm = shm_arm,
};
