/*
 * fuzz_shm.c - a shared-memory link whose other end is hostile: it writes anything into its ring and its words of the
 * common memory, refers to any memory, sends anything over the socket, and changes bytes between any two instructions
 * of the honest end.
 *
 * Input: a byte of options, then records { kind, choice, length, bytes }.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "transports/shm/link.h"
#include "fuzz.h"

enum { RECORDS_MAX = 32, KEPT_MAX = 16, LENT_BYTES = 70000, PACKET_BYTES = 16, PLACE_MAX = 1 << 20, STEPS_MAX = 4096 };

static const struct pvmt_transport_ops *ops;

struct end {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    uint8_t *place;
    struct pvmc_mem *kept[KEPT_MAX];
    unsigned kept_count;
    bool keeps, refuses, down;
};

static struct end honest, hostile;

static struct pvmt_shm_link *link_of(const struct end *e)
{
    return (struct pvmt_shm_link *)e->ep;
}

static void quiet(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

/* ---- bytes that change during a read ---- */

static volatile uint8_t *flip_at;
static uint8_t flip_bits;
static volatile unsigned steps_left;

/* The byte changes `steps` instructions from now. */
static void flip_after(unsigned steps, volatile uint8_t *at, uint8_t bits)
{
    flip_at = at;
    flip_bits = bits;
    steps_left = steps % STEPS_MAX;
}

static void flip_now(void)
{
    if (flip_at)
        *flip_at ^= flip_bits;
    flip_at = NULL;
}

#ifdef __x86_64__
#define TRAP_FLAG 0x100

__attribute__((no_sanitize("all"))) static void step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (steps_left && --steps_left)
        return;
    flip_now();
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void watch_steps(void)
{
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
}

static inline void single_step(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "memory", "cc");
}
#else
static void watch_steps(void)
{
}

static inline void single_step(bool on)
{
    (void)on; /* the byte changes only in the callbacks */
}
#endif

/* ---- the owners of both ends ---- */

static uint8_t *rx_place(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    struct end *e = arg;
    (void)ep;
    if (e == &honest)
        flip_now();
    if (h->length > PLACE_MAX || e->refuses)
        return NULL;
    e->place = realloc(e->place, h->length + 1ul);
    return e->place;
}

static void rx_done(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h)
{
    static volatile uint8_t sink;
    struct end *e = arg;
    (void)ep;
    if (h->length)
        sink = sink ^ e->place[0] ^ e->place[h->length - 1];
}

/* Reads of a message stay within its memory, whatever the sender writes there. */
static int rx_whole(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data)
{
    struct end *e = arg;
    if (!rx_place(arg, ep, h))
        return PVMC_EEXISTS;
    memcpy(e->place, data, h->length);
    if (mem && e->keeps && e->kept_count < KEPT_MAX)
        e->kept[e->kept_count++] = mem;
    else
        pvmc_mem_unref(mem);
    return 0;
}

static void tx_ready(void *arg, struct pvmt_endpoint *ep)
{
    (void)arg, (void)ep;
}

static void down(void *arg, struct pvmt_endpoint *ep, int reason)
{
    struct end *e = arg;
    (void)ep, (void)reason;
    MUST(!e->down);
    e->down = true;
}

static const struct pvmt_callbacks callbacks = {
    .rx_place = rx_place, .rx_done = rx_done, .rx_whole = rx_whole, .tx_ready = tx_ready, .down = down};

static void drop_kept(struct end *e)
{
    while (e->kept_count)
        pvmc_mem_unref(e->kept[--e->kept_count]);
}

/* ---- life ---- */

static void start(void)
{
    setenv("PVM_SHM_RING", "16k", 1);
    setenv("PVM_SHM_PENDING", "64k", 1);
    pvmc_log_to(quiet, NULL, PVMC_LOG_DEBUG);
    ops = pvmt_transport_find("shm");
    pvmc_mem_use_arenas();
    watch_steps();
    MUST(!ops->open(NULL, &callbacks, &honest, &honest.transport) &&
         !ops->open(NULL, &callbacks, &hostile, &hostile.transport));
}

