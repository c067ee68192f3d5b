/*
 * tree.c - frames to several links at once, over point-to-multipoint circuits: one copy of each cell leaves this host,
 * and the switches make the others.
 *
 * Each link keeps its own reliable connection: numbers, acknowledgements and retransmissions are its own and use its
 * own circuit. A packet to several links has one part per link, and then the bytes that all links have in common. A
 * part is the header from the link's connection and, in the first packet of a frame, also the frame's header:
 *
 *   u8 version, u8 parts, u16 bytes of a part | part of link 1 | part of link 2 | ... | common bytes
 *
 * A packet leaves when all links have room for it. If a link does not answer, all trees are removed and each link
 * continues by itself, so none waits for another. A link may be in several trees: the number of a frame names its tree,
 * and no other tree sends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "atm_transport.h"

#define VERSION    1
#define PART_BYTES (PVMW_RELIABLE_HEADER_BYTES + PVMC_FRAME_HEADER_BYTES) /* of one link in a packet, at most */

/* ---- a packet to several links ---- */

struct part {
    uint8_t header[PVMW_RELIABLE_HEADER_BYTES];
    struct iovec pieces[1 + PVMW_RELIABLE_PIECES_MAX];
    unsigned count;
};

struct atm_joint {
    struct part parts[ATM_TREE_MAX];
    unsigned count;
};

int pvmt_atm_joint_add(struct atm_link *l, const struct iovec *pieces, unsigned count)
{
    struct atm_joint *joint = ((struct atm_transport *)l->base.ep.transport)->joint;
    struct part *part = &joint->parts[joint->count++];
    memcpy(part->header, pieces[0].iov_base, sizeof part->header);
    memcpy(part->pieces, pieces, count * sizeof *pieces);
    part->pieces[0].iov_base = part->header;
    part->count = count;
    return 0;
}

static bool is_common(const struct atm_joint *joint, unsigned piece)
{
    const struct iovec *first = &joint->parts[0].pieces[piece];
    for (unsigned i = 1; i < joint->count; i++) {
        const struct iovec *other = &joint->parts[i].pieces[piece];
        if (other->iov_base != first->iov_base || other->iov_len != first->iov_len)
            return false;
    }
    return true;
}

/* Number of leading pieces that differ between links; the pieces behind them are the same memory for all. */
static unsigned own_pieces(const struct atm_joint *joint)
{
    unsigned own = joint->parts[0].count;
    while (own > 1 && is_common(joint, own - 1))
        own--;
    return own;
}

static size_t bytes_of(const struct iovec *pieces, unsigned count)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += pieces[i].iov_len;
    return bytes;
}

static uint8_t *copy(uint8_t *to, const struct iovec *pieces, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        memcpy(to, pieces[i].iov_base, pieces[i].iov_len);
        to += pieces[i].iov_len;
    }
    return to;
}

/* A packet that cannot be sent counts as lost: each link retransmits it. */
static void send_joint(struct atm_tree *tree, const struct atm_joint *joint)
{
    struct atm_transport *t = tree->t;
    const struct part *first = &joint->parts[0];
    unsigned own = own_pieces(joint);
    size_t own_bytes = bytes_of(first->pieces, own), common = bytes_of(first->pieces + own, first->count - own);
    size_t length = ATM_JOINT_HEADER + joint->count * own_bytes + common;
    if (length > t->mtu)
        return;
    uint8_t *at = t->packet;
    *at++ = VERSION;
    *at++ = (uint8_t)joint->count;
    *at++ = (uint8_t)own_bytes;
    *at++ = (uint8_t)(own_bytes >> 8);
    for (unsigned i = 0; i < joint->count; i++)
        at = copy(at, joint->parts[i].pieces, own);
    copy(at, first->pieces + own, first->count - own);
    t->library->send(tree->fd, (const char *)t->packet, (int)length);
}

/* ---- removing trees ---- */

static void clear(struct atm_tree *tree)
{
    pvmt_atm_close(tree->t, &tree->fd);
    tree->count = 0;
}

/* Removes all trees: each link then sends the waiting frames by itself. */
static void fell(struct atm_transport *t)
{
    struct pvmt_datagram_link *l, *next;
    for (unsigned i = 0; i < ATM_TREES_MAX; i++)
        if (t->trees[i].count)
            clear(&t->trees[i]);
    HASH_ITER (hh, t->base.links, l, next) {
        bool *is_in_tree = &((struct atm_link *)l)->is_in_tree;
        if (!*is_in_tree)
            continue;
        *is_in_tree = false;
        pvmw_reliable_release(l->frames.reliable);
        pvmt_datagram_touch(l);
    }
}

void pvmt_atm_trees_leave(struct atm_link *l)
{
    if (l->is_in_tree)
        fell((struct atm_transport *)l->base.ep.transport);
}

