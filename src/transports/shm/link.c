/* link.c - life cycle of links: their memory, their socket and its packets. */
#include "link.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory/memfd.h"
#include "wire/rights.h"

#define SEALS            (F_SEAL_SHRINK | F_SEAL_GROW)
#define BELL_SPARE_FDS   16
#define PACKETS_PER_LOOK 64 /* bounds the work that a peer can cause */

enum packet_kind { PACKET_HELLO = 1, PACKET_ARENA, PACKET_CLOSED, PACKET_GONE };

/*
 * A packet on the socket. Single bytes only wake the receiver. Each side says HELLO first and gives the other its bell,
 * if it has one; side 0 gives the memory of the link before it.
 */
struct packet {
    uint32_t kind;
    uint32_t number; /* ARENA, GONE: of the arena. HELLO: PVMT_SHM_VERSION */
    uint64_t bytes;  /* ARENA: size of the memory that comes with it. HELLO: the sender's process id */
};

static struct pvmt_shm_link *links; /* of this process, including parted ones */
static bool started;                /* this process takes part in barriers, if it can */
static int reserve_fd = -1;
static unsigned reserve_users;

/* ---- process state ---- */

/* An eventfd costs a quarter of what it costs to open a file, and each link frees and refills the reserve. */
static void reserve(void)
{
    if (reserve_fd < 0 && reserve_users)
        reserve_fd = eventfd(0, EFD_CLOEXEC);
}

static void free_reserve(void)
{
    if (reserve_fd >= 0)
        close(reserve_fd);
    reserve_fd = -1;
}

void pvmt_shm_reserve_open(void)
{
    reserve_users++;
    reserve();
}

void pvmt_shm_reserve_close(void)
{
    if (!--reserve_users)
        free_reserve();
}

static pid_t process; /* the process that owns the links */

/*
 * Removes the socket from epoll first, because close() would not do so while a message or a child between fork and exec
 * holds a copy. In a forked child the epoll set is the parent's.
 */
static void close_socket(struct pvmt_shm_link *l)
{
    pvmt_shm_link_unwatch(l);
    if (l->socket >= 0)
        close(l->socket);
    if (l->bell >= 0)
        close(l->bell);
    l->socket = l->bell = -1;
}

int pvmt_shm_link_watch(struct pvmt_shm_link *l, int epoll)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = l};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, l->socket, &e))
        return PVMC_ELIMIT;
    l->epoll = epoll;
    return 0;
}

void pvmt_shm_link_unwatch(struct pvmt_shm_link *l)
{
    if (l->epoll >= 0 && l->socket >= 0 && !l->foreign)
        epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->socket, NULL);
    l->epoll = -1;
}

/* In a forked child the links are the parent's. Their sockets must not stay open here after the parent has ended. */
static void disown(void)
{
    struct pvmt_shm_link *l;
    started = false;
    DL_FOREACH (links, l) {
        l->foreign = true;
        close_socket(l);
    }
}

/* Fork handlers run in order of registration, and libpvm's handler, which closes transports, may run before ours. */
void pvmt_shm_links_disown(void)
{
    if (started && process != getpid())
        disown();
}

/* Registers with membarrier(); false if the kernel does not support it. */
static bool barrier_register(void)
{
    return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) &&
           !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

static bool process_start(void)
{
    static bool watched, has_barrier;
    if (started)
        return has_barrier;
    started = true;
    process = getpid();
    if (!watched)
        watched = !pthread_atfork(NULL, NULL, disown);
    pvmc_mem_on_shortage(pvmt_shm_links_reap);
    return has_barrier = barrier_register();
}

/* ---- memory ---- */

static size_t area_bytes(void)
{
    return (sizeof(struct pvmt_shm_area) + 4095) & ~(size_t)4095;
}

/* Behind ring 1 is room for what a record of a hostile peer could claim to be there. No page of it is used else. */
static size_t memory_bytes(size_t ring_bytes)
{
    return area_bytes() + 2 * ring_bytes + ring_bytes / 2;
}

static int memory_create(size_t bytes)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
        return PVMC_ELIMIT; /* ftruncate() beyond the limit raises a signal */
    int fd = memfd_create("pvm-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : PVMC_ESYSTEM;
    if (ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL)) {
        close(fd);
        return PVMC_ESYSTEM;
    }
    return fd;
}

/* ---- creation ---- */

static unsigned shift_of(size_t ring_bytes)
{
    return (unsigned)__builtin_ctzl(ring_bytes / PVMW_CELL_BYTES);
}