/* Only an end that was asleep polls its sockets. */
static void work(struct end *e)
{
    ops->arm(e->transport);
    ops->progress(e->transport);
}

/* Single-steps the honest end while a byte is due to change. */
static void honest_works(void)
{
    ops->arm(honest.transport);
    if (steps_left)
        single_step(true);
    ops->progress(honest.transport);
    single_step(false);
    flip_at = NULL;
    steps_left = 0;
}

static void meet(bool hostile_offers)
{
    struct end *offers = hostile_offers ? &hostile : &honest, *joins = hostile_offers ? &honest : &hostile;
    uint8_t blob[PVMT_OFFER_MAX], reply[PVMT_OFFER_MAX];
    int fd, length = ops->offer(offers->transport, offers, blob, &fd, &offers->ep);
    MUST(length > 0 && !ops->join(joins->transport, blob, (size_t)length, fd, joins, reply, &joins->ep));
    work(&honest);
    work(&hostile);
}

static void part(void)
{
    drop_kept(&honest);
    drop_kept(&hostile);
    ops->disconnect(hostile.ep);
    ops->disconnect(honest.ep);
    work(&honest);
    work(&hostile);
    honest.ep = hostile.ep = NULL;
    honest.down = hostile.down = false;
}

/* ---- actions of the hostile end ---- */

/* Writes bytes to the cells at its head; `choice`: kind of record and number of cells. */
static void publish(uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct pvmw_ring_tx *tx = &link_of(&hostile)->tx;
    uint32_t cells = 1 + pvmw_cells_of(length) + (choice >> 3 & 3);
    tx->taken = &link_of(&hostile)->theirs->taken;
    if (!pvmw_ring_refresh(tx))
        return;
    struct pvmw_long_cell *cell = pvmw_ring_reserve(tx, cells);
    if (!cell)
        return;
    uint32_t said = length > 2 ? bytes[0] | (uint32_t)bytes[1] << 8 : 0; /* the length that the record claims */
    if (length > 2)
        memcpy((uint8_t *)cell + sizeof cell->word, bytes + 2, length - 2);
    cell->word = pvmw_ring_finish(tx, (enum pvmw_record)(choice & 7), cells, said);
}

/* A valid header that refers to memory that was lent before, or to memory that was not. */
static void refer(const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    struct pvmt_shm_link *l = link_of(&hostile);
    struct pvmw_long_cell *cell = pvmw_ring_reserve(&l->tx, 2);
    if (!cell)
        return;
    uint32_t bytes_said = fuzz_byte(&in) | (uint32_t)fuzz_byte(&in) << 8;
    uint64_t scale = UINT64_C(1) << (fuzz_byte(&in) & 31);
    struct pvmt_reference r = {.offset = fuzz_byte(&in) * scale, .loan = fuzz_byte(&in)};
    r.arena = l->lending.sent_count ? l->lending.sent[0] : fuzz_byte(&in);
    *cell = (struct pvmw_long_cell){.length = bytes_said, .body_length = bytes_said + fuzz_byte(&in) % 2};
    memcpy(cell + 1, &r, sizeof r);
    cell->word = pvmw_ring_finish(&l->tx, PVMW_RECORD_REFERENCE, 2, sizeof r);
}

/* Writes up to 8 bytes anywhere into its own words of the common memory. */
static void write_side(uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct pvmt_shm_link *l = link_of(&hostile);
    uint8_t *words = choice & 64 ? (uint8_t *)l->my_returns : (uint8_t *)l->mine;
    size_t at = (choice & 63) * sizeof(uint32_t);
    memcpy(words + at, bytes, length < 8 ? length : 8);
}

