/* arrival.c - see arrival.h. */
#include "arrival.h"
#include <ev.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "wire/tls.h"
#include "add.h"
#include "hostfile.h"
#include "tokens.h"

#define ARRIVALS_MAX 256 /* at once; further ones are told to come again */
#define ASK_S        5.  /* for the TLS handshake and the line */
#define LINE_BYTES   PVMD_START_LINE_MAX

/* Named by what the arrival waits for. */
enum state {
    ASKING,   /* for its line */
    WAITING,  /* for its turn to join */
    STARTING, /* for its start line */
    STARTED,  /* for nothing: its newcomer goes on without the channel */
};

struct pvmd_arrival {
    enum state state;
    unsigned token;
    bool has_use; /* a use of the token is set aside */
    int fd;
    struct pvmw_tls *tls;
    bool is_proven; /* the handshake is done */
    union pvmw_address address;
    bool is_local;
    ev_io io;
    ev_timer limit;
    char line[LINE_BYTES + 1];
    size_t length;
    char *text; /* to be written */
    size_t text_bytes, text_done;
    const struct pvmd_launch_events *events; /* from STARTING on */
    void *owner;
    struct pvmd_arrival *prev, *next;
};

static struct pvmd_arrival *arrivals;
static unsigned count;

unsigned pvmd_arrival_token(const struct pvmd_arrival *a)
{
    return a->token;
}

const union pvmw_address *pvmd_arrival_address(const struct pvmd_arrival *a)
{
    return &a->address;
}

bool pvmd_arrival_is_local(const struct pvmd_arrival *a)
{
    return a->is_local;
}

/* ---- writing and closing ---- */

static void drop_text(struct pvmd_arrival *a)
{
    if (a->text)
        OPENSSL_cleanse(a->text, a->text_bytes);
    free(a->text);
    a->text = NULL;
}

static void release(struct pvmd_arrival *a)
{
    ev_io_stop(pvmd.loop, &a->io);
    ev_timer_stop(pvmd.loop, &a->limit);
    pvmw_tls_end(a->tls, true);
    close(a->fd);
    drop_text(a);
    DL_DELETE(arrivals, a);
    count--;
    OPENSSL_cleanse(a, sizeof *a);
    free(a);
}

void pvmd_arrival_release(struct pvmd_arrival *a)
{
    release(a);
}

/* Writes as much as the socket takes. */
static void write_on(struct pvmd_arrival *a)
{
    while (a->text && pvmw_tls_flush(a->tls)) {
        if (a->text_done == a->text_bytes)
            drop_text(a);
        else
            a->text_done += pvmw_tls_put(a->tls, a->text + a->text_done, a->text_bytes - a->text_done);
        if (pvmw_tls_error(a->tls))
            drop_text(a);
    }
    ev_io_stop(pvmd.loop, &a->io);
    ev_io_set(&a->io, a->fd, EV_READ | (a->text ? EV_WRITE : 0));
    ev_io_start(pvmd.loop, &a->io);
}

/* The last line that it gets: it fits into the socket's buffer, or is lost. */
static void write_line(struct pvmd_arrival *a, const char *line)
{
    pvmw_tls_put(a->tls, line, strlen(line));
    pvmw_tls_put(a->tls, "\n", 1);
    pvmw_tls_flush(a->tls);
}

static void give_back(struct pvmd_arrival *a)
{
    if (a->has_use)
        pvmd_tokens_give_back(a->token);
    a->has_use = false;
}

void pvmd_arrival_refuse(struct pvmd_arrival *a, int code, const char *why)
{
    char line[PVMD_START_LINE_MAX];
    give_back(a);
    if (why && a->is_proven) {
        pvmd_error_line_format(code, why, line, sizeof line);
        write_line(a, line);
    }
    release(a);
}

/* It is gone, or does not follow the protocol, before it has asked. */
static void turn_away(struct pvmd_arrival *a, const char *why)
{
    char text[PVMW_ADDRESS_TEXT];
    pvmc_log(PVMC_LOG_WARNING, "the daemon at %s, which would join with token %s, does not: %s",
             pvmw_address_text(&a->address, text), pvmd_tokens_id(a->token), why);
    pvmd_arrival_refuse(a, PvmCantStart, why);
}