/* ---- in step ---- */

/* A number for the next frame of a tree. Not 0. */
static uint64_t number_for(const struct atm_tree *tree)
{
    return ++tree->t->joints * ATM_TREES_MAX + (uint64_t)(tree - tree->t->trees);
}

static bool is_of(uint64_t joint, const struct atm_tree *tree)
{
    return joint % ATM_TREES_MAX == (uint64_t)(tree - tree->t->trees);
}

/* Whether the same frame of this tree is next on all links, and each link has room for a packet of it. */
static bool may_step(const struct atm_tree *tree)
{
    uint64_t joint = tree->state == ATM_TREE_UP ? pvmt_frames_joint(&tree->links[0]->base.frames) : 0;
    if (!is_of(joint, tree)) /* of a tree with more links, one of which has no room */
        return false;
    for (unsigned i = 1; joint && i < tree->count; i++)
        if (pvmt_frames_joint(&tree->links[i]->base.frames) != joint)
            return false;
    return joint;
}

static int step(struct atm_tree *tree)
{
    struct atm_transport *t = tree->t;
    int n = 0;
    for (; may_step(tree); n++) {
        struct atm_joint joint = {.count = 0};
        t->joint = &joint;
        for (unsigned i = 0; i < tree->count; i++)
            pvmw_reliable_step(tree->links[i]->base.frames.reliable, t->base.now_us);
        t->joint = NULL;
        send_joint(tree, &joint);
    }
    for (unsigned i = 0; n && i < tree->count; i++)
        pvmt_datagram_touch(&tree->links[i]->base); /* frames behind this one may be sent now */
    return n;
}

static bool is_unanswered(const struct atm_tree *tree)
{
    for (unsigned i = 0; i < tree->count; i++)
        if (pvmw_reliable_is_unanswered(tree->links[i]->base.frames.reliable))
            return true;
    return false;
}

int pvmt_atm_trees_step(struct atm_transport *t)
{
    int n = 0;
    for (unsigned i = 0; i < ATM_TREES_MAX; i++)
        if (is_unanswered(&t->trees[i])) /* the others must not wait for that link */
            fell(t);
        else if (t->trees[i].count)
            n += step(&t->trees[i]);
    return n;
}

/* ---- adding peers ---- */

static void refuse(struct atm_tree *tree)
{
    pvmc_log(PVMC_LOG_INFO, "no multicast circuit to %u tasks (%s): each gets its own copy", tree->count,
             strerror(errno));
    pvmt_atm_close(tree->t, &tree->fd);
    tree->state = ATM_TREE_REFUSED;
}

static int call_next(struct atm_tree *tree)
{
    const struct atm_link *l = tree->links[tree->there];
    Atm_endpoint to = l->peer.endpoint;
    to.asap = l->peer.leaf_asap;
    return tree->t->library->connect(tree->fd, &to, NULL, NULL, tree->t->aal, multicast);
}

/* Calls one peer after the other until a call would block. */
static int grow(struct atm_tree *tree)
{
    while (tree->there < tree->count && !call_next(tree))
        tree->there++;
    if (tree->there == tree->count)
        tree->state = ATM_TREE_UP;
    else if (errno != EINPROGRESS && errno != EALREADY)
        refuse(tree);
    return 1;
}

static int ready(struct atm_watch *w)
{
    struct atm_tree *tree = (struct atm_tree *)w;
    if (tree->state == ATM_TREE_GROWING)
        return grow(tree);
    if (tree->state == ATM_TREE_UP) /* all peers are gone */
        fell(tree->t);
    return 1;
}

static void plant(struct atm_tree *tree)
{
    struct atm_transport *t = tree->t;
    tree->state = ATM_TREE_GROWING;
    tree->fd = t->library->open(t->host, O_NONBLOCK, NULL);
    if (tree->fd < 0 || t->library->bind(tree->fd, 0, NULL, 0) || pvmt_atm_watch(t, tree->fd, &tree->watch))
        refuse(tree);
    else
        grow(tree);
}

/* ---- choosing a tree ---- */

/* Some links, and a frame for each. */
struct group {
    struct atm_link *links[ATM_TREE_MAX];
    struct pvmc_frame *frames[ATM_TREE_MAX];
    unsigned count;
};

static bool is_for(const struct atm_tree *tree, const struct group *g)
{
    return tree->count == g->count && !memcmp(tree->links, g->links, g->count * sizeof *g->links);
}

static bool is_in_use(const struct atm_tree *tree)
{
    for (unsigned i = 0; i < tree->count; i++)
        if (pvmw_reliable_holds(tree->links[i]->base.frames.reliable))
            return true;
    return false;
}

