/* client.c - see client.h. */
#include "client.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include "core/buf.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/message/frame.h"
#include "assured.h"
#include "limits.h"
#include "local.h"
#include "route.h"

#define TOO_MANY      "exchanges bytes with, or has announced, too many processes"
#define OBSERVER      "-"     /* host name of clients that only report: daemons */
#define LOOK          "?"     /* host name of clients that only query the clock */
#define NAMELESS_US   5000000 /* at most a quarter of PVM_ATM_PATIENCE */
#define TURN_MESSAGES 64      /* of one client, before the others' */
#define HOSTS_BYTES   512     /* of the list of hosts in a refusal */
#define MORE_BYTES    32      /* reserved for the note that the list is truncated */

struct pvma_client *pvma_clients;

static uint8_t incoming[PVMA_FORE_MESSAGE_BYTES];

static pvma_ps now(void)
{
    return pvma_sim_now(pvma_serving.sim);
}

static void go(struct pvma_client *c);

/* ---- running clients ---- */

static unsigned runners;

static bool runs(const struct pvma_client *c)
{
    return c->host && c->fd >= 0 && !c->quiet;
}

static void set_quiet(struct pvma_client *c, bool quiet)
{
    runners -= runs(c);
    c->quiet = quiet;
    runners += runs(c);
}

bool pvma_client_any_runs(void)
{
    return runners;
}

/* ---- arrival and departure ---- */

static void client_free(struct pvma_client *c)
{
    while (c->endpoints)
        pvma_endpoint_close(c->endpoints);
    pvma_sim_cancel(pvma_serving.sim, &c->turn);
    pvma_commands_free(&c->commands);
    if (c->fd >= 0)
        close(c->fd);
    DL_DELETE(pvma_clients, c);
    free(c->wish);
    free(c);
}

void pvma_client_free_all(void)
{
    while (pvma_clients)
        client_free(pvma_clients);
    pvma_endpoint_free_closing();
}

unsigned pvma_client_count(void)
{
    const struct pvma_client *c;
    unsigned count = 0;
    DL_FOREACH (pvma_clients, c)
        count += (c->host || c->coming) && c->fd >= 0;
    return count;
}

struct pvma_client *pvma_client_of_task(uint32_t task)
{
    struct pvma_client *c;
    if (task)
        DL_FOREACH (pvma_clients, c)
            if (c->task == task && c->fd >= 0 && c->host)
                return c;
    return NULL;
}

bool pvma_client_is_here(pid_t pid)
{
    const struct pvma_client *c;
    DL_FOREACH (pvma_clients, c)
        if (c->pid == pid && c->fd >= 0 && (c->host || c->coming || c->observer))
            return true;
    return false;
}

bool pvma_client_any(void)
{
    const struct pvma_client *c;
    DL_FOREACH (pvma_clients, c)
        if (c->host || c->coming)
            return true;
    return false;
}

/* ---- answers ---- */

/* Ends the connection; the event loop sees the end and frees the client. */
static void cut(struct pvma_client *c)
{
    c->cut = true;
    shutdown(c->fd, SHUT_RDWR);
}

/* A program that does not read its answers is cut off; so is one that could not be given its descriptor. */
static void answer(struct pvma_client *c, const struct pvma_fore_message *m, int fd)
{
    set_quiet(c, false);
    int rc = c->fd >= 0 ? pvma_fore_message_send(c->fd, m, fd, false) : 0;
    if (rc && rc != PVMC_EDOWN)
        cut(c);
}

/* It takes more than limits.h grants. Its caller closes the connection. */
static int exceed(struct pvma_client *c, const char *what)
{
    pvmc_log(PVMC_LOG_ERROR, "process %d %s: it is disconnected", (int)c->pid, what);
    c->cut = true;
    return PVMC_EDENIED;
}

static void reply(struct pvma_client *c, int error, struct pvma_fore_message *m, int fd)
{
    m->type = PVMA_FORE_REPLY;
    m->error = error;
    m->time_ns = pvma_serve_ns(c->clock);
    answer(c, m, fd);
}

/* ---- commands ---- */

/* The client's endpoint of that number; NULL when there is none. */
static struct pvma_endpoint *endpoint_of(struct pvma_client *c, uint32_t number)
{
    struct pvma_endpoint *e;
    DL_FOREACH (c->endpoints, e)
        if (e->number == number)
            return e;
    return NULL;
}

