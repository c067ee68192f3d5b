/* connection.c - the engines on the VCs of a host: what is sent next, when to poll, and what the owner is told. */
#include "connection.h"
#include <stdlib.h>
#include <string.h>
#include "pcaal.h"
#include "receiver.h"
#include "sender.h"
#include "serial.h"
#include "sscop.h"

enum {
    FIRST = 1,            /* number of the first SD, as in figure 5.7 */
    QUEUED_PDUS_MAX = 2,  /* in the VC's send queue: one at the processor, one in the adapter, none waits behind them */
    QUEUED_CELLS_MAX = 1, /* ... of ECE, whose time stamps are of the moment at which a cell enters the queue */
    WINDOW_MIN = 4096,    /* octets */
    WINDOW_MAX = 64 << 20,
    POLLS_MIN = 4, /* T_POLLs before a peer is lost: three POLLs without an answer */
    END_COOKIE = 1,
};

/* A VC, and the PDU for which the host's full send queue had no room. */
struct way {
    struct pvma_vc *vc; /* NULL: lost, or not used */
    size_t refused;     /* octets; 0: none */
    bool refused_again;
    uint8_t *wire;
    uint64_t cells_before; /* that it sent before the connection had it */
};

struct pvma_connection {
    struct pvma_sim *sim;
    struct way way[PVMA_PATHS]; /* without ECE, only the first */
    struct pvma_connection_settings settings;
    const struct pvma_connection_events *events;
    void *arg;
    struct pvma_pcaal format; /* of PC-AAL */
    size_t sd_bytes;          /* of SSCOP: octets in the largest SD */
    unsigned elements;        /* in a STAT, at most */
    struct pvma_sender sender;
    struct pvma_receiver receiver;
    struct pvma_event poll_time;
    bool poll_due;
    pvma_ps heard;    /* when the peer last answered, or had no reason to */
    size_t cut_short; /* octets of the SD for which a write had no room; 0: none */
    enum pvma_cause lost;
    struct pvma_connection_statistics count;
    uint64_t bad_cells; /* of PC-AAL: damaged */
    struct pvma_ece ece;
    struct pvma_event ece_time;
};

/* ---- protocols ---- */

static const char *const names[] = {"native", "sscop", "pcaal-1", "pcaal-n", "ece-switching", "ece-duplicating"};

enum { PROTOCOLS = sizeof names / sizeof names[0] };

const char *pvma_protocol_name(enum pvma_protocol protocol)
{
    return (unsigned)protocol < PROTOCOLS ? names[protocol] : "?";
}

bool pvma_protocol_parse(const char *name, enum pvma_protocol *protocol)
{
    for (unsigned i = 0; i < PROTOCOLS; i++) {
        if (!strcmp(name, names[i])) {
            *protocol = (enum pvma_protocol)i;
            return true;
        }
    }
    return false;
}

enum pvma_aal pvma_protocol_aal(enum pvma_protocol protocol)
{
    return protocol == PVMA_NATIVE || protocol == PVMA_SSCOP ? PVMA_AAL5 : PVMA_AAL_RAW;
}

struct pvma_connection_settings pvma_connection_defaults(enum pvma_protocol protocol)
{
    return (struct pvma_connection_settings){.protocol = protocol,
                                             .poll_interval = 500 * PVMA_MS,
                                             .patience = 60 * PVMA_S,
                                             .window_bytes = 4 << 20,
                                             .ece = pvma_ece_defaults(protocol == PVMA_ECE_DUPLICATING)};
}

static bool is_sscop(const struct pvma_connection *c)
{
    return c->settings.protocol == PVMA_SSCOP;
}

static bool is_ece(const struct pvma_connection *c)
{
    return c->settings.protocol == PVMA_ECE_SWITCHING || c->settings.protocol == PVMA_ECE_DUPLICATING;
}

static bool is_lost(const struct pvma_connection *c)
{
    return !c->way[PVMA_ORDINARY].vc;
}

/* ---- sending ---- */

static size_t encode(const struct pvma_connection *c, const struct pvma_pdu *pdu, uint8_t *wire)
{
    if (is_sscop(c))
        return pvma_sscop_encode(pdu, wire);
    pvma_pcaal_encode(&c->format, pdu, wire);
    return PVMA_PCAAL_BYTES;
}

