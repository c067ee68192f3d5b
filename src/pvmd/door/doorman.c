/* doorman.c - the process that accepts connections at the TCP port. */
#include "doorman.h"
#include <errno.h>
#include <ev.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "confine.h"
#include "crowd.h"
#include "handover.h"

#define ACCEPTS_MAX       64   /* per turn of the loop */
#define PAUSE_S           0.25 /* pause in accepting after the kernel has run out of a resource */
#define LOOK_S            0.1  /* interval of checks for strangers whose time is up */
#define REPORT_S          1.   /* interval of reports to the daemon */
#define SPARE_DESCRIPTORS 16

struct stranger {
    int fd;
    uint64_t source;
    ev_tstamp since;
    ev_io io;
    uint8_t nonce[PVMD_NONCE_BYTES];
    uint8_t wire[PVMD_PREFACE_BYTES];
    size_t bytes;
    struct stranger *prev, *next;
};

static struct ev_loop *loop;
static struct pvmd_doorman_orders orders;
static struct pvmd_crowd crowd;
static struct pvmd_door_counts counts;
static struct stranger *strangers; /* oldest first */
static int listen_fd = -1;
static ev_io accept_watcher, daemon_watcher;
static ev_timer pause_timer, look_timer, report_timer;

/* ---- messages to the daemon ---- */

/* Blocks while the daemon does not read, because the doorman is useless without it. Exits when the pair closes. */
static void tell(struct pvmd_doorman_message *m, int fd)
{
    while (pvmd_handover_send(STDIN_FILENO, m, sizeof *m, fd))
        if (errno != EINTR)
            _exit(0);
}

static void report_event(struct ev_loop *l, ev_timer *w, int events)
{
    struct pvmd_doorman_message m = {.kind = PVMD_DOORMAN_COUNTS, .u.counts = counts};
    (void)events;
    ev_timer_stop(l, w);
    tell(&m, -1);
}

/* Counts a stranger that is turned away. */
static void count(uint64_t *counter)
{
    ++*counter;
    if (!ev_is_active(&report_timer)) {
        ev_timer_set(&report_timer, REPORT_S, 0.);
        ev_timer_start(loop, &report_timer);
    }
}

/* ---- strangers ---- */

static void forget(struct stranger *s)
{
    ev_io_stop(loop, &s->io);
    close(s->fd);
    pvmd_crowd_leave(&crowd, s->source);
    DL_DELETE(strangers, s);
    OPENSSL_cleanse(s, sizeof *s);
    free(s);
    if (!strangers)
        ev_timer_stop(loop, &look_timer);
}