static uint32_t mtu_of(const struct pvma_host *host)
{
    return (uint32_t)pvma_host_mtu(host);
}

static bool do_open(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_host *host = m->host[0] ? pvma_net_host(pvma_serving.net, m->host) : c->host;
    struct pvma_endpoint *e;
    int fd = -1, error = host ? pvma_endpoint_open(c, host, &fd, &e) : ENODEV;
    if (!error) {
        m->endpoint = e->number;
        m->mtu = mtu_of(host);
    }
    reply(c, error, m, fd);
    if (fd >= 0)
        close(fd);
    return true;
}

static bool do_bind(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    int error = e ? pvma_endpoint_bind(e, m->address.asap, m->number) : EBADF;
    if (!error)
        m->address = (Atm_endpoint){e->asap, pvma_endpoint_nsap(e->host)};
    reply(c, error, m, -1);
    return true;
}

static bool do_connect(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    int error = e ? pvma_endpoint_connect(e, m) : EBADF;
    if (e && error && error != EALREADY)
        e->early = false;
    if (!error && m->number)
        error = EINPROGRESS;
    if (error)
        reply(c, error, m, -1);
    return error;
}

static bool do_accept(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint), *fresh = endpoint_of(c, m->other);
    reply(c, e && fresh ? pvma_endpoint_accept(e, fresh, m) : EBADF, m, -1);
    return true;
}

static bool do_reject(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    reply(c, e ? pvma_endpoint_reject(e, m->number) : EBADF, m, -1);
    return true;
}

static bool do_send(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    int rc = e ? pvma_endpoint_send(e, m->data, m->length) : PVMC_EDOWN;
    return rc && rc != PVMC_EAGAIN; /* a packet that cannot be sent is lost */
}

/* ---- assured endpoints ---- */

static bool do_assure(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    reply(c, e ? pvma_assured_choose(e, m->number) : EBADF, m, -1);
    return true;
}

/* `given` counts what was taken: a WRITE that waits is tried again with the rest. */
static bool do_write(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    size_t taken = 0;
    int error = e ? pvma_assured_write(e, m->data, m->length, m->item, &taken) : EBADF;
    bool waits = m->number == 0;
    m->given += taken;
    m->data += taken;
    m->length -= (uint32_t)taken;
    if (!error && waits && m->length) {
        e->stuck = true;
        return false;
    }
    if (!m->given && !error)
        error = EAGAIN;
    m->number = (uint32_t)m->given;
    m->length = 0;
    reply(c, m->given ? 0 : error, m, -1);
    return true;
}

static bool do_read(struct pvma_client *c, struct pvma_fore_message *m)
{
    static uint8_t bytes[PVMA_FORE_PDU_MAX];
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    size_t got = 0, most = m->number < sizeof bytes ? m->number : sizeof bytes;
    int error = e ? pvma_assured_read(e, bytes, most, &got) : EBADF;
    m->data = bytes;
    m->length = (uint32_t)got;
    reply(c, error, m, -1);
    return true;
}

static bool do_low_water(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    if (e && e->protocol)
        pvma_assured_set_low_water(e, m->number);
    return true;
}

static bool do_close(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_endpoint *e = endpoint_of(c, m->endpoint);
    if (e)
        pvma_endpoint_close(e);
    return true;
}

static bool do_resolve(struct pvma_client *c, struct pvma_fore_message *m)
{
    struct pvma_host *host = pvma_net_host(pvma_serving.net, m->host);
    if (host)
        m->address.nsap = pvma_endpoint_nsap(host);
    reply(c, host ? 0 : ENOENT, m, -1);
    return true;
}

static bool do_time(struct pvma_client *c, struct pvma_fore_message *m)
{
    reply(c, 0, m, -1);
    return true;
}

/* The time in picoseconds; PVMA_NEVER if it does not fit. */
static pvma_ps time_of(int64_t ns)
{
    return ns < PVMA_NEVER / PVMA_NS ? ns * PVMA_NS : PVMA_NEVER;
}

/* Even a wait that ends at once ends after all other events of this instant. */
static bool do_wait(struct pvma_client *c, struct pvma_fore_message *m)
{
    pvma_ps until = time_of(m->time_ns);
    c->waiting = true;
    c->sleeps = m->type == PVMA_FORE_SLEEP;
    c->wait_number = m->number;
    bool owed = c->sleeps && pvma_local_owed(c->pid, c->aside);
    if (until < c->clock || c->news || owed)
        until = c->clock;
    if (until != PVMA_NEVER)
        pvma_sim_at(pvma_serving.sim, &c->turn, until);
    return true;
}

