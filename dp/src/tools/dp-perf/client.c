/* client.c - sends orders to the server, one by one. */
#include "client.h"
#include <dp.h>
#include <errno.h>
#include "watchdog.h"

enum { CLIENT_DPID_FIRST = 39000, CLIENTS_MAX = 900 };

int client_open(struct client *client, const char *interface, uint16_t server_nid)
{
    client->server_nid = server_nid;
    client->fd = -1;
    errno = EADDRINUSE;
    for (int i = 0; client->fd < 0 && errno == EADDRINUSE && i < CLIENTS_MAX; i++)
        client->fd = interface ? dp_open_on(interface, CLIENT_DPID_FIRST + i) : dp_open(CLIENT_DPID_FIRST + i);
    if (client->fd < 0 || dp_mode(client->fd, DP_RELIABLE) < 0 || dp_target(client->fd, server_nid, SERVER_DPID) < 0)
        return -1;
    return wire_find(client->fd, &client->wire);
}

void client_close(struct client *client)
{
    if (client->fd >= 0)
        dp_close(client->fd);
    client->fd = -1;
}

/* Reads the next answer, and skips answers to abandoned orders. Returns -1 with errno on failure. */
static int read_answer(struct client *client, struct answer *answer)
{
    char *message;
    do {
        int bytes = dp_read(client->fd, &message);
        if (bytes < 0 && watchdog_again())
            continue;
        if (bytes < 0)
            return -1;
        int rc = answer_parse(message, (size_t)bytes, answer);
        dp_fsync(client->fd, 1);
        if (rc < 0)
            return -1;
    } while (answer->id != client->orders);
    return 0;
}

/* Waits for an answer; its error becomes errno. */
static int hear(struct client *client, struct answer *answer)
{
    int rc = read_answer(client, answer);
    if (rc == 0 && answer->error) {
        errno = answer->error;
        return -1;
    }
    return rc;
}

int client_begin(struct client *client, struct order *order, struct end *end)
{
    struct answer answer = {0};
    watchdog_start(2 * client->patience_s); /* the server may still wait for a client that we have given up */
    order->id = ++client->orders;
    order->spin = client->spin;
    if (end_open(end, order->carrier, &client->wire, client->spin, false, order->count) < 0)
        return -1;
    watchdog_tend(client->fd, end->fd);
    order->place = end->here;
    int rc = order_send(client->fd, order);
    if (rc == 0)
        rc = hear(client, &answer);
    if (rc < 0 && errno == ETIMEDOUT)
        errno = EHOSTDOWN; /* the server itself is silent */
    if (rc == 0) {
        watchdog_start(client->patience_s);
        end->peer = answer.place;
        rc = end->carrier->meet(end);
    }
    return rc < 0 ? client_end(client, end, -1, NULL) : 0;
}

int client_end(struct client *client, struct end *end, int rc, double *figure_us)
{
    struct answer answer = {0};
    watchdog_moved();
    if (rc == 0)
        rc = hear(client, &answer);
    int error = errno;
    watchdog_tend(-1, -1);
    end_close(end);
    watchdog_start(0);
    if (figure_us)
        *figure_us = answer.figure_us;
    errno = error;
    return rc;
}