static void count_report(struct pvma_connection *c, const struct pvma_pdu *pdu)
{
    c->count.stats += pdu->type == PVMA_STAT;
    c->count.ustats += pdu->type == PVMA_USTAT;
    c->count.lstats += pdu->type == PVMA_LSTAT;
}

static void count_sd(struct pvma_connection *c, const struct pvma_pdu *pdu, enum pvma_asked asked)
{
    if (asked == PVMA_NEW) {
        c->count.sds++;
        c->count.sd_bytes += pdu->length;
        return;
    }
    if (asked == PVMA_REPLICA)
        return;
    c->count.again++;
    c->count.again_bytes += pdu->length;
    c->count.again_stat += asked == PVMA_BY_STAT;
    c->count.again_ustat += asked == PVMA_BY_USTAT;
    c->count.again_lstat += asked == PVMA_BY_LSTAT;
}

static bool next_of_ece(struct pvma_connection *c, enum pvma_path path, struct pvma_pdu *pdu, bool *again)
{
    enum pvma_asked asked = PVMA_NEW;
    if (!pvma_ece_next(&c->ece, path, pvma_sim_now(c->sim), pdu, &asked))
        return false;
    count_report(c, pdu);
    c->count.polls += pdu->type == PVMA_POLL;
    if (pdu->type == PVMA_SD)
        count_sd(c, pdu, asked);
    *again = asked != PVMA_NEW && asked != PVMA_REPLICA;
    return true;
}

/* The next PDU: reports first, because the peer waits for them, then a POLL, old data, new data. */
static bool next_pdu(struct pvma_connection *c, enum pvma_path path, struct pvma_pdu *pdu, bool *again)
{
    if (is_ece(c))
        return next_of_ece(c, path, pdu, again);
    enum pvma_asked asked;
    *again = false;
    if (pvma_receiver_report(&c->receiver, c->elements, is_sscop(c), pdu)) {
        count_report(c, pdu);
        return true;
    }
    if (c->poll_due || pvma_sender_wants_poll(&c->sender)) {
        c->poll_due = false;
        c->count.polls++;
        pvma_sender_poll(&c->sender, pdu);
        return true;
    }
    if (!pvma_sender_next(&c->sender, pvma_sim_now(c->sim), pdu, &asked))
        return false;
    count_sd(c, pdu, asked);
    *again = asked != PVMA_NEW;
    return true;
}

/* False: the host's send queue is full, and `room` will be called. */
static bool send_octets(struct way *way, size_t length, bool again)
{
    int error = again ? pvma_vc_send_again(way->vc, way->wire, length, 0) : pvma_vc_send(way->vc, way->wire, length, 0);
    way->refused = error ? length : 0;
    way->refused_again = again;
    return !error;
}

/* Sends as long as the VC's queue is short: what waits in it could not be overtaken. */
static void pump_way(struct pvma_connection *c, enum pvma_path path)
{
    struct way *way = &c->way[path];
    struct pvma_pdu pdu = {.type = PVMA_SD};
    bool again, sent = true;
    unsigned most = is_ece(c) ? QUEUED_CELLS_MAX : QUEUED_PDUS_MAX;
    if (way->vc && way->refused)
        sent = send_octets(way, way->refused, way->refused_again);
    while (sent && way->vc && pvma_vc_queued(way->vc) < most && next_pdu(c, path, &pdu, &again))
        sent = send_octets(way, encode(c, &pdu, way->wire), again);
}

/* Calls pvma_ece_tick() in time; it may be late already, when a cell was. */
static void await_ece(struct pvma_connection *c)
{
    pvma_ps due = pvma_ece_due(&c->ece), now = pvma_sim_now(c->sim);
    if (due == PVMA_NEVER)
        pvma_sim_cancel(c->sim, &c->ece_time);
    else
        pvma_sim_at(c->sim, &c->ece_time, due > now ? due : now);
}

static void pump(struct pvma_connection *c)
{
    for (enum pvma_path path = 0; path < PVMA_PATHS; path++)
        pump_way(c, path);
    if (is_ece(c) && !is_lost(c))
        await_ece(c);
}

/* ---- the end ---- */