static bool do_knows(struct pvma_client *c, struct pvma_fore_message *m)
{
    const struct pvma_client *other;
    int error = ESRCH;
    DL_FOREACH (pvma_clients, other)
        if (other->observer && other->fd >= 0 && other->pid == (pid_t)m->process)
            error = 0;
    reply(c, error, m, -1);
    return true;
}

/* ---- PVM's daemons' route ---- */

/* A task that has just been started will soon say who it is: CARRY waits for it. */
static bool all_are_known(const struct pvma_route_end *to, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!pvma_client_of_task(to[i].task))
            return false;
    return true;
}

/* A message has each receiver once: otherwise a few octets would make work without end. */
static bool are_different(const struct pvma_route_end *to, unsigned count)
{
    static uint64_t list;
    list++;
    for (unsigned i = 0; i < count; i++) {
        struct pvma_client *other = pvma_client_of_task(to[i].task);
        if (other && other->listed == list)
            return false;
        if (other)
            other->listed = list;
    }
    return true;
}

static bool do_carry(struct pvma_client *c, struct pvma_fore_message *m)
{
    static struct pvma_route_end to[PVMA_ROUTE_ENDS_MAX];
    struct pvmc_buf list;
    unsigned count = 0;
    bool good = c->task && pvma_serving.is_virtual && m->given <= PVMC_FRAME_PAYLOAD_MAX;
    pvmc_buf_view(&list, m->data, m->length);
    while (count < PVMA_ROUTE_ENDS_MAX && pvmc_buf_left(&list) >= PVMA_ROUTE_END_BYTES) {
        to[count].task = pvmc_buf_get_u32(&list);
        to[count++].number = pvmc_buf_get_u32(&list);
    }
    good = good && are_different(to, count);
    if (good && !c->asked && !all_are_known(to, count))
        return false;
    if (good && pvma_route_handing(c) >= PVMA_HANDING_MAX) {
        exceed(c, "hands over too many messages at once");
        cut(c);
        return true;
    }
    c->asked = false;
    unsigned unknown = good ? pvma_route_begin(c, to, count, m->given) : 0;
    m->length = 0;
    reply(c, !good ? EINVAL : unknown == count ? ESRCH : 0, m, -1);
    return true;
}

/* Answers with the shadows that the client still hands over, and those on their way to it. */
static bool do_under_way(struct pvma_client *c, struct pvma_fore_message *m)
{
    static struct pvma_route_end list[PVMA_ROUTE_ENDS_MAX];
    unsigned count = pvma_route_under_way(c, m->number, list);
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, pvma_route_handing(c));
    for (unsigned i = 0; i < count; i++) {
        pvmc_buf_put_u32(&b, list[i].task);
        pvmc_buf_put_u32(&b, list[i].number);
    }
    m->data = b.data;
    m->length = (uint32_t)b.length;
    if (pvmc_buf_error(&b))
        pvma_out_of_memory();
    reply(c, 0, m, -1);
    pvmc_buf_free(&b);
    return true;
}

/* Runs after everything that the program sent before its connection ended. */
static bool do_leave(struct pvma_client *c, struct pvma_fore_message *m)
{
    (void)m;
    client_free(c);
    return false;
}

/* Each returns true when the command is done; if not, pvma_client_done() or pvma_client_again() follows. */
static bool (*const doing[PVMA_FORE_MESSAGE_TYPES])(struct pvma_client *c, struct pvma_fore_message *m) = {
    [PVMA_FORE_NONE] = do_leave,          [PVMA_FORE_OPEN] = do_open,     [PVMA_FORE_BIND] = do_bind,
    [PVMA_FORE_CONNECT] = do_connect,     [PVMA_FORE_ACCEPT] = do_accept, [PVMA_FORE_REJECT] = do_reject,
    [PVMA_FORE_SEND] = do_send,           [PVMA_FORE_CLOSE] = do_close,   [PVMA_FORE_RESOLVE] = do_resolve,
    [PVMA_FORE_TIME] = do_time,           [PVMA_FORE_WAIT] = do_wait,     [PVMA_FORE_SLEEP] = do_wait,
    [PVMA_FORE_ASSURE] = do_assure,       [PVMA_FORE_WRITE] = do_write,   [PVMA_FORE_READ] = do_read,
    [PVMA_FORE_LOW_WATER] = do_low_water, [PVMA_FORE_KNOWS] = do_knows,   [PVMA_FORE_CARRY] = do_carry,
    [PVMA_FORE_UNDER_WAY] = do_under_way,
};