/* A reset frees the connection at once, here and in the kernel. */
static void reset_at_close(int fd)
{
    static const struct linger at_once = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static void refuse(struct stranger *s, uint64_t *counter)
{
    count(counter);
    reset_at_close(s->fd);
    forget(s);
}

static void hand_over(struct stranger *s)
{
    struct pvmd_doorman_message m = {.kind = PVMD_DOORMAN_CALLER};
    memcpy(m.u.caller.nonce, s->nonce, sizeof s->nonce);
    memcpy(m.u.caller.wire, s->wire, sizeof s->wire);
    tell(&m, s->fd);
    forget(s);
}

static const struct pvmd_door *find_door(const uint8_t *id)
{
    for (uint32_t i = 1; i < orders.count; i++)
        if (!memcmp(orders.doors[i].machine_id, id, PVMD_MACHINE_ID_BYTES))
            return &orders.doors[i];
    return &orders.doors[0];
}

static void judge(struct stranger *s)
{
    struct pvmd_preface p;
    const uint8_t *id = pvmd_preface_key_id(s->wire);
    int rc = pvmd_preface_decode(s->wire, find_door(id), s->nonce, &p);
    if (rc == PVMC_EDENIED)
        refuse(s, pvmd_machine_is_token(id) ? &counts.unknown : &counts.denied);
    else if (rc)
        refuse(s, &counts.malformed);
    else
        hand_over(s);
}

static void read_event(struct ev_loop *l, ev_io *w, int events)
{
    struct stranger *s = w->data;
    (void)l, (void)events;
    ssize_t n = recv(s->fd, s->wire + s->bytes, sizeof s->wire - s->bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        refuse(s, &counts.malformed);
        return;
    }
    s->bytes += (size_t)n;
    if (s->bytes == sizeof s->wire)
        judge(s);
}

static void look_event(struct ev_loop *l, ev_timer *w, int events)
{
    struct stranger *s, *next;
    (void)w, (void)events;
    DL_FOREACH_SAFE (strangers, s, next) {
        ev_tstamp age_s = ev_now(l) - s->since;
        if (age_s < PVMD_STRANGER_PRESSED_S)
            return; /* all later ones are younger */
        if (age_s >= PVMD_STRANGER_S || pvmd_crowd_is_pressed(&crowd, s->source))
            refuse(s, &counts.too_slow);
    }
}

/* Sends the nonce: 0, or -1 when the connection has failed. */
static int greet(struct stranger *s)
{
    int one = 1;
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (RAND_bytes(s->nonce, sizeof s->nonce) != 1)
        return -1;
    return send(s->fd, s->nonce, sizeof s->nonce, MSG_NOSIGNAL) == (ssize_t)sizeof s->nonce ? 0 : -1;
}

/* Takes ownership of fd, which the crowd has admitted. */
static void welcome(int fd, uint64_t source)
{
    struct stranger *s = calloc(1, sizeof *s);
    if (!s) {
        pvmd_crowd_leave(&crowd, source);
        close(fd);
        return;
    }
    s->fd = fd;
    s->source = source;
    s->since = ev_now(loop);
    ev_io_init(&s->io, read_event, fd, EV_READ);
    s->io.data = s;
    DL_APPEND(strangers, s);
    if (greet(s)) {
        refuse(s, &counts.malformed);
        return;
    }
    ev_io_start(loop, &s->io);
    if (!ev_is_active(&look_timer))
        ev_timer_again(loop, &look_timer);
}

static void turn_away(int fd)
{
    count(&counts.too_many);
    reset_at_close(fd);
    close(fd);
}

static void meet(int fd, const struct sockaddr_storage *from)
{
    union pvmw_address a;
    uint32_t random;
    if (pvmw_address_from((const struct sockaddr *)from, &a) || RAND_bytes((uint8_t *)&random, sizeof random) != 1) {
        close(fd);
        return;
    }
    uint64_t source = pvmd_crowd_source(&a);
    if (pvmd_crowd_admit(&crowd, source, random))
        welcome(fd, source);
    else
        turn_away(fd);
}

/* ---- the port ---- */

static void pause_accepting(void)
{
    ev_io_stop(loop, &accept_watcher);
    ev_timer_set(&pause_timer, PAUSE_S, 0.);
    ev_timer_start(loop, &pause_timer);
}

static void pause_event(struct ev_loop *l, ev_timer *w, int events)
{
    (void)w, (void)events;
    ev_io_start(l, &accept_watcher);
}

static void accept_event(struct ev_loop *l, ev_io *w, int events)
{
    struct sockaddr_storage from;
    (void)l, (void)w, (void)events;
    for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
        socklen_t size = sizeof from;
        int fd = accept4(listen_fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            meet(fd, &from);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting();
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

/* ---- start ---- */

/* Receives orders, and the descriptor that comes with the first ones. */
static int take_orders(int *fd)
{
    ssize_t n = pvmd_handover_receive(STDIN_FILENO, &orders, sizeof orders, fd);
    bool is_sound = n == (ssize_t)sizeof orders && orders.count && orders.count <= 1 + PVMD_PLACES;
    return is_sound ? 0 : PVMC_EFORMAT;
}

/* Other keys, or the daemon's end. */
static void daemon_event(struct ev_loop *l, ev_io *w, int events)
{
    int fd;
    (void)l, (void)w, (void)events;
    if (take_orders(&fd) || fd >= 0)
        _exit(0);
}

/* Makes OpenSSL load what it needs before those system calls are forbidden. */
static int prepare_openssl(void)
{
    static const struct pvmd_preface any;
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES];
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    return RAND_bytes(nonce, sizeof nonce) == 1 ? pvmd_preface_encode(&any, &orders.doors[0], nonce, wire)
                                                : PVMC_ESYSTEM;
}

static int open_crowd(void)
{
    struct rlimit limit;
    crowd.max = PVMD_STRANGERS_MAX;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < PVMD_STRANGERS_MAX + SPARE_DESCRIPTORS)
        crowd.max = (unsigned)limit.rlim_cur - SPARE_DESCRIPTORS;
    int rc = RAND_bytes((uint8_t *)&crowd.multiplier, sizeof crowd.multiplier) == 1 ? 0 : PVMC_ESYSTEM;
    crowd.multiplier |= 1;
    return rc;
}

static void watch(void)
{
    ev_io_init(&daemon_watcher, daemon_event, STDIN_FILENO, EV_READ);
    ev_io_init(&accept_watcher, accept_event, listen_fd, EV_READ);
    ev_init(&pause_timer, pause_event);
    ev_timer_init(&look_timer, look_event, 0., LOOK_S);
    ev_init(&report_timer, report_event);
    ev_io_start(loop, &daemon_watcher);
    ev_io_start(loop, &accept_watcher);
}

static void give_up_calls(void)
{
    struct pvmd_doorman_message m = {.kind = PVMD_DOORMAN_UNCONFINED,
                                     .u.error = pvmd_confine_calls(PVMD_CONFINE_CALLED)};
    if (m.u.error)
        tell(&m, -1);
}

int pvmd_doorman_run(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the doorman must not outlive the daemon */
    pvmd_confine_start("pvmd3-doorman");
    loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (!loop || take_orders(&listen_fd) || listen_fd < 0 || prepare_openssl() || open_crowd())
        return 1;
    watch();
    give_up_calls();
    ev_run(loop, 0);
    return 0;
}
