/* serve.c - takes orders on a reliable endpoint of a fixed number. */
#include "serve.h"
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exercise.h"
#include "watchdog.h"
#include "diagnose.h"

struct server {
    int fd, patience_s;
    struct wire wire;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

static int answer(const struct server *s, uint32_t id, int error, const struct end *end, double figure_us)
{
    return answer_send(s->fd, &(struct answer){id, error, end ? end->here : (struct place){0}, figure_us});
}

/* Returns -1 with an errno, for the client and the log. */
static int obey(const struct server *s, const struct order *order)
{
    struct end end;
    double figure_us = 0;
    if (end_open(&end, order->carrier, &s->wire, order->spin, true, order->count) < 0)
        return -1;
    watchdog_tend(s->fd, end.fd);
    end.peer = order->place;
    int rc = 0;
    bool meets_first = end.listener < 0; /* otherwise the client connects after it has our address */
    if (meets_first)
        rc = end.carrier->meet(&end);
    if (rc == 0)
        rc = answer(s, order->id, 0, &end, 0);
    if (rc == 0 && !meets_first)
        rc = end.carrier->meet(&end);
    if (rc == 0)
        rc = exercise_serve(&end, order, &figure_us);
    if (rc == 0)
        rc = answer(s, order->id, 0, &end, figure_us);
    int error = errno;
    watchdog_tend(-1, -1);
    end_close(&end);
    errno = error;
    return rc;
}

/* Like dp_read_from(), but without waiting: an endpoint is also readable for internal frames of the peer's library. */
static int read_order(const struct server *s, char **message, int *nid, int *dpid)
{
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    int bytes = dp_read_from(s->fd, message, nid, dpid);
    fcntl(s->fd, F_SETFL, 0);
    return bytes;
}

/* Takes one order, if there is one. */
static void take_order(struct server *s)
{
    struct order order;
    char *message;
    int nid, dpid, bytes = read_order(s, &message, &nid, &dpid);
    if (bytes < 0)
        return;
    int rc = order_parse(message, (size_t)bytes, &order);
    dp_fsync(s->fd, 1);
    if (rc < 0) {
        fprintf(stderr, "dp-perf: a message from node %d is not an order\n", nid);
        return;
    }
    watchdog_start(s->patience_s);
    if (dp_target(s->fd, nid, dpid) < 0 || obey(s, &order) < 0) {
        int error = errno;
        fprintf(stderr, "dp-perf: %s for node %d: %s\n", carriers[order.carrier].name, nid, strerror(error));
        answer(s, order.id, error, NULL, 0);
    }
    watchdog_start(0);
}

/* Waits for a readable endpoint, like poll(). A stop signal that arrived before also ends the wait. */
static int await_order(const struct server *s, int idle_s)
{
    struct pollfd readable = {.fd = s->fd, .events = POLLIN};
    struct timespec limit = {.tv_sec = idle_s};
    sigset_t stops, before;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigprocmask(SIG_BLOCK, &stops, &before);
    int ready = stopped ? -1 : ppoll(&readable, 1, idle_s ? &limit : NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

int serve_run(const char *interface, int patience_s, int idle_s)
{
    struct server s = {.patience_s = patience_s};
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    s.fd = interface ? dp_open_on(interface, SERVER_DPID) : dp_open(SERVER_DPID);
    if (s.fd < 0 || dp_mode(s.fd, DP_RELIABLE) < 0 || wire_find(s.fd, &s.wire) < 0)
        return diagnose_open(interface);
    fprintf(stderr, "dp-perf: node %u serves on %s\n", s.wire.nid, s.wire.interface);
    while (!stopped) {
        int ready = await_order(&s, idle_s);
        if (ready == 0)
            break;
        if (ready > 0)
            take_order(&s);
    }
    dp_close(s.fd);
    return EXIT_SUCCESS;
}