/* ---- command queue ---- */

static void pop(struct pvma_client *c)
{
    pvma_commands_pop(&c->commands);
    c->counted = false;
}

/* Virtual time ends before a clock could overflow. */
static void advance(struct pvma_client *c, int64_t cost_ns)
{
    pvma_ps cost = time_of(cost_ns);
    c->clock = cost < PVMA_NEVER - c->clock ? c->clock + cost : PVMA_NEVER - 1;
}

/* Advances the program's clock to the first command. False if the simulation has not reached it yet. */
static bool reach_first(struct pvma_client *c)
{
    if (!c->counted && pvma_serving.is_virtual)
        advance(c, c->commands.first->message.cost_ns);
    c->counted = true;
    if (c->clock <= now()) {
        c->clock = now();
        return true;
    }
    pvma_sim_at(pvma_serving.sim, &c->turn, c->clock);
    return false;
}

/*
 * With the real clock, commands after a packet that the driver has not taken stay in the socket, which blocks a fast
 * sender. In virtual time the program's clock does that, and the socket when much is queued.
 */
static bool is_too_fast(const struct pvma_client *c)
{
    if (!pvma_serving.is_virtual)
        return c->busy && c->commands.first->message.type == PVMA_FORE_SEND;
    return c->deaf ? c->commands.bytes > PVMA_AHEAD_BYTES / 2 : !c->quiet && c->commands.bytes > PVMA_AHEAD_BYTES;
}

/* In virtual time a program that cannot send counts as waiting: nothing that it still sends is due before the queue. */
static void listen_or_not(struct pvma_client *c)
{
    bool deaf = is_too_fast(c);
    if (deaf == c->deaf || c->fd < 0)
        return;
    c->deaf = deaf;
    if (pvma_serving.is_virtual)
        set_quiet(c, deaf);
    if (deaf)
        pvma_serve_unwatch(c->fd);
    else
        pvma_serve_watch(c->fd, &c->watch);
}

static void go(struct pvma_client *c)
{
    while (c->commands.first && !c->busy && !c->waiting && reach_first(c)) {
        struct pvma_command *first = c->commands.first;
        bool leaves = first->message.type == PVMA_FORE_NONE;
        c->busy = true;
        bool over = doing[first->message.type](c, &first->message);
        if (leaves)
            return;
        if (over) {
            c->busy = false;
            pop(c);
        }
    }
    listen_or_not(c);
}

static void wake(struct pvma_client *c)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_WAKE, .number = c->wait_number};
    m.given = c->sleeps ? pvma_local_owed(c->pid, c->aside) : 0;
    c->waiting = c->sleeps = c->news = false;
    if (c->clock < now())
        c->clock = now();
    m.time_ns = pvma_serve_ns(c->clock);
    answer(c, &m, -1);
}

static void turn(struct pvma_event *event)
{
    struct pvma_client *c = PVMA_OF(event, struct pvma_client, turn);
    if (c->waiting)
        wake(c);
    go(c);
}

void pvma_client_done(struct pvma_client *c, int error, const struct pvma_fore_message *with)
{
    if (!c || !c->busy)
        return;
    struct pvma_fore_message m = with ? *with : (struct pvma_fore_message){0};
    if (c->clock < now())
        c->clock = now();
    bool asks = c->commands.first->message.type == PVMA_FORE_CONNECT;
    c->busy = false;
    pop(c);
    if (asks)
        reply(c, error, &m, -1);
    go(c);
}

void pvma_client_again(struct pvma_client *c)
{
    c->busy = false;
    go(c);
}

void pvma_client_tell(struct pvma_client *c)
{
    c->news = true;
    if (c->waiting)
        pvma_sim_at(pvma_serving.sim, &c->turn, c->clock > now() ? c->clock : now());
}

/* ---- incoming messages ---- */

/* RESUME: the program no longer waits, because another event woke it. */
static void resume(struct pvma_client *c, uint32_t number)
{
    int64_t cost_ns = pvma_commands_drop_wait(&c->commands, number);
    if (cost_ns >= 0) { /* the wait has not begun, because the program's time is ahead */
        if (!c->counted)
            advance(c, cost_ns);
        c->counted = c->counted && c->commands.first;
    } else if (!c->waiting || c->wait_number != number) {
        return; /* the WAKE crossed this RESUME */
    }
    pvma_sim_cancel(pvma_serving.sim, &c->turn);
    c->waiting = false;
    set_quiet(c, false);
    if (c->clock < now())
        c->clock = now();
    go(c);
}