/* What the VCs and ECE count. */
static void remember(struct pvma_connection *c)
{
    uint64_t *const bytes[PVMA_PATHS] = {&c->count.ubr_bytes, &c->count.abr_bytes, &c->count.vbr_bytes};
    if (is_lost(c))
        return;
    c->count.useless_cells = pvma_vc_useless_cells(c->way[PVMA_ORDINARY].vc) + c->bad_cells;
    for (int path = 0; path < PVMA_PATHS; path++)
        if (c->way[path].vc)
            *bytes[path] = (pvma_vc_cells(c->way[path].vc) - c->way[path].cells_before) * PVMA_CELL_BYTES;
    if (!is_ece(c))
        return;
    c->count.ordinary_sds = c->ece.count.sds[PVMA_ORDINARY];
    c->count.backup_sds = c->ece.count.sds[PVMA_BACKUP];
    c->count.replicas = c->ece.count.replicas;
    c->count.stamps = c->ece.count.stamps;
    c->count.doubled_later = c->ece.count.retransmit3;
    c->count.modes = c->ece.count.changes;
}

/* Leaves the VCs. `tell`: the peer is told, if this PDU reaches it. */
static void leave(struct pvma_connection *c, enum pvma_cause cause, bool tell)
{
    struct pvma_pdu end = {.type = PVMA_END, .cause = (int)cause};
    struct way *last = &c->way[is_ece(c) ? PVMA_CONTROL : PVMA_ORDINARY];
    if (is_lost(c))
        return;
    remember(c);
    pvma_sim_cancel(c->sim, &c->poll_time);
    pvma_sim_cancel(c->sim, &c->ece_time);
    for (int path = 0; path < PVMA_PATHS; path++)
        if (c->way[path].vc)
            pvma_vc_handle(c->way[path].vc, NULL, NULL);
    if (tell)
        pvma_vc_send(last->vc, last->wire, encode(c, &end, last->wire), END_COOKIE);
    for (int path = 0; path < PVMA_PATHS; path++)
        c->way[path].vc = NULL;
    c->lost = cause;
}

/* The last thing in an event: the owner may free the connection. */
static void lose(struct pvma_connection *c, enum pvma_cause cause, bool tell)
{
    if (is_lost(c))
        return;
    leave(c, cause, tell);
    if (c->events->lost)
        c->events->lost(c->arg, cause);
}

/* ---- polling ---- */

static void watch(struct pvma_connection *c)
{
    if (pvma_event_is_scheduled(&c->poll_time))
        return;
    c->heard = pvma_sim_now(c->sim);
    pvma_sim_after(c->sim, &c->poll_time, c->settings.poll_interval);
}

/* A peer may lose a POLL or two, however rare they are. */
static pvma_ps patience_of(const struct pvma_connection *c)
{
    pvma_ps least = POLLS_MIN * c->settings.poll_interval;
    return c->settings.patience < least ? least : c->settings.patience;
}

static void poll_now(struct pvma_event *event)
{
    struct pvma_connection *c = PVMA_OF(event, struct pvma_connection, poll_time);
    if (pvma_sim_now(c->sim) - c->heard >= patience_of(c)) {
        lose(c, PVMA_CAUSE_TIMEOUT, true);
        return;
    }
    c->poll_due = true;
    pvma_sim_after(c->sim, event, c->settings.poll_interval);
    pump(c);
}

/* ECE polls by itself. */
static void use_ece(struct pvma_connection *c, bool waited)
{
    pvma_ps now = pvma_sim_now(c->sim);
    c->heard = waited ? c->heard : now;
    pvma_ece_use(&c->ece, now);
}

static void ece_now(struct pvma_event *event)
{
    struct pvma_connection *c = PVMA_OF(event, struct pvma_connection, ece_time);
    pvma_ps now = pvma_sim_now(c->sim);
    if (pvma_sender_waits(&c->sender) && now - c->heard >= c->settings.patience) {
        lose(c, PVMA_CAUSE_TIMEOUT, true);
        return;
    }
    pvma_ece_tick(&c->ece, now);
    pump(c);
}

/* ---- receiving ---- */

static bool decode(struct pvma_connection *c, struct pvma_pdu *pdu, const uint8_t *data, size_t length)
{
    if (is_sscop(c))
        return pvma_sscop_decode(pdu, data, length);
    if (length == PVMA_PCAAL_BYTES && pvma_pcaal_decode(&c->format, pdu, data, pvma_sim_now(c->sim)))
        return true;
    c->bad_cells++;
    return false;
}

static bool is_of_sender(const struct pvma_pdu *pdu)
{
    return pdu->type == PVMA_SD || pdu->type == PVMA_POLL || pdu->type == PVMA_STAMP;
}

