/* assured.c - see assured.h. */
#include "assured.h"
#include <errno.h>
#include <sys/socket.h>
#include <utlist.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "circuits.h"
#include "client.h"
#include "inside.h"
#include "limits.h"

#define LINGER_PS (5 * PVMA_MS) /* between looks whether the last bytes of a closed endpoint are acknowledged */

/* A window counts whole frames: with one byte in each cell so small a part of it can be read when it is full. */
#define WINDOW_SHARE 64

/* The Fore API's numbers are those of the engines. */
_Static_assert((int)atm_ece_duplicating == (int)PVMA_ECE_DUPLICATING, "Atm_protocol");

static void wake(struct pvma_event *event);

/* ---- choosing ---- */

static unsigned assured_of(const struct pvma_client *c)
{
    const struct pvma_endpoint *e;
    unsigned count = 0;
    DL_FOREACH (c->endpoints, e)
        count += e->protocol != PVMA_NATIVE;
    return count;
}

static bool is_there(uint32_t protocol)
{
    return protocol <= PVMA_ECE_DUPLICATING;
}

int pvma_assured_choose(struct pvma_endpoint *e, uint32_t protocol)
{
    if (e->state > PVMA_ENDPOINT_BOUND || e->callers) /* the callers have the protocol of before */
        return EINVAL;
    if (!is_there(protocol))
        return EPROTONOSUPPORT;
    unsigned others = assured_of(e->client) - (e->protocol != PVMA_NATIVE);
    if (protocol && others >= PVMA_ASSURED_MAX) {
        pvmc_log_once(PVMC_LOG_ERROR, "process %d has %d assured endpoints: it cannot have more", (int)e->client->pid,
                      PVMA_ASSURED_MAX);
        return ENOBUFS;
    }
    e->protocol = (enum pvma_protocol)protocol;
    e->window = (size_t)pvmc_config_integer(PVMC_SETTING_ATM_WINDOW);
    if (others >= PVMA_ASSURED_LARGE && e->window > PVMA_ASSURED_WINDOW_SMALL)
        e->window = PVMA_ASSURED_WINDOW_SMALL;
    return 0;
}

/* ---- to the program ---- */

static void tell_news(struct pvma_endpoint *e)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_NEWS, .time_ns = pvma_serve_ns(pvma_sim_now(pvma_serving.sim))};
    if (e->told || !e->client)
        return;
    e->told = pvma_endpoint_tell(e, &m);
}

static size_t left_to_read(const struct pvma_endpoint *e)
{
    if (e->connection)
        return pvma_connection_readable(e->connection);
    return e->inside ? pvma_inside_readable(e) : 0;
}

void pvma_assured_came(struct pvma_endpoint *e)
{
    if (!e->told && left_to_read(e) >= e->low_water)
        tell_news(e);
}

void pvma_assured_set_low_water(struct pvma_endpoint *e, uint32_t bytes)
{
    size_t window = e->inside && e->window > PVMA_INSIDE_WINDOW ? PVMA_INSIDE_WINDOW : e->window;
    size_t most = window / WINDOW_SHARE;
    e->low_water = bytes < most ? bytes : most;
    if (e->state == PVMA_ENDPOINT_CONNECTED && left_to_read(e))
        pvma_assured_came(e);
}

/* A program that waits for room goes on in an event of its own: it may close the endpoint. */
void pvma_assured_room(struct pvma_endpoint *e)
{
    bool wanted = e->wants_room;
    e->wants_room = false;
    if (wanted && e->stuck)
        pvma_sim_at(pvma_serving.sim, &e->wake, pvma_sim_now(pvma_serving.sim));
    else if (wanted)
        tell_news(e);
}

static void wake(struct pvma_event *event)
{
    struct pvma_endpoint *e = PVMA_OF(event, struct pvma_endpoint, wake);
    if (e->state == PVMA_ENDPOINT_CLOSING) {
        if (pvma_assured_is_unsent(e))
            pvma_sim_after(pvma_serving.sim, &e->wake, LINGER_PS);
        else
            pvma_endpoint_let_go(e);
        return;
    }
    if (!e->stuck)
        return; /* the program has left */
    e->stuck = false;
    pvma_client_again(e->client);
}

void pvma_assured_end(struct pvma_endpoint *e, bool clean)
{
    e->lost = e->lost || !clean;
    if (e->state == PVMA_ENDPOINT_ENDED)
        return;
    e->state = PVMA_ENDPOINT_ENDED;
    shutdown(e->fd, SHUT_RDWR);
    pvma_client_tell(e->client);
    e->wants_room = true;
    if (e->stuck)
        pvma_assured_room(e);
}

/* ---- the connection's events ---- */

/* Its program has closed it. The peer may wait for room before it acknowledges, and may be closed, too. */
static void drop_unread(struct pvma_endpoint *e)
{
    uint8_t bytes[4096];
    while (pvma_connection_read(e->connection, bytes, sizeof bytes))
        ;
}