/* Tells its newcomer. If that has not begun, or needs the channel no more, it will notice by itself. */
static void fail(struct pvmd_arrival *a, int code, const char *why)
{
    const struct pvmd_launch_events *events = a->events;
    void *owner = a->owner;
    if (a->state == ASKING) {
        turn_away(a, why);
    } else if (a->state == STARTING) {
        pvmd_arrival_refuse(a, code, NULL);
        events->failed(owner, code, true, why);
    } else {
        ev_io_stop(pvmd.loop, &a->io);
        if (a->state == WAITING)
            give_back(a);
    }
}

/* Whoever waits for its turn is refused when that comes: see pvmd_arrival_is_revoked(). */
static void token_revoked(unsigned place)
{
    struct pvmd_arrival *a, *next;
    DL_FOREACH_SAFE (arrivals, a, next) {
        const struct pvmd_launch_events *events = a->events;
        void *owner = a->owner;
        if (a->token != place || a->state == WAITING)
            continue;
        pvmd_arrival_refuse(a, PvmDenied, "the token is revoked");
        if (events)
            events->failed(owner, PvmDenied, true, "the token is revoked");
    }
}

bool pvmd_arrival_is_revoked(const struct pvmd_arrival *a)
{
    return pvmd_tokens_is_revoked(a->token);
}

void pvmd_arrival_listen(void)
{
    pvmd_tokens_on_revoked(token_revoked);
}

/* ---- its request ---- */

/* What it asks with. */
struct request {
    long protocol;
    char version[32], name[PVMD_HOST_NAME_MAX + 1];
    int speed, slots;
};

static bool read_request(const char *line, struct request *r)
{
    static const char form[] = PVMD_ARRIVAL_ASKS " %ld %31s %255s %d %d";
    return sscanf(line, form, &r->protocol, r->version, r->name, &r->speed, &r->slots) == 5;
}

_Static_assert(PVMD_HOST_NAME_MAX == 255, "the format reads that many bytes of a name");

static bool is_sound(const struct request *r)
{
    return pvmd_host_name_is_valid(r->name) && r->speed >= 0 && r->speed <= PVMD_SPEED_MAX && r->slots >= 0 &&
           r->slots <= PVMD_SLOTS_MAX;
}

static void name_master(struct pvmd_arrival *a)
{
    const struct pvmd_host *master = pvmd_host_any(pvmd.master_index);
    union pvmw_address where;
    char line[sizeof PVMD_ARRIVAL_MOVED + PVMW_ADDRESS_TEXT], text[PVMW_ADDRESS_TEXT];
    if (!master || master->lost || pvmw_address_parse(master->address, master->port, &where)) {
        pvmd_arrival_refuse(a, PvmOutOfRes, "the machine has no master at present");
        return;
    }
    if (pvmw_address_is_loopback(&where) && !a->is_local) {
        pvmd_arrival_refuse(a, PvmOutOfRes, "the address of the master is one of its own machine only");
        return;
    }
    snprintf(line, sizeof line, "%s %s", PVMD_ARRIVAL_MOVED, pvmw_address_text(&where, text));
    write_line(a, line);
    release(a);
}

static void join(struct pvmd_arrival *a, const struct request *r)
{
    char line[PVMD_HOST_NAME_MAX + 64];
    int length = snprintf(line, sizeof line, "%s", r->name);
    if (r->speed)
        length += snprintf(line + length, sizeof line - (size_t)length, " sp=%d", r->speed);
    if (r->slots)
        snprintf(line + length, sizeof line - (size_t)length, " sl=%d", r->slots);
    a->state = WAITING;
    ev_timer_stop(pvmd.loop, &a->limit);
    if (pvmd_add_arrival(line, a))
        pvmd_arrival_refuse(a, PvmOutOfRes, "too many hosts are being added; try again later");
}

static void take_request(struct pvmd_arrival *a, const char *line)
{
    struct request r;
    if (!read_request(line, &r) || r.protocol != PVMC_DAEMON_PROTOCOL)
        fail(a, PvmCantStart, "it does not follow the protocol");
    else if (!is_sound(&r))
        pvmd_arrival_refuse(a, PvmBadParam, "its name, speed or slots are not valid");
    else if (!pvmd_is_master())
        name_master(a);
    else if (!pvmd_tokens_take(a->token))
        pvmd_arrival_refuse(a, PvmDenied, "the token is used up: another daemon was faster");
    else {
        a->has_use = true;
        join(a, &r);
    }
}

/* ---- reading ---- */

static void take_start_line(struct pvmd_arrival *a, const char *text)
{
    struct pvmd_start_line line;
    switch (pvmd_start_line_parse(text, &line)) {
    case PVMD_LINE_START:
        a->state = STARTED;
        a->events->started(a->owner, &line);
        break;
    case PVMD_LINE_ERROR:
        fail(a, line.code, line.why);
        break;
    default:
        fail(a, PvmCantStart, "it does not follow the protocol");
    }
}

