/* leaf.c - point-to-multipoint circuits of peers: accepts their calls and gives each link its packets. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "atm_transport.h"

#define VERSION     1
#define CALLERS_MAX 16

/* ---- packets ---- */

/* Moves our link's part in front of the common bytes, so that both form an ordinary packet. */
static void take(struct atm_transport *t, uint8_t *packet, size_t length)
{
    size_t parts = length < ATM_JOINT_HEADER || packet[0] != VERSION ? 0 : packet[1];
    size_t part_bytes = parts ? packet[2] | (size_t)packet[3] << 8 : 0;
    if (part_bytes < PVMW_RELIABLE_HEADER_BYTES || length < ATM_JOINT_HEADER + parts * part_bytes)
        return;
    uint8_t *common = packet + ATM_JOINT_HEADER + parts * part_bytes;
    for (uint8_t *part = packet + ATM_JOINT_HEADER; part < common; part += part_bytes) {
        struct pvmt_datagram_link *l = pvmt_datagram_find(&t->base, pvmw_reliable_addressee(part, part_bytes));
        if (!l)
            continue;
        memmove(common - part_bytes, part, part_bytes);
        if (l->up && !l->over)
            pvmt_datagram_take(l, common - part_bytes, part_bytes + (size_t)(packet + length - common));
        return;
    }
}

static int ready(struct atm_watch *w)
{
    struct atm_leaf *leaf = (struct atm_leaf *)w;
    struct atm_transport *t = leaf->t;
    int n = t->library->recv(leaf->fd, (char *)t->packet, sizeof t->packet);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n > 0) {
        take(t, t->packet, (size_t)n);
        return 1;
    }
    pvmt_atm_close(t, &leaf->fd);
    DL_DELETE(t->leaves, leaf);
    free(leaf);
    return 1;
}

/* ---- the door ---- */

/* 0: accepted; -1: the caller must be rejected, or is gone. */
static int let_in(struct atm_transport *t, int caller)
{
    struct atm_leaf *leaf = calloc(1, sizeof *leaf);
    if (!leaf)
        return -1;
    leaf->watch.ready = ready;
    leaf->t = t;
    leaf->fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (leaf->fd < 0 || t->library->accept(t->door.fd, leaf->fd, caller, NULL, multicast) ||
        pvmt_atm_watch(t, leaf->fd, &leaf->watch)) {
        pvmt_atm_close(t, &leaf->fd);
        free(leaf);
        return -1;
    }
    DL_APPEND(t->leaves, leaf);
    return 0;
}

static int knock(struct atm_watch *w)
{
    struct atm_transport *t = ((struct atm_leaf *)w)->t;
    int caller;
    if (!t->library->listen(t->door.fd, &caller, NULL, NULL, NULL)) {
        if (let_in(t, caller))
            t->library->reject(t->door.fd, caller);
        return 1;
    }
    if (errno == EAGAIN)
        return 0;
    pvmt_atm_close(t, &t->door.fd); /* the network is gone */
    t->door_asap = 0;
    return 1;
}

void pvmt_atm_door_open(struct atm_transport *t)
{
    if (t->door.fd >= 0)
        return;
    t->door = (struct atm_leaf){.watch = {knock}, .t = t};
    t->door.fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (t->door.fd >= 0 && !t->library->bind(t->door.fd, 0, &t->door_asap, CALLERS_MAX) &&
        !pvmt_atm_watch(t, t->door.fd, &t->door.watch))
        return;
    pvmt_atm_close(t, &t->door.fd);
    t->door_asap = 0;
}

void pvmt_atm_leaves_close(struct atm_transport *t)
{
    while (t->leaves) {
        struct atm_leaf *leaf = t->leaves;
        DL_DELETE(t->leaves, leaf);
        pvmt_atm_close(t, &leaf->fd);
        free(leaf);
    }
    pvmt_atm_close(t, &t->door.fd);
}