static void readable(void *arg)
{
    struct pvma_endpoint *e = arg;
    if (e->state == PVMA_ENDPOINT_CLOSING)
        drop_unread(e);
    else
        pvma_assured_came(e);
}

static void writable(void *arg)
{
    pvma_assured_room(arg);
}

static void lost(void *arg, enum pvma_cause cause)
{
    struct pvma_endpoint *e = arg;
    e->lost = e->lost || cause != PVMA_CAUSE_NORMAL;
    if (e->state == PVMA_ENDPOINT_CLOSING)
        pvma_endpoint_let_go(e);
    else
        pvma_assured_end(e, cause == PVMA_CAUSE_NORMAL);
}

/* ECE's limits suit the thesis's hosts. What slower ones need themselves says nothing of the network. */
static pvma_ps expected_latency(const struct pvma_endpoint *e)
{
    const struct pvma_host *peer = pvma_net_host_with(pvma_serving.net, pvma_call_peer(e->call));
    const struct pvma_profile *thesis = pvma_profile_find("thesis-ch6");
    pvma_ps more = pvma_profile_cell_latency(pvma_host_profile(peer), pvma_host_profile(e->host)) -
                   pvma_profile_cell_latency(thesis, thesis);
    return more > 0 ? more : 0;
}

void pvma_assured_begin(struct pvma_endpoint *e)
{
    static const struct pvma_connection_events events = {.readable = readable, .writable = writable, .lost = lost};
    struct pvma_connection_vcs vcs = {e->vc, e->circuits.vc[0], e->circuits.vc[1]};
    struct pvma_connection_settings settings = pvma_connection_defaults(e->protocol);
    settings.window_bytes = e->window;
    if (pvma_circuits_of(e->protocol)) /* ECE, which polls more often */
        settings.ece.lme.expected = expected_latency(e);
    else
        settings.poll_interval = pvmc_config_us(PVMC_SETTING_ATM_POLL) * PVMA_US;
    e->connection = pvma_connection_new(&vcs, &settings, &events, e);
    pvma_assured_room(e);
}

/* ---- bytes ---- */

int pvma_assured_write(struct pvma_endpoint *e, const uint8_t *data, size_t bytes, uint32_t item, size_t *taken)
{
    *taken = 0;
    if (!e->protocol || !item || item > PVMA_ITEM_MAX || !bytes)
        return e->protocol ? EINVAL : EOPNOTSUPP;
    if (e->state != PVMA_ENDPOINT_CONNECTED)
        return e->state == PVMA_ENDPOINT_ENDED ? EPIPE : ENOTCONN;
    struct pvma_place place = {.offset = e->offset, .item_bytes = item};
    if (e->connection)
        *taken = pvma_connection_write(e->connection, data, bytes, &place);
    else if (e->inside) /* else its circuits are not up yet */
        *taken = pvma_inside_write(e, data, bytes);
    e->offset += (uint32_t)*taken;
    e->wants_room = *taken < bytes;
    e->told = false;
    if (left_to_read(e))
        pvma_assured_came(e);
    return 0;
}

int pvma_assured_read(struct pvma_endpoint *e, uint8_t *to, size_t most, size_t *got)
{
    *got = 0;
    if (!e->protocol || !most)
        return e->protocol ? EINVAL : EOPNOTSUPP;
    if (e->state != PVMA_ENDPOINT_CONNECTED && e->state != PVMA_ENDPOINT_ENDED)
        return ENOTCONN;
    e->told = false;
    if (e->connection)
        *got = pvma_connection_read(e->connection, to, most);
    else if (e->inside)
        *got = pvma_inside_read(e, to, most);
    if (e->state == PVMA_ENDPOINT_CONNECTED && left_to_read(e))
        pvma_assured_came(e);
    if (*got || e->state == PVMA_ENDPOINT_CONNECTED)
        return *got ? 0 : EAGAIN;
    return e->lost ? ECONNRESET : 0;
}

/* ---- the end ---- */

bool pvma_assured_is_unsent(const struct pvma_endpoint *e)
{
    return e->connection && !pvma_connection_lost(e->connection) && pvma_connection_unacknowledged(e->connection);
}

void pvma_assured_linger(struct pvma_endpoint *e)
{
    drop_unread(e);
    pvma_connection_finish(e->connection);
    pvma_sim_after(pvma_serving.sim, &e->wake, LINGER_PS);
}

void pvma_assured_free(struct pvma_endpoint *e)
{
    pvma_sim_cancel(pvma_serving.sim, &e->wake);
    pvma_connection_free(e->connection);
    e->connection = NULL;
}

void pvma_assured_open(struct pvma_endpoint *e)
{
    pvma_event_init(&e->wake, PVMA_EVENT_USER, wake);
    e->low_water = 1;
}
