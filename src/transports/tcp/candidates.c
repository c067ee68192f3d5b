/* candidates.c - the order in which the addresses of an offer are tried. */
#include "candidates.h"
#include <string.h>
#include "wire/interfaces.h"

enum rank { REMEMBERED, LOOPBACK, SUBNET, ELSEWHERE, LINK_LOCAL, RANKS };

/* The facts that decide on the addresses. */
struct view {
    bool same_host;
    bool chosen; /* PVM_TCP_IF is set: `locals` are the addresses that it allows */
    const union pvmw_address *remembered;
    int count;
    struct pvmw_interface locals[PVMW_INTERFACES_MAX];
};

static bool is_ours(const struct view *v, const union pvmw_address *a)
{
    for (int i = 0; i < v->count; i++)
        if (pvmw_address_same(&v->locals[i].address, a))
            return true;
    return false;
}

/* The local address to connect from: one in the same subnet, else the first of its family; NULL: none. */
static const struct pvmw_interface *source_for(const struct view *v, const union pvmw_address *a)
{
    const struct pvmw_interface *best = NULL;
    for (int i = 0; i < v->count; i++) {
        const struct pvmw_interface *own = &v->locals[i];
        if (pvmw_interface_reaches(own, a))
            return own;
        bool fits = own->address.any.sa_family == a->any.sa_family &&
                    pvmw_address_is_loopback(&own->address) == pvmw_address_is_loopback(a) &&
                    !pvmw_address_needs_scope(&own->address);
        if (fits && !best)
            best = own;
    }
    return best;
}

static enum rank rank_of(const struct view *v, const union pvmw_address *a)
{
    if (v->remembered && pvmw_address_same(v->remembered, a))
        return REMEMBERED;
    if (pvmw_address_is_loopback(a))
        return LOOPBACK;
    if (pvmw_address_needs_scope(a))
        return LINK_LOCAL;
    const struct pvmw_interface *source = source_for(v, a);
    return source && pvmw_interface_reaches(source, a) ? SUBNET : ELSEWHERE;
}

static bool is_useful(const struct view *v, const union pvmw_address *a)
{
    if (!v->same_host && (pvmw_address_is_loopback(a) || is_ours(v, a)))
        return false;
    return !v->chosen || source_for(v, a);
}

static void add(struct pvmt_tcp_candidates *out, const struct view *v, const union pvmw_address *a, bool trusted)
{
    if (out->count == PVMT_TCP_CANDIDATES_MAX)
        return;
    struct pvmt_tcp_candidate *c = &out->list[out->count++];
    *c = (struct pvmt_tcp_candidate){.address = *a, .trusted = trusted, .bound = v->chosen};
    if (v->chosen)
        c->source = source_for(v, a)->address;
}

/*
 * Another host's link-local address is usable only with an interface of ours, so each interface with such addresses is
 * tried. On one host the offer's own scope is right.
 */
static void add_link_local(struct pvmt_tcp_candidates *out, const struct view *v, const union pvmw_address *a,
                           bool trusted)
{
    if (v->same_host) {
        add(out, v, a, trusted);
        return;
    }
    for (int i = 0; i < v->count; i++) {
        const union pvmw_address *own = &v->locals[i].address;
        if (!pvmw_address_needs_scope(own) || out->count == PVMT_TCP_CANDIDATES_MAX)
            continue;
        union pvmw_address scoped = *a;
        scoped.v6.sin6_scope_id = own->v6.sin6_scope_id;
        add(out, v, &scoped, trusted);
        out->list[out->count - 1].source = *own;
    }
}

int pvmt_tcp_candidates_of(const struct pvmt_tcp_offer *o, const uint8_t own_host[PVMT_TCP_HOST_BYTES],
                           const char *choice, const union pvmw_address *remembered, struct pvmt_tcp_candidates *out)
{
    struct view v = {
        .same_host = !memcmp(o->host, own_host, PVMT_TCP_HOST_BYTES), .chosen = *choice, .remembered = remembered};
    out->count = 0;
    v.count = pvmw_interfaces(choice, v.locals);
    if (v.count < 0)
        return v.count;
    for (int rank = 0; rank < RANKS; rank++)
        for (unsigned i = 0; i < o->count; i++) {
            const union pvmw_address *a = &o->addresses[i];
            if (!is_useful(&v, a) || (int)rank_of(&v, a) != rank)
                continue;
            if (pvmw_address_needs_scope(a))
                add_link_local(out, &v, a, o->trusted[i]);
            else
                add(out, &v, a, o->trusted[i]);
        }
    return 0;
}