static enum pvma_taken take(struct pvma_connection *c, enum pvma_path path, const struct pvma_pdu *pdu)
{
    if (is_ece(c))
        return pvma_ece_take(&c->ece, path, pdu, pvma_sim_now(c->sim));
    if (is_of_sender(pdu))
        return pvma_receiver_take(&c->receiver, pdu);
    return pvma_sender_take(&c->sender, pdu) ? PVMA_TAKEN : PVMA_REFUSED;
}

static void take_data(struct pvma_connection *c, enum pvma_path path, const struct pvma_pdu *pdu)
{
    enum pvma_taken taken = take(c, path, pdu);
    c->count.received += taken == PVMA_TAKEN && pdu->type == PVMA_SD;
    c->count.duplicates += taken == PVMA_DUPLICATE;
    c->count.refused += taken == PVMA_REFUSED;
}

static void take_report(struct pvma_connection *c, enum pvma_path path, const struct pvma_pdu *pdu)
{
    if (take(c, path, pdu) == PVMA_REFUSED) {
        c->count.refused++;
        return;
    }
    c->heard = pvma_sim_now(c->sim);
    c->count.inhibited = c->sender.inhibited;
    if (!pvma_sender_waits(&c->sender))
        pvma_sim_cancel(c->sim, &c->poll_time);
}

static void tell_owner(struct pvma_connection *c, size_t readable_before)
{
    bool room = c->cut_short && pvma_sender_room(&c->sender) >= c->cut_short;
    if (c->receiver.readable > readable_before && c->events->readable)
        c->events->readable(c->arg);
    if (!room)
        return;
    c->cut_short = 0;
    if (c->events->writable)
        c->events->writable(c->arg);
}

static enum pvma_path path_of(const struct pvma_connection *c, const struct pvma_vc *vc)
{
    enum pvma_path path = PVMA_ORDINARY;
    while (path < PVMA_PATHS - 1 && c->way[path].vc != vc)
        path++;
    return path;
}

static void received(void *arg, struct pvma_vc *vc, const uint8_t *data, size_t length)
{
    struct pvma_connection *c = arg;
    struct pvma_pdu pdu;
    size_t readable = c->receiver.readable;
    enum pvma_path path = path_of(c, vc);
    if (!decode(c, &pdu, data, length)) {
        c->count.refused++;
        return;
    }
    c->count.came[path]++;
    if (pdu.type == PVMA_END) {
        lose(c, pdu.cause ? (enum pvma_cause)pdu.cause : PVMA_CAUSE_NORMAL, false);
        return;
    }
    if (is_of_sender(&pdu))
        take_data(c, path, &pdu);
    else
        take_report(c, path, &pdu);
    pump(c);
    tell_owner(c, readable);
}

static void sent(void *arg, struct pvma_vc *vc, uint64_t cookie)
{
    (void)vc, (void)cookie;
    pump(arg);
}

static void dropped(void *arg, struct pvma_vc *vc, uint64_t cookie, enum pvma_drop why)
{
    (void)vc, (void)cookie;
    if (why == PVMA_DROP_QUEUE) /* as if a cell had been lost */
        pump(arg);
}

static void room(void *arg, struct pvma_vc *vc)
{
    (void)vc;
    pump(arg);
}

static void closed(void *arg, struct pvma_vc *vc, int cause)
{
    (void)vc;
    lose(arg, (enum pvma_cause)cause, false);
}

static const struct pvma_vc_handler handler = {
    .received = received, .sent = sent, .dropped = dropped, .room = room, .closed = closed};

/* ---- life ---- */

static size_t window_of(const struct pvma_connection *c, size_t wanted)
{
    size_t least = is_sscop(c) ? 2 * c->sd_bytes : WINDOW_MIN;
    wanted = wanted < WINDOW_MAX ? wanted : WINDOW_MAX;
    return wanted < least ? least : wanted;
}

static void take_vc(struct pvma_connection *c, enum pvma_path path, struct pvma_vc *vc)
{
    c->way[path] = (struct way){.vc = vc,
                                .wire = pvma_new(is_sscop(c) ? PVMA_SSCOP_PDU_MAX : PVMA_PCAAL_BYTES),
                                .cells_before = pvma_vc_cells(vc)};
    pvma_vc_handle(vc, &handler, c);
}

