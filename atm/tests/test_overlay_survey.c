/*
 * test_overlay_survey.c - what questions cost in rings and trees of 4 to 256 servers: the hops that messages have
 * crossed on the network are those of a formula, and times follow them.
 */
#include "overlay.h"
#include "atm/src/overlay/survey.h"

enum { BRANCH = 2, CALLS = 30 };

struct sizes {
    unsigned servers;
    bool is_ring;
    unsigned calls;
};

static unsigned depth(unsigned server)
{
    unsigned levels = 0;
    for (; server; server = (server - 1) / BRANCH)
        levels++;
    return levels;
}

/* Of a tree: up to the lowest server above both, and down. */
static unsigned tree_distance(unsigned a, unsigned b)
{
    unsigned distance = 0;
    for (; a != b; distance++)
        if (a > b)
            a = (a - 1) / BRANCH;
        else
            b = (b - 1) / BRANCH;
    return distance;
}

/* A question goes round the ring in the order of servers, and its answer the same way back. */
static void check_call(void *arg, const struct pvma_survey_call *call)
{
    struct sizes *sizes = arg;
    unsigned n = sizes->servers;
    ck_assert_int_eq(call->cause, 0);
    unsigned way = sizes->is_ring ? (call->to + n - call->from) % n : tree_distance(call->from, call->to);
    ck_assert_uint_eq(call->hops, 2 * way);
    ck_assert_int_ge(call->set_up, call->hops * 500 * PVMA_US); /* each server's processor */
    sizes->calls++;
}

/* Stations and servers on switches of 100 hosts each, joined by one. */
static void describe(char *text, size_t size, const struct sizes *sizes, unsigned vcis)
{
    unsigned n = sizes->servers, switches = (n + 49) / 50;
    size_t at = (size_t)snprintf(text, size, "host p[1-%u]\nhost h[1-%u]", n, n);
    if (vcis)
        at += (size_t)snprintf(text + at, size - at, " vcis=%u", vcis);
    at += (size_t)snprintf(text + at, size - at, "\nswitch x\n");
    for (unsigned i = 0; i < switches; i++) {
        unsigned first = 50 * i + 1, last = 50 * i + 50 < n ? 50 * i + 50 : n;
        at += (size_t)snprintf(text + at, size - at,
                               "switch s%u ports=101\nlink s%u x\nlink p[%u-%u] s%u\nlink h[%u-%u] s%u\n", i, i, first,
                               last, i, first, last, i);
    }
    snprintf(text + at, size - at, "server q[1-%u] at=p[1-%u]\noverlay %s\n", n, n, sizes->is_ring ? "ring" : "tree");
}

static struct pvma_survey survey(unsigned servers, bool is_ring, unsigned vcis)
{
    static char text[4000];
    struct sizes sizes = {servers, is_ring, 0};
    struct site site;
    struct pvma_survey_options options = {CALLS, 1, check_call, &sizes};
    describe(text, sizeof text, &sizes, vcis);
    site_open(&site, text);
    struct pvma_survey result = pvma_survey_run(site.overlay, &options);
    ck_assert_uint_eq(result.left, 0);
    ck_assert_uint_eq(result.failed, 0);
    ck_assert_uint_eq(result.calls, sizes.calls);
    ck_assert_uint_eq(result.direct + result.relayed, result.calls);
    site_close(&site);
    return result;
}

static double mean_hops(const struct pvma_survey *s)
{
    return (double)s->hops / s->calls;
}

/* In a ring of n servers a question crosses n VCs in the mean with its answer; within a quarter, as the pairs are
 * drawn.
 */
START_TEST(ring_is_linear)
{
    for (unsigned n = 4; n <= 256; n *= 2) {
        struct pvma_survey s = survey(n, true, 0);
        ck_assert_double_ge(mean_hops(&s), 0.75 * n);
        ck_assert_double_le(mean_hops(&s), 1.25 * n);
        ck_assert_uint_le(s.hops_max, 2 * (n - 1));
        ck_assert_uint_eq(s.direct, 0);
    }
}
END_TEST

START_TEST(tree_is_logarithmic)
{
    pvma_ps before = 0;
    for (unsigned n = 4; n <= 256; n *= 2) {
        struct pvma_survey s = survey(n, false, 0);
        ck_assert_uint_le(s.hops_max, 4 * depth(n - 1));
        ck_assert_double_ge(mean_hops(&s), 2 * (depth(n - 1) - 1));
        ck_assert_uint_eq(s.relayed, 0);
        pvma_ps set_up = s.set_up / s.calls;
        ck_assert_int_le(set_up - before, 5 * PVMA_MS); /* for each doubling */
        before = set_up;
    }
}
END_TEST

/* With one VCI, which leads to the server, all is relayed, and a packet takes longer than on a VC of its own. */
START_TEST(one_identifier_forces_relay)
{
    for (int is_ring = 0; is_ring < 2; is_ring++) {
        for (unsigned n = 4; n <= 64; n *= 4) {
            struct pvma_survey many = survey(n, is_ring, 0), two = survey(n, is_ring, 2), one = survey(n, is_ring, 1);
            ck_assert_uint_eq(one.relayed, one.calls);
            ck_assert_uint_eq(one.vcis_max, 1);
            ck_assert_uint_le(two.vcis_max, 2);
            ck_assert_uint_eq(many.direct, is_ring ? 0 : many.calls);
            ck_assert(is_ring || (two.direct && two.relayed));
            ck_assert(is_ring || one.packet > 10 * many.packet);
        }
    }
}
END_TEST

UNIT_MAIN("atm_overlay_survey", ring_is_linear, tree_is_logarithmic, one_identifier_forces_relay)