static bool is_question(enum pvma_fore_message_type type)
{
    return type != PVMA_FORE_SEND && type != PVMA_FORE_CLOSE && type != PVMA_FORE_LOW_WATER;
}

/* EXPECT: the process may have connected before its daemon announced it. */
static int expect(struct pvma_client *by, pid_t pid)
{
    struct pvma_client *c;
    bool here = pvma_client_is_here(pid);
    if (pvma_local_expect(by->pid, pid))
        return exceed(by, TOO_MANY);
    DL_FOREACH (pvma_clients, c)
        if (here && c->pid == pid && c->coming)
            c->place = pvma_local_came(pid);
    if (here)
        pvma_local_came(pid);
    return 0;
}

static int exchange(struct pvma_client *c, const struct pvma_fore_message *m)
{
    return pvma_local_count(c->pid, (pid_t)m->process, m->given, m->taken) ? exceed(c, TOO_MANY) : 0;
}

/* Records the bytes exchanged with the other process, before the wait begins. */
static int begin_sleep(struct pvma_client *c, const struct pvma_fore_message *m)
{
    c->aside = (pid_t)m->process;
    int rc = c->aside ? exchange(c, m) : 0;
    if (!rc)
        pvma_local_sleeps(c->pid, c->aside);
    return rc;
}

/* A program on a host has one number, which no other one has. */
static int take_name(struct pvma_client *c, uint32_t task)
{
    const struct pvma_client *other = pvma_client_of_task(task);
    if (!c->host || !task || (other && other != c))
        return PVMC_EFORMAT;
    c->task = task;
    c->nameless = false;
    return 0;
}

static void await_name(struct pvma_client *c)
{
    int64_t patience_us = pvmc_config_us(PVMC_SETTING_ATM_PATIENCE) / 4;
    c->nameless = true;
    c->nameless_until_us = pvmc_clock_us() + (patience_us < NAMELESS_US ? patience_us : NAMELESS_US);
}

/* Returns 0, or a PVMC_E code for an invalid message. With the real clock nothing waits for what happens outside. */
static int take(struct pvma_client *c, const struct pvma_fore_message *m)
{
    bool is_virtual = pvma_serving.is_virtual;
    switch (m->type) {
    case PVMA_FORE_RESUME:
        resume(c, m->number);
        return 0;
    case PVMA_FORE_LOCAL:
        return is_virtual ? exchange(c, m) : 0;
    case PVMA_FORE_EXPECT:
        return is_virtual ? expect(c, (pid_t)m->process) : 0;
    case PVMA_FORE_TASK:
        return take_name(c, m->number);
    default:
        break;
    }
    if (!c->host || m->type == PVMA_FORE_NONE || !doing[m->type] || c->quiet)
        return PVMC_EFORMAT;
    if (m->type == PVMA_FORE_KNOWS && !c->task && !c->nameless)
        await_name(c);
    int rc = is_virtual && m->type == PVMA_FORE_SLEEP ? begin_sleep(c, m) : 0;
    if (rc)
        return rc;
    set_quiet(c, is_question(m->type));
    pvma_commands_put(&c->commands, m);
    go(c);
    return 0;
}

/* The host with the fewest clients, to spread programs that name none. */
static struct pvma_host *any_host(void)
{
    struct pvma_host *best = NULL;
    unsigned fewest = UINT32_MAX;
    for (size_t i = 0; i < pvma_net_host_count(pvma_serving.net); i++) {
        struct pvma_host *host = pvma_net_host_at(pvma_serving.net, i);
        unsigned count = 0;
        const struct pvma_client *c;
        DL_FOREACH (pvma_clients, c)
            count += c->host == host;
        if (count < fewest) {
            fewest = count;
            best = host;
        }
    }
    return best;
}

/* Lists the hosts' names with commas, as many as fit. */
static size_t list_hosts(char *text, size_t size)
{
    size_t count = pvma_net_host_count(pvma_serving.net), length = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = pvma_host_name(pvma_net_host_at(pvma_serving.net, i));
        if (length + strlen(name) + MORE_BYTES > size)
            return length + (size_t)snprintf(text + length, size - length, " and %zu more", count - i);
        length += (size_t)snprintf(text + length, size - length, i ? ", %s" : "%s", name);
    }
    return length;
}