/* A line is complete. The arrival may be gone afterwards. */
static void take_line(struct pvmd_arrival *a)
{
    char line[LINE_BYTES + 1];
    char *end = memchr(a->line, '\n', a->length);
    size_t length = (size_t)(end - a->line);
    memcpy(line, a->line, length);
    line[length] = '\0';
    a->length -= length + 1;
    memmove(a->line, end + 1, a->length);
    if (a->state == ASKING)
        take_request(a, line);
    else if (a->state == STARTING)
        take_start_line(a, line);
}

static void read_on(struct pvmd_arrival *a)
{
    ssize_t n = pvmw_tls_read(a->tls, a->line + a->length, LINE_BYTES - a->length);
    if (n > 0)
        a->length += (size_t)n;
    if (n > 0 && memchr(a->line, '\n', a->length))
        take_line(a);
    else if (n < 0)
        fail(a, PvmCantStart, "it has ended the connection");
    else if (a->length == LINE_BYTES)
        fail(a, PvmCantStart, "it does not follow the protocol");
}

static void io_event(struct ev_loop *loop, ev_io *w, int events)
{
    struct pvmd_arrival *a = w->data;
    (void)loop;
    if (!a->is_proven) {
        int rc = pvmw_tls_handshake(a->tls);
        a->is_proven = rc > 0;
        if (rc < 0)
            fail(a, PvmCantStart, "the TLS handshake has failed");
        if (rc <= 0)
            return;
    }
    if (events & EV_WRITE)
        write_on(a);
    read_on(a);
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    turn_away(w->data, "it does not say what it wants");
}

/* ---- the door ---- */

enum pvmd_verdict pvmd_arrival_judge(unsigned place)
{
    enum pvmd_verdict verdict = pvmd_tokens_judge(place);
    return verdict == PVMD_VERDICT_GO && count >= ARRIVALS_MAX ? PVMD_VERDICT_BUSY : verdict;
}

/* A socket's other end, and whether that is on this machine. */
static int look_at_peer(struct pvmd_arrival *a)
{
    struct sockaddr_storage peer, own;
    socklen_t peer_size = sizeof peer, own_size = sizeof own;
    union pvmw_address ours;
    if (getpeername(a->fd, (struct sockaddr *)&peer, &peer_size) ||
        pvmw_address_from((struct sockaddr *)&peer, &a->address) ||
        getsockname(a->fd, (struct sockaddr *)&own, &own_size) || pvmw_address_from((struct sockaddr *)&own, &ours))
        return PVMC_EDOWN;
    a->is_local = pvmw_address_is_loopback(&a->address) || pvmw_address_same(&a->address, &ours);
    return 0;
}

void pvmd_arrival_enter(unsigned place, int fd, const uint8_t secret[PVMD_KEY_BYTES])
{
    struct pvmw_tls_key key = {.id = "dpvm link"};
    struct pvmd_arrival *a = calloc(1, sizeof *a);
    memcpy(key.secret, secret, sizeof key.secret);
    if (a) {
        *a = (struct pvmd_arrival){.token = place, .fd = fd};
        a->tls = look_at_peer(a) ? NULL : pvmw_tls_new(fd, PVMW_TLS_CALLED, &key);
    }
    OPENSSL_cleanse(&key, sizeof key);
    if (!a || !a->tls) {
        close(fd);
        free(a);
        return;
    }
    DL_APPEND(arrivals, a);
    count++;
    ev_io_init(&a->io, io_event, fd, EV_READ);
    ev_timer_init(&a->limit, limit_event, ASK_S, 0.);
    a->io.data = a->limit.data = a;
    ev_io_start(pvmd.loop, &a->io);
    ev_timer_start(pvmd.loop, &a->limit);
    pvmw_tls_handshake(a->tls);
}

void pvmd_arrival_start(struct pvmd_arrival *a, const char *text, const struct pvmd_launch_events *events, void *owner)
{
    a->state = STARTING;
    a->events = events;
    a->owner = owner;
    a->text = strdup(text);
    a->text_bytes = a->text ? strlen(a->text) : 0;
    a->text_done = 0;
    write_on(a); /* if it has ended the connection, reading shows it */
}

void pvmd_arrival_stop(void)
{
    struct pvmd_arrival *a, *next;
    DL_FOREACH_SAFE (arrivals, a, next)
        release(a);
}