/* The descriptor of a packet: a memfd of some size, sealed or not, or something else. */
static int descriptor_for(uint8_t choice)
{
    if (choice & 1)
        return -1;
    if (choice & 2)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    MUST(fd >= 0 && !ftruncate(fd, choice & 4 ? 4096 : 0));
    fcntl(fd, F_ADD_SEALS, choice & 8 ? F_SEAL_SHRINK | F_SEAL_GROW : F_SEAL_SHRINK);
    return fd;
}

static void send_packet(uint8_t choice, const uint8_t *bytes, size_t length)
{
    int fd = descriptor_for(choice);
    uint64_t packet[PACKET_BYTES / 8] = {0};
    memcpy(packet, bytes, length < sizeof packet ? length : sizeof packet);
    if (choice & 16)
        packet[1] = 4096;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } ancillary = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
    struct iovec iov = {packet, choice & 32 ? length % sizeof packet : sizeof packet};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = &ancillary;
        msg.msg_controllen = sizeof ancillary.room;
    }
    if (link_of(&hostile)->socket >= 0)
        sendmsg(link_of(&hostile)->socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
}

/* A byte of its ring, or of its words, changes while the honest end reads them. */
static void flip(uint8_t choice, const uint8_t *bytes, size_t length)
{
    struct fuzz_input in = {bytes, length};
    struct pvmt_shm_link *l = link_of(&hostile);
    unsigned steps = fuzz_byte(&in) | (unsigned)fuzz_byte(&in) << 8;
    size_t at = fuzz_byte(&in);
    uint8_t *ring = pvmw_ring_cell(l->tx.cells, l->tx.mask, link_of(&honest)->rx.position);
    flip_after(steps, choice & 1 ? (uint8_t *)l->mine + at * 4 : ring + at, fuzz_byte(&in));
}

/* ---- actions of the honest end ---- */

static void send_message(struct end *e, uint32_t length, bool in_place)
{
    static uint8_t place[LENT_BYTES];
    struct pvmc_frame_header h = {.length = length, .body_length = length, .dst = 1, .src = 2};
    struct pvmc_frame *f = in_place ? pvmc_frame_new(&h, NULL) : pvmc_frame_alloc(&h);
    if (!f)
        return;
    if (length && in_place)
        pvmc_frame_add_piece(f, place, length);
    else if (length)
        memset(f->mem->data, 3, length);
    ops->send(e->ep, f);
    pvmc_frame_unref(f);
}

static void do_record(uint8_t kind, uint8_t choice, const uint8_t *bytes, size_t length)
{
    switch (kind % 10) {
    case 0:
    case 1:
    case 2:
        publish(choice, bytes, length);
        break;
    case 3:
        refer(bytes, length);
        break;
    case 4:
        write_side(choice, bytes, length);
        break;
    case 5:
        send_packet(choice, bytes, length);
        break;
    case 6:
        flip(choice, bytes, length);
        return;
    case 7:
        send_message(&honest, choice & 1 ? LENT_BYTES : (uint32_t)choice * 64, choice & 2);
        break;
    case 8:
        send_message(&hostile, choice & 1 ? LENT_BYTES : (uint32_t)choice * 64, choice & 2);
        break;
    default:
        if (choice & 1)
            work(&hostile);
        if (choice & 2)
            drop_kept(&honest);
        if (choice & 4)
            drop_kept(&hostile);
    }
    honest_works();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    if (!ops)
        start();
    uint8_t options = fuzz_byte(&in);
    honest.keeps = hostile.keeps = options & 2;
    honest.refuses = options & 4;
    meet(options & 1);
    for (int i = 0; i < RECORDS_MAX && in.left; i++) {
        uint8_t kind = fuzz_byte(&in), choice = fuzz_byte(&in);
        size_t length = fuzz_byte(&in);
        if (length > in.left)
            length = in.left;
        do_record(kind, choice, in.data, length);
        in.data += length;
        in.left -= length;
    }
    part();
    return 0;
}