/* Refuses a client; the program reports the reason to its user. */
static int refuse(struct pvma_client *c, int error)
{
    char hosts[HOSTS_BYTES];
    struct pvma_fore_message m = {.type = PVMA_FORE_REFUSED, .error = error, .data = (const uint8_t *)hosts};
    m.length = error == ENOENT ? (uint32_t)list_hosts(hosts, sizeof hosts) : 0;
    answer(c, &m, -1);
    return PVMC_EDENIED;
}

static uint32_t clock_kind(void)
{
    return pvma_serving.is_virtual ? ATM_CLOCK_VIRTUAL : ATM_CLOCK_REAL;
}

/* Admits a client: it runs from now on, unless it only observes. */
static void welcome(struct pvma_client *c, const char *name)
{
    struct pvma_fore_message w = {.type = PVMA_FORE_WELCOME, .version = PVMA_FORE_VERSION};
    struct pvma_host *host = c->observer || !*name ? any_host() : pvma_net_host(pvma_serving.net, name);
    static uint32_t last_number;
    w.number = c->number = ++last_number;
    if (!c->observer)
        c->host = host;
    c->coming = false;
    runners += runs(c);
    c->clock = now();
    w.clock = clock_kind();
    w.mtu = mtu_of(host);
    w.address.nsap = pvma_endpoint_nsap(host);
    w.time_ns = pvma_serve_ns(c->clock);
    snprintf(w.host, sizeof w.host, "%s", pvma_host_name(host));
    answer(c, &w, -1);
}

/* Which host of the network has that name; their number: none, or any. */
static size_t host_at(const char *name)
{
    size_t count = pvma_net_host_count(pvma_serving.net), i = 0;
    while (i < count && strcmp(pvma_host_name(pvma_net_host_at(pvma_serving.net, i)), name) != 0)
        i++;
    return i;
}

static int greet(struct pvma_client *c, const struct pvma_fore_message *m)
{
    struct pvma_fore_message w = {.type = PVMA_FORE_WELCOME};
    if (c->coming || m->type != PVMA_FORE_HELLO || m->number != PVMA_FORE_MAGIC)
        return PVMC_EFORMAT;
    if (m->version != PVMA_FORE_VERSION)
        return refuse(c, EPROTO);
    if (!strcmp(m->host, LOOK)) {
        w.version = PVMA_FORE_VERSION;
        w.clock = clock_kind();
        pvma_fore_message_send(c->fd, &w, -1, false);
        return 0;
    }
    c->observer = !strcmp(m->host, OBSERVER);
    if (!c->observer && m->host[0] && !pvma_net_host(pvma_serving.net, m->host))
        return refuse(c, ENOENT);
    if (c->observer)
        pvma_local_observes(c->pid);
    else
        c->place = pvma_local_came(c->pid);
    c->coming = pvma_serving.is_virtual && !c->observer;
    if (!c->coming) {
        welcome(c, m->host);
        return 0;
    }
    c->wish = pvma_copy_text(m->host);
    c->host_at = host_at(m->host);
    return 0;
}

/* ---- turns ---- */

/*
 * Announced processes go first, host by host: several daemons start theirs at the same time, and whose announcement is
 * the first differs from run to run. On one host their order is that of the announcements. The others follow by pid.
 */
static bool comes_before(const struct pvma_client *a, const struct pvma_client *b)
{
    if (!a->place != !b->place)
        return a->place;
    if (!a->place)
        return a->pid < b->pid;
    return a->host_at != b->host_at ? a->host_at < b->host_at : a->place < b->place;
}

static struct pvma_client *next_to_come(void)
{
    struct pvma_client *c, *first = NULL;
    DL_FOREACH (pvma_clients, c)
        if (c->coming && (!first || comes_before(c, first)))
            first = c;
    return first;
}

/* The sleeping client with the lowest number that was given bytes and was not told. */
static struct pvma_client *next_owed(void)
{
    struct pvma_client *c, *first = NULL;
    if (!pvma_local_any_owed())
        return NULL;
    DL_FOREACH (pvma_clients, c)
        if (c->waiting && c->sleeps && !c->news && (!first || c->number < first->number) &&
            pvma_local_owed(c->pid, c->aside))
            first = c;
    return first;
}