static void limits(struct pvmt_shm_link *l)
{
    l->chunk_max = (uint32_t)(l->ring_bytes / 16);
    l->whole_max = (uint32_t)(l->ring_bytes / 4 < PVMT_SHM_WHOLE_MAX ? l->ring_bytes / 4 : PVMT_SHM_WHOLE_MAX);
    l->untaken_max = (uint64_t)pvmc_config_integer(PVMC_SETTING_SHM_PENDING);
}

static struct pvmt_shm_link *link_new(int socket, int memory, size_t ring_bytes, int side)
{
    struct pvmt_shm_link *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->socket = l->epoll = l->bell = -1;
    l->ring_bytes = ring_bytes;
    /* One mapping, because mapping takes most of the time of making a link. */
    uint8_t *base = mmap(NULL, memory_bytes(ring_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (base == MAP_FAILED) {
        free(l);
        return NULL;
    }
    l->area = (void *)base;
    uint8_t *rings[] = {base + area_bytes(), base + area_bytes() + ring_bytes};
    l->socket = socket;
    l->mine = &l->area->side[side];
    l->theirs = &l->area->side[1 - side];
    l->my_returns = l->area->returns[side];
    l->their_returns = l->area->returns[1 - side];
    pvmw_ring_rx_init(&l->rx, rings[side], shift_of(ring_bytes), &l->mine->taken);
    pvmw_ring_tx_init(&l->tx, rings[1 - side], shift_of(ring_bytes), &l->theirs->taken);
    pvmw_ring_tx_stop_at_end(&l->tx);
    limits(l);
    __atomic_store_n(&l->mine->has_barrier, process_start(), __ATOMIC_RELEASE);
    DL_APPEND(links, l);
    return l;
}

/* With up to two descriptors; -1: none. */
static int send_packet(int socket, const struct packet *p, int fd, int second)
{
    const int fds[] = {fd, second};
    union pvmw_rights_room room;
    struct iovec iov = {(void *)p, sizeof *p};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    pvmw_rights_attach(&msg, &room, fds, 2);
    return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *p ? 0 : PVMC_EAGAIN;
}

static int send_hello(int socket, int memory, int bell)
{
    struct packet hello = {.kind = PACKET_HELLO, .number = PVMT_SHM_VERSION, .bytes = (uint64_t)process};
    return send_packet(socket, &hello, memory, bell);
}

static int make_sockets(int pair[2])
{
    if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
        return 0;
    return errno == EMFILE || errno == ENFILE ? PVMC_ELIMIT : PVMC_ESYSTEM;
}

struct pvmt_shm_link *pvmt_shm_link_offer(size_t ring_bytes, int bell, int *peer_fd, int *error)
{
    int pair[2], memory = memory_create(memory_bytes(ring_bytes));
    *error = memory < 0 ? memory : make_sockets(pair);
    if (*error) {
        if (memory >= 0)
            close(memory);
        return NULL;
    }
    struct pvmt_shm_link *l = link_new(pair[0], memory, ring_bytes, 0);
    *error = !l ? PVMC_ENOMEM : send_hello(pair[0], memory, bell) ? PVMC_ELIMIT : 0;
    close(memory);
    *peer_fd = pair[1];
    if (!*error)
        return l;
    close(pair[1]);
    if (l)
        pvmt_shm_link_free(l);
    else
        close(pair[0]);
    return NULL;
}

/* ---- the socket ---- */

struct received {
    struct packet packet;
    ssize_t length;
    int fds[2]; /* -1: none */
};

/* Receives the next packet: false when there is none now. Its length is 0 at the end of the stream. */
static bool receive(int socket, struct received *r)
{
    union pvmw_rights_room room;
    *r = (struct received){.fds = {-1, -1}};
    struct iovec iov = {&r->packet, sizeof r->packet};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    do
        r->length = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (r->length < 0 && (errno == EINTR || errno == ECONNRESET)); /* after a reset, queued data can still be read */
    if (r->length < 0)
        return false;
    pvmw_rights_take(&msg, r->fds, 2);
    return true;
}

static bool is_hello(const struct received *r)
{
    return r->length == sizeof r->packet && r->packet.kind == PACKET_HELLO;
}

/* Closes what came and was not taken. */
static void drop_descriptors(struct received *r)
{
    for (int i = 0; i < 2; i++)
        if (r->fds[i] >= 0)
            close(r->fds[i]);
}

enum next { NEXT_NONE, NEXT_RING, NEXT_PACKET };

/* What the socket holds next. Rings are taken at once: they bring no descriptor, so they need not free the reserve. */
static enum next take_ring(int socket)
{
    struct packet next;
    ssize_t length = recv(socket, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT);
    if (length < 0 && errno == EAGAIN)
        return NEXT_NONE;
    return length == 1 && recv(socket, &next, sizeof next, MSG_DONTWAIT) == 1 ? NEXT_RING : NEXT_PACKET;
}

static void meet_peer(struct pvmt_shm_link *l, const struct received *r)
{
    l->peer = (pid_t)r->packet.bytes;
    l->may_fence = !l->mine->has_barrier || !__atomic_load_n(&l->theirs->has_barrier, __ATOMIC_ACQUIRE);
}

/* Whether it is one of the last descriptors that the process may have. They are reserved for the program. */
static bool is_scarce(int fd)
{
    struct rlimit limit;
    return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + BELL_SPARE_FDS >= limit.rlim_cur;
}

/* An eventfd is an inode without type. Writing to anything else could raise a signal. */
static bool may_be_bell(int fd)
{
    struct stat s;
    return !fstat(fd, &s) && !(s.st_mode & S_IFMT);
}

/* Takes ownership of the descriptor. The reserve, which arenas need, comes first: without a bell a byte wakes. */
static void take_bell(struct pvmt_shm_link *l, int fd)
{
    if (fd < 0)
        return;
    if (reserve_fd < 0 || is_scarce(fd) || !may_be_bell(fd)) {
        close(fd);
        return;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK); /* whatever the peer has sent: ringing never blocks */
    l->bell = fd;
}

static void take_hello(struct pvmt_shm_link *l, struct received *r)
{
    if (l->state != PVMT_LINK_OFFERED)
        return;
    if (r->packet.number != PVMT_SHM_VERSION) {
        pvmt_shm_link_fail(l, PVMC_EVERSION, "another version of shared-memory links");
        return;
    }
    meet_peer(l, r);
    take_bell(l, r->fds[0]);
    r->fds[0] = -1;
    l->state = PVMT_LINK_UP;
    l->refused = true; /* tx_ready tells the owner */
}

/* Takes ownership of the descriptor. */
static void take_arena(struct pvmt_shm_link *l, struct received *r)
{
    int fd = r->fds[0];
    if (fd >= 0 && pvmc_memfd_is_sound(fd, r->packet.bytes)) {
        pvmt_shm_mapping_add(l, r->packet.number, r->packet.bytes, fd);
        r->fds[0] = -1;
        return;
    }
    pvmc_log(PVMC_LOG_WARNING, "shm: cannot use a task's memory: %s",
             fd >= 0 ? "it is not sealed, or it has huge pages" : "out of descriptors, see ulimit -n");
}

static void end(struct pvmt_shm_link *l, bool gone)
{
    l->gone |= gone;
    if (!l->ended)
        l->end_reason = __atomic_load_n(&l->theirs->closed, __ATOMIC_ACQUIRE) ? 0 : PVMC_EDOWN;
    l->ended = true;
    pvmt_shm_link_drop_current(l);
    if (gone)
        pvmt_shm_lending_end(l);
}

static void take_packet(struct pvmt_shm_link *l, struct received *r)
{
    bool full = r->length == sizeof r->packet;
    if (is_hello(r))
        take_hello(l, r);
    else if (full && r->packet.kind == PACKET_ARENA)
        take_arena(l, r);
    else if (full && r->packet.kind == PACKET_GONE)
        pvmt_shm_mapping_remove(l, r->packet.number);
    else if (full && r->packet.kind == PACKET_CLOSED)
        end(l, false);
}

/* Receives the next packet. A peer says hello before it rings, and its bell, which comes then, is not worth the
 * reserve. */
static enum next receive_next(struct pvmt_shm_link *l, struct received *r)
{
    if (l->state == PVMT_LINK_OFFERED)
        return receive(l->socket, r) ? NEXT_PACKET : NEXT_NONE;
    enum next next = take_ring(l->socket);
    if (next != NEXT_PACKET)
        return next;
    free_reserve();
    return receive(l->socket, r) ? NEXT_PACKET : NEXT_NONE;
}

void pvmt_shm_link_listen(struct pvmt_shm_link *l)
{
    struct received r;
    for (int i = 0; i < PACKETS_PER_LOOK && l->socket >= 0; i++) {
        enum next next = receive_next(l, &r);
        if (next == NEXT_RING)
            continue;
        if (next == NEXT_NONE) {
            reserve();
            if (__atomic_load_n(&l->theirs->closed, __ATOMIC_ACQUIRE))
                end(l, false); /* end even if the peer could not be told */
            return;
        }
        if (r.length)
            take_packet(l, &r);
        drop_descriptors(&r);
        reserve(); /* what came with an arena is closed by now */
        if (!r.length) {
            close_socket(l);
            end(l, true);
            return;
        }
    }
}

struct pvmt_shm_link *pvmt_shm_link_join(int fd, size_t ring_bytes, int *error)
{
    struct received r = {.fds = {-1, -1}};
    struct pvmt_shm_link *l = NULL;
    *error = PVMC_EFORMAT;
    free_reserve();
    if (receive(fd, &r) && is_hello(&r)) {
        if (r.fds[0] < 0)
            *error = PVMC_ELIMIT;
        else if (pvmc_memfd_is_sound(r.fds[0], memory_bytes(ring_bytes)))
            *error = (l = link_new(fd, r.fds[0], ring_bytes, 1)) ? 0 : PVMC_ENOMEM;
    }
    int bell = r.fds[1];
    r.fds[1] = l ? -1 : bell;
    drop_descriptors(&r);
    reserve(); /* before the bell, which is not worth it */
    if (!l) {
        close(fd);
        return NULL;
    }
    l->state = PVMT_LINK_UP;
    meet_peer(l, &r);
    take_bell(l, bell);
    return l;
}

int pvmt_shm_link_answer(struct pvmt_shm_link *l, int bell)
{
    /* Too many descriptors may be in flight: without our bell the peer wakes us by a byte. */
    if (send_hello(l->socket, -1, bell) && send_hello(l->socket, -1, -1))
        return PVMC_EDOWN;
    __atomic_store_n(&l->mine->joined, 1, __ATOMIC_RELEASE);
    return 0;
}

int pvmt_shm_link_send_arena(struct pvmt_shm_link *l, unsigned number, const struct pvmc_mem_arena *arena)
{
    struct packet p = {.kind = PACKET_ARENA, .number = number, .bytes = arena->bytes};
    return send_packet(l->socket, &p, arena->fd, -1);
}

int pvmt_shm_link_send_gone(struct pvmt_shm_link *l, unsigned number)
{
    struct packet p = {.kind = PACKET_GONE, .number = number};
    return send_packet(l->socket, &p, -1, -1);
}

void pvmt_shm_link_ring(struct pvmt_shm_link *l, uint32_t bits)
{
    const uint32_t both = PVMT_WAKE_DATA | PVMT_WAKE_ROOM;
    if (l->socket < 0 || !(__atomic_fetch_and(&l->theirs->bell, ~both, __ATOMIC_SEQ_CST) & bits))
        return;
    static const uint64_t one = 1;
    if (l->bell >= 0 && write(l->bell, &one, sizeof one) == sizeof one)
        return;
    ssize_t n =
        send(l->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* another peer may have filled the bell's counter */
    (void)n;                                                 /* if the socket is full, its reader is awake */
}

/* ---- the end ---- */

void pvmt_shm_link_fail(struct pvmt_shm_link *l, int reason, const char *what)
{
    if (l->failed)
        return;
    pvmc_log(PVMC_LOG_ERROR, "shm: closing the link to process %ld: %s", (long)l->peer, what);
    l->failed = l->ended = true;
    l->end_reason = reason;
    pvmt_shm_link_drop_current(l);
}

void pvmt_shm_link_part(struct pvmt_shm_link *l)
{
    l->parted = l->told_end = true;
    if (l->foreign)
        return;
    __atomic_store_n(&l->mine->closed, 1, __ATOMIC_RELEASE);
    struct packet p = {.kind = PACKET_CLOSED};
    if (l->socket >= 0)
        send_packet(l->socket, &p, -1, -1); /* if the socket is full, the peer reads it and then finds `closed` set */
}

bool pvmt_shm_link_release(struct pvmt_shm_link *l)
{
    if (!l->parted || l->current || l->borrowed)
        return false;
    pvmt_shm_lending_reap(l);
    if (l->lending.count && !l->gone && !l->foreign)
        return false;
    pvmt_shm_link_free(l);
    return true;
}

void pvmt_shm_link_free(struct pvmt_shm_link *l)
{
    pvmt_shm_link_drop_current(l);
    pvmt_shm_lending_end(l);
    pvmt_shm_mappings_free(l);
    close_socket(l);
    munmap(l->area, memory_bytes(l->ring_bytes));
    DL_DELETE(links, l);
    free(l);
}

/* Skips links of open transports, which progress() serves. */
void pvmt_shm_links_reap(void)
{
    struct pvmt_shm_link *l, *next;
    DL_FOREACH_SAFE (links, l, next) {
        if (!l->base.transport && l->socket >= 0)
            pvmt_shm_link_listen(l);
        if (l->base.transport || !pvmt_shm_link_release(l))
            pvmt_shm_lending_reap(l);
    }
}