/* A free tree, or the least recently used one. */
static struct atm_tree *room_for_tree(struct atm_transport *t)
{
    struct atm_tree *best = NULL;
    for (unsigned i = 0; i < ATM_TREES_MAX; i++) {
        struct atm_tree *tree = &t->trees[i];
        if (!tree->count)
            return tree;
        if ((!best || tree->used_at < best->used_at) && !is_in_use(tree))
            best = tree;
    }
    if (best)
        clear(best);
    return best;
}

/* Bytes of a frame that fit in a packet to the group; 0: too few to be worth a tree. */
static uint32_t room_in_packet(const struct group *g)
{
    uint32_t mtu = UINT32_MAX, parts = ATM_JOINT_HEADER + g->count * PART_BYTES;
    for (unsigned i = 0; i < g->count; i++) {
        const struct atm_link *l = g->links[i];
        uint32_t least = l->own.mtu < l->peer.mtu ? l->own.mtu : l->peer.mtu;
        mtu = least < mtu ? least : mtu;
    }
    return parts < mtu / 2 ? mtu - parts : 0;
}

/* The tree that reaches the group; NULL: none yet, or it was refused. */
static struct atm_tree *tree_for(struct atm_transport *t, const struct group *g)
{
    uint32_t bytes = room_in_packet(g);
    struct atm_tree *tree = NULL;
    for (unsigned i = 0; bytes && i < ATM_TREES_MAX && !tree; i++)
        if (is_for(&t->trees[i], g))
            tree = &t->trees[i];
    if (tree && tree->state == ATM_TREE_ASKED_FOR)
        plant(tree);
    if (!tree && bytes && (tree = room_for_tree(t))) {
        *tree = (struct atm_tree){.watch = {ready}, .t = t, .count = g->count, .fd = -1, .bytes = bytes};
        memcpy(tree->links, g->links, g->count * sizeof *g->links);
        for (unsigned i = 0; i < g->count; i++)
            g->links[i]->is_in_tree = true;
    }
    if (tree)
        tree->used_at = ++t->tree_calls;
    return tree && tree->state == ATM_TREE_UP ? tree : NULL;
}

/* ---- sending ---- */

/* Whether the peer is on another host and accepts multicast calls. */
static bool can_share(const struct atm_link *l)
{
    return l->base.up && l->peer.leaf_asap && pvmw_reliable_is_met(l->base.frames.reliable) &&
           memcmp(&l->own.endpoint.nsap, &l->peer.endpoint.nsap, sizeof l->own.endpoint.nsap) != 0;
}

static void send_alone(struct atm_transport *t, struct atm_link *l, struct pvmc_frame *f)
{
    pvmt_frames_send(&l->base.frames, f, t->base.now_us);
    pvmt_datagram_touch(&l->base);
}

static void send_group(struct atm_transport *t, struct group *g)
{
    struct atm_tree *tree = g->count > 1 ? tree_for(t, g) : NULL;
    uint64_t joint = tree ? number_for(tree) : 0;
    for (unsigned i = 0; i < g->count; i++)
        if (tree)
            pvmt_frames_send_jointly(&g->links[i]->base.frames, g->frames[i], joint, tree->bytes, t->base.now_us);
        else
            send_alone(t, g->links[i], g->frames[i]);
    if (tree)
        step(tree);
    g->count = 0;
}

/* 0, or why some link cannot accept a frame. */
static int check(struct pvmt_endpoint **eps, unsigned count)
{
    int rc = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct pvmt_datagram_link *l = (struct pvmt_datagram_link *)eps[i];
        if (l->dead || l->over || pvmt_frames_are_over(&l->frames))
            return PVMC_EDOWN;
        if (!pvmt_frames_have_room(&l->frames))
            rc = PVMC_EAGAIN;
    }
    return rc;
}

int pvmt_atm_multicast(struct pvmt_endpoint **eps, struct pvmc_frame **frames, unsigned count)
{
    struct atm_transport *t = (struct atm_transport *)eps[0]->transport;
    struct group g = {.count = 0};
    pvmt_datagram_enter(&t->base);
    int rc = check(eps, count);
    for (unsigned i = 0; i < count && rc == PVMC_EAGAIN; i++) {
        struct pvmt_datagram_link *l = (struct pvmt_datagram_link *)eps[i];
        l->frames.refused = true;
        pvmt_datagram_touch(l);
    }
    for (unsigned i = 0; i < count && !rc; i++) {
        struct atm_link *l = (struct atm_link *)eps[i];
        if (!can_share(l)) {
            send_alone(t, l, frames[i]);
            continue;
        }
        g.links[g.count] = l;
        g.frames[g.count++] = frames[i];
        if (g.count == ATM_TREE_MAX)
            send_group(t, &g);
    }
    if (g.count)
        send_group(t, &g);
    return rc;
}