/* Whether some task has not got its number yet. Its daemon gives it one at once, so it need not be waited for long. */
static bool any_is_nameless(void)
{
    const struct pvma_client *c;
    DL_FOREACH (pvma_clients, c)
        if (c->nameless && c->fd >= 0 && pvmc_clock_us() < c->nameless_until_us)
            return true;
    return false;
}

/* A client whose CARRY waits for receivers to say who they are. */
static struct pvma_client *first_to_carry(void)
{
    struct pvma_client *c;
    DL_FOREACH (pvma_clients, c)
        if (c->busy && !c->asked && c->fd >= 0 && c->commands.first->message.type == PVMA_FORE_CARRY)
            return c;
    return NULL;
}

/* The same, which has waited long enough. */
static struct pvma_client *next_to_carry(void)
{
    struct pvma_client *c = first_to_carry();
    return c && pvma_sim_next(pvma_serving.sim) != now() && !any_is_nameless() ? c : NULL;
}

bool pvma_client_carry_waits(void)
{
    return first_to_carry() && pvma_sim_next(pvma_serving.sim) != now() && any_is_nameless();
}

bool pvma_client_settle(void)
{
    struct pvma_client *c;
    bool any = false;
    while ((c = next_owed())) {
        pvma_client_tell(c);
        any = true;
    }
    if (any)
        return true;
    c = next_to_come();
    if (c) {
        welcome(c, c->wish);
        return true;
    }
    c = next_to_carry();
    if (c) {
        c->asked = true;
        pvma_client_again(c);
    }
    return c;
}

/* ---- clients that hold time ---- */

/* Processor time of a process so far, in clock ticks; -1: unknown. */
static long long ticks_of(pid_t pid)
{
    char path[64], line[1024] = "";
    unsigned long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    const char *at = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    bool read = at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) == 2;
    return read ? (long long)(user + system) : -1;
}

void pvma_client_expel_doubtful(void)
{
    struct pvma_client *c;
    pid_t pid = pvma_local_doubtful();
    if (!pid)
        return;
    pvmc_log(PVMC_LOG_ERROR,
             "process %d said that it had given bytes to another one, which knows nothing of it: time advances without "
             "it",
             (int)pid);
    pvma_local_forget(pid);
    DL_FOREACH (pvma_clients, c)
        if (c->pid == pid && c->fd >= 0)
            cut(c);
}

void pvma_client_inspect(bool expel)
{
    struct pvma_client *c;
    DL_FOREACH (pvma_clients, c) {
        long long ticks = runs(c) ? ticks_of(c->pid) : -1, before = c->ticks;
        c->ticks = ticks;
        if (!expel || ticks < 0 || ticks != before)
            continue;
        pvmc_log(PVMC_LOG_ERROR,
                 "process %d on host %s neither computes nor waits for the network: it is disconnected so that time "
                 "can advance for the others; see PVM_ATM_PATIENCE",
                 (int)c->pid, pvma_host_name(c->host));
        cut(c);
    }
}

/* A program that looks for something without end computes, too. */
static const char *what_it_does(const struct pvma_client *c)
{
    static char text[160];
    long long ticks = runs(c) ? ticks_of(c->pid) : -1;
    snprintf(text, sizeof text,
             "computes (%.1f s of processor time so far, which take no virtual time with PVM_ATM_CPU=0)",
             (double)ticks / (double)sysconf(_SC_CLK_TCK));
    if (runs(c))
        return ticks < 0 ? "computes" : text;
    return c->coming ? "is joining" : c->waiting ? "waits" : "waits for an answer";
}

void pvma_client_explain(int level)
{
    const struct pvma_client *c;
    DL_FOREACH (pvma_clients, c)
        if ((c->host || c->coming) && c->fd >= 0 && (runs(c) || !runners))
            pvmc_log(level, "process %d on host %s %s, its time is %.9f s", (int)c->pid,
                     c->host ? pvma_host_name(c->host) : "-", what_it_does(c), (double)c->clock / (double)PVMA_S);
}

/*
 * The daemon of a program that left will notice. A program that was cut off may still run, so its daemon sees no end.
 */
static void part_aside(const struct pvma_client *c)
{
    if (c->cut)
        pvma_local_forget(c->pid);
    else if (c->host || c->observer)
        pvma_local_left(c->pid);
}

/* Its own time when it has left: that of its computing, without what the driver does later. */
static void note_end(const struct pvma_client *c)
{
    pvma_ps end = c->clock;
    for (const struct pvma_command *command = c->commands.first; command; command = command->next)
        end += command == c->commands.first && c->counted ? 0 : time_of(command->message.cost_ns);
    if (c->host && !c->place && end > pvma_serving.left)
        pvma_serving.left = end;
}