struct pvma_connection *pvma_connection_new(const struct pvma_connection_vcs *vcs,
                                            const struct pvma_connection_settings *settings,
                                            const struct pvma_connection_events *events, void *arg)
{
    struct pvma_connection *c = pvma_new(sizeof *c);
    c->sim = pvma_host_node(pvma_vc_host(vcs->ordinary))->sim;
    c->settings = *settings;
    c->events = events;
    c->arg = arg;
    c->format = (struct pvma_pcaal){.several = settings->protocol != PVMA_PCAAL_1, .stamped = is_ece(c)};
    c->sd_bytes = pvma_sscop_sd_bytes(pvma_vc_mtu(vcs->ordinary));
    c->elements = is_sscop(c) ? pvma_sscop_elements(pvma_vc_mtu(vcs->ordinary)) : PVMA_PCAAL_STAT_ELEMENTS;
    unsigned bits = is_sscop(c) ? PVMA_SERIAL_SSCOP : PVMA_SERIAL_PCAAL;
    size_t window = window_of(c, settings->window_bytes);
    pvma_sender_init(&c->sender, bits, window, FIRST);
    pvma_receiver_init(&c->receiver, bits, window, FIRST);
    pvma_ece_init(&c->ece, &settings->ece, &c->sender, &c->receiver);
    pvma_event_init(&c->poll_time, PVMA_EVENT_USER, poll_now);
    pvma_event_init(&c->ece_time, PVMA_EVENT_USER, ece_now);
    take_vc(c, PVMA_ORDINARY, vcs->ordinary);
    if (is_ece(c)) {
        take_vc(c, PVMA_BACKUP, vcs->backup);
        take_vc(c, PVMA_CONTROL, vcs->control);
    }
    return c;
}

void pvma_connection_free(struct pvma_connection *c)
{
    if (!c)
        return;
    leave(c, PVMA_CAUSE_NORMAL, true);
    pvma_sender_free(&c->sender);
    pvma_receiver_free(&c->receiver);
    pvma_ece_free(&c->ece);
    for (int path = 0; path < PVMA_PATHS; path++)
        free(c->way[path].wire);
    free(c);
}

/* ---- its owner's side ---- */

size_t pvma_connection_write(struct pvma_connection *c, const void *data, size_t bytes, const struct pvma_place *place)
{
    size_t most = is_sscop(c) ? c->sd_bytes : pvma_pcaal_sd_bytes(&c->format, place->item_bytes), done = 0;
    bool waited = pvma_sender_waits(&c->sender);
    if (is_lost(c))
        return 0;
    while (done < bytes) {
        size_t part = bytes - done < most ? bytes - done : most;
        if (!pvma_sender_put(&c->sender, (const uint8_t *)data + done, part, place->tag,
                             place->offset + (uint32_t)done)) {
            c->cut_short = part;
            break;
        }
        done += part;
    }
    if (done && is_ece(c))
        use_ece(c, waited);
    else if (done)
        watch(c);
    pump(c);
    return done;
}

void pvma_connection_finish(struct pvma_connection *c)
{
    c->sender.ends = true;
    pump(c);
}

size_t pvma_connection_read(struct pvma_connection *c, void *buffer, size_t bytes)
{
    size_t done = pvma_receiver_read(&c->receiver, buffer, bytes);
    pump(c);
    return done;
}

size_t pvma_connection_readable(const struct pvma_connection *c)
{
    return c->receiver.readable;
}

bool pvma_connection_next_place(const struct pvma_connection *c, struct pvma_place *place)
{
    const struct pvma_arrival *next = c->receiver.first;
    if (next)
        *place = (struct pvma_place){.tag = next->tag, .offset = next->offset + (uint32_t)next->taken};
    return next;
}

size_t pvma_connection_unacknowledged(const struct pvma_connection *c)
{
    return pvma_sender_waits(&c->sender) ? c->sender.charge : 0;
}

pvma_ps pvma_connection_due(const struct pvma_connection *c)
{
    pvma_ps poll = pvma_event_is_scheduled(&c->poll_time) ? c->poll_time.at : PVMA_NEVER;
    pvma_ps ece = pvma_event_is_scheduled(&c->ece_time) ? c->ece_time.at : PVMA_NEVER;
    return poll < ece ? poll : ece;
}

enum pvma_cause pvma_connection_lost(const struct pvma_connection *c)
{
    return c->lost;
}

const struct pvma_connection_statistics *pvma_connection_statistics(struct pvma_connection *c)
{
    remember(c);
    return &c->count;
}