/* ---- those who have left, with commands that are still to be carried out ---- */

/* Of those, the one whose next command is due last; NULL: they are few. */
static struct pvma_client *left_too_much(void)
{
    struct pvma_client *c, *last = NULL;
    unsigned count = 0;
    size_t bytes = 0;
    DL_FOREACH (pvma_clients, c) {
        if (c->fd >= 0)
            continue;
        count++;
        bytes += c->commands.bytes;
        if (!last || c->clock > last->clock)
            last = c;
    }
    return count > PVMA_LEFT_MAX || bytes > PVMA_LEFT_BYTES ? last : NULL;
}

/* Freeing one may free others, whose peer it was. */
static void limit_left(void)
{
    struct pvma_client *c;
    while ((c = left_too_much())) {
        pvmc_log(PVMC_LOG_ERROR,
                 "process %d has left with %zu bytes that are due at %.9f s, and too much of that kind waits: its last "
                 "packets are lost",
                 (int)c->pid, c->commands.bytes, (double)c->clock / (double)PVMA_S);
        client_free(c);
    }
}

static bool is_answered(enum pvma_fore_message_type type)
{
    return type == PVMA_FORE_CONNECT || type == PVMA_FORE_CARRY || type == PVMA_FORE_WRITE;
}

/* The program has left or broken the protocol. Commands that it sent before are still carried out. */
static void part(struct pvma_client *c)
{
    static const struct pvma_fore_message leave = {.type = PVMA_FORE_NONE};
    note_end(c);
    set_quiet(c, true);
    close(c->fd);
    c->fd = -1;
    c->coming = false;
    part_aside(c);
    if (c->waiting)
        pvma_sim_cancel(pvma_serving.sim, &c->turn);
    c->waiting = false;
    if (c->busy && is_answered(c->commands.first->message.type)) { /* its result is no longer wanted */
        struct pvma_endpoint *e = endpoint_of(c, c->commands.first->message.endpoint);
        if (e)
            e->stuck = false;
        c->busy = false;
        pop(c);
    }
    pvma_commands_put(&c->commands, &leave);
    if (!c->host)
        client_free(c);
    else
        go(c);
    limit_left();
}

static void ready(struct pvma_watch *watch)
{
    struct pvma_client *c = (struct pvma_client *)watch;
    struct pvma_fore_message m;
    int rc = 0;
    for (int i = 0; i < TURN_MESSAGES && !rc && !c->deaf; i++) {
        rc = pvma_fore_message_receive(c->fd, incoming, sizeof incoming, &m, NULL, false);
        if (!rc)
            rc = c->host || c->observer ? take(c, &m) : greet(c, &m);
    }
    if (!rc || rc == PVMC_EAGAIN)
        return;
    if (rc != PVMC_EDOWN && rc != PVMC_EDENIED) {
        pvmc_log(PVMC_LOG_WARNING, "process %d sent an invalid message (%s): its connection is closed", (int)c->pid,
                 pvmc_error_text(rc));
        c->cut = true;
    }
    part(c);
}

static bool has_too_many(pid_t pid)
{
    const struct pvma_client *c;
    unsigned count = 0;
    DL_FOREACH (pvma_clients, c)
        count += c->pid == pid && c->fd >= 0;
    return pid && count >= PVMA_CONNECTIONS_MAX; /* 0: of another name space for processes */
}

void pvma_client_take(int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || (who.uid != geteuid() && who.uid != 0)) {
        pvmc_log(PVMC_LOG_WARNING, "refused a process of user %d", (int)who.uid);
        close(fd);
        return;
    }
    if (has_too_many(who.pid)) {
        pvmc_log(PVMC_LOG_ERROR, "process %d has %d connections: another one is refused", (int)who.pid,
                 PVMA_CONNECTIONS_MAX);
        close(fd);
        return;
    }
    struct pvma_client *c = pvma_new(sizeof *c);
    *c = (struct pvma_client){.watch = {ready}, .fd = fd, .pid = who.pid};
    pvma_commands_init(&c->commands);
    pvma_event_init(&c->turn, PVMA_EVENT_USER, turn);
    DL_APPEND(pvma_clients, c);
    if (pvma_serve_watch(fd, &c->watch))
        part(c);
}
