/*
 * test_overlay_failures.c - what a failure does to servers and stations: each wait ends, a ring has another way, and
 * nothing is left. Also random overlays, with and without failures.
 */
#include "overlay.h"
#include "atm/src/base/random.h"

static struct end a, b, c; /* large */

static void forget_ends(void)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
}

/* Four servers and a station at each, with the given further lines. */
static void open_site(struct site *site, const char *overlay, const char *more)
{
    char text[900];
    snprintf(text, sizeof text,
             "host p[1-4]\nhost h[1-4] vcis=1\nswitch s\nlink p[1-4] s t309=100ms\nlink h[1-4] s t309=100ms\n%s\n%s\n"
             "%s%s%s%s",
             overlay, strstr(more, "server q") ? more : "server q[1-4] at=p[1-4]", strstr(more, "server q") ? "" : more,
             "\nstation h1 server=q1\nstation h2 server=q2\n", "station h3 server=q3\n", "station h4 server=q4\n");
    site_open(site, text);
    forget_ends();
}

static struct pvma_overlay_counters count(const struct site *site)
{
    return pvma_overlay_count(site->overlay);
}

static void run_until(struct site *site, pvma_ps time)
{
    pvma_sim_run_until(site->lab.sim, time);
}

static void nothing_is_left(struct site *site)
{
    pvma_sim_run(site->lab.sim);
    ck_assert_uint_eq(pvma_overlay_in_use(site->overlay), 0);
    for (size_t i = 0; i < site->overlay->node_count; i++)
        if (site->overlay->stations[i].host)
            ck_assert_uint_eq(site_vcis(site, site->lab.topology.nodes[i].name), 1);
}

/* The question from q1 to q3 by q2 meets a link that is cut, and goes by q4; likewise the connection. */
START_TEST(the_other_way_round)
{
    for (int late = 0; late < 2; late++) { /* when the cut has been noticed, or before */
        struct site site;
        open_site(&site, "overlay ring", "fail p2 s at=0");
        end_listen(&site, "h3", &b);
        if (late)
            run_until(&site, 2 * PVMA_S);
        end_call(&site, "h1", "h3", &a);
        pvma_sim_run(site.lab.sim);
        ck_assert_int_eq(a.connected, 1);
        ck_assert_uint_eq(count(&site).turned, 1);
        ck_assert_uint_eq(count(&site).relay_hops, 2);
        ck_assert_int_le(pvma_sim_now(site.lab.sim), 10 * PVMA_S);
        end_leave(&a);
        nothing_is_left(&site);
        site_close(&site);
    }
}
END_TEST

/* The way of a connection is down beyond its first server: the station sets it up the other way round. */
START_TEST(a_set_up_turns_round)
{
    struct site site;
    site_open(&site,
              "host p[1-6]\nhost h1 vcis=1\nhost h4 vcis=1\nswitch s\nlink p[1-6] s\nlink h1 s\nlink h4 s\n"
              "server q[1-6] at=p[1-6]\noverlay ring\nstation h1 server=q1\nstation h4 server=q4\nfail p3 s at=0\n");
    forget_ends();
    end_listen(&site, "h4", &b);
    run_until(&site, 2 * PVMA_S);
    end_call(&site, "h1", "h4", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.connected, 1);
    ck_assert_uint_eq(count(&site).turned, 1); /* the question, at its server */
    ck_assert_uint_eq(count(&site).relay_hops, 3);
    end_leave(&a);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* The question meets what is down late, so it has crossed as many VCs as there are servers when it turns round. */
START_TEST(a_question_turns_round_late)
{
    struct site site;
    site_open(&site,
              "host p[1-6]\nhost h1 vcis=1\nhost h6 vcis=1\nswitch s\nlink p[1-6] s\nlink h1 s\nlink h6 s\n"
              "server q[1-6] at=p[1-6]\noverlay ring\nstation h1 server=q1\nstation h6 server=q6\nfail p5 s at=0\n");
    forget_ends();
    end_listen(&site, "h6", &b);
    run_until(&site, 2 * PVMA_S);
    end_call(&site, "h1", "h6", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.connected, 1);
    ck_assert_uint_eq(count(&site).turned, 1);
    ck_assert_uint_eq(count(&site).hops, 2 * 3 + 2 * 1); /* to q4 and back, to q6 and back */
    ck_assert_uint_eq(count(&site).relay_hops, 1);
    end_leave(&a);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* The called station's own server is down, or that of the caller, or both ways are cut: the call fails, in time. */
START_TEST(no_way)
{
    static const struct {
        const char *overlay, *more;
    } rows[] = {{"overlay ring", "fail p3 s at=0"},
                {"overlay ring", "fail p1 s at=0"},
                {"overlay ring", "fail p2 s at=0\nfail p4 s at=0"},
                {"overlay tree", "fail p1 s at=0"}, /* the root */
                {"overlay tree", "fail h3 s at=0"},
                {"overlay ring", "fail h3 s at=0"},
                {"overlay ring", "server q[1-2] at=p[1-2]\nserver q3 at=p3 down=1us\nserver q4 at=p4"},
                {"overlay ring", "server q1 at=p1 down=1us\nserver q[2-4] at=p[2-4]"}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct site site;
        open_site(&site, rows[i / 2].overlay, rows[i / 2].more);
        end_listen(&site, "h3", &b);
        if (i % 2)
            run_until(&site, 2 * PVMA_S);
        pvma_ps start = pvma_sim_now(site.lab.sim);
        end_call(&site, "h2", "h3", &a);
        end_call(&site, "h1", "h3", &c);
        pvma_sim_run(site.lab.sim);
        ck_assert_msg(c.ended == 1 || (i / 2 == 1 && a.connected), "row %zu: %d %d", i, a.ended, c.ended);
        ck_assert_int_le(pvma_sim_now(site.lab.sim), start + 6 * PVMA_S);
        end_leave(&a);
        end_leave(&c);
        nothing_is_left(&site);
        site_close(&site);
    }
}
END_TEST

/* A server in the middle of a connection ends: both sides hear of it, and when it is back, all works again. */
START_TEST(a_server_comes_back)
{
    static const char *const outages[] = {"100ms", "3s"}; /* before it is noticed, and after */
    for (int i = 0; i < 2; i++) {
        struct site site;
        char more[200];
        snprintf(more, sizeof more, "server q1 at=p1\nserver q2 at=p2 down=10s for=%s\nserver q[3-4] at=p[3-4]",
                 outages[i]);
        open_site(&site, "overlay ring", more);
        end_listen(&site, "h3", &b);
        end_call(&site, "h1", "h3", &a); /* by q2 */
        run_until(&site, 9 * PVMA_S);
        ck_assert_int_eq(a.connected, 1);
        run_until(&site, 12 * PVMA_S);
        ck_assert_int_eq(a.cause, PVMA_CAUSE_LINK_DOWN);
        ck_assert_int_eq(b.ended, 1);
        run_until(&site, 20 * PVMA_S);
        ck_assert_uint_eq(pvma_overlay_in_use(site.overlay), 0);
        end_call(&site, "h2", "h3", &a);
        pvma_sim_run(site.lab.sim);
        ck_assert_int_eq(a.connected, 2);
        end_leave(&a);
        nothing_is_left(&site);
        site_close(&site);
    }
}
END_TEST

/* A short cut changes nothing but time; a long one ends the connections of the station that is cut off. */
START_TEST(a_station_is_cut_off)
{
    struct site site;
    open_site(&site, "overlay tree", "fail h4 s at=1s for=500ms\nfail h4 s at=10s for=5s");
    end_listen(&site, "h4", &b);
    end_call(&site, "h1", "h4", &a);
    run_until(&site, 1200 * PVMA_MS);
    ck_assert_int_eq(a.connected, 1);
    end_call(&site, "h2", "h4", &c); /* while it is cut off: the messages come again */
    run_until(&site, 9 * PVMA_S);
    ck_assert_int_eq(c.connected, 1);
    ck_assert_int_eq(a.ended + b.ended + c.ended, 0);
    ck_assert_int_eq(pvma_vc_send(a.vc, "x", 1, 0), 0);
    run_until(&site, 9500 * PVMA_MS);
    ck_assert_uint_eq(b.pdus, 1);
    run_until(&site, 13 * PVMA_S);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_LINK_DOWN);
    ck_assert_int_eq(c.cause, PVMA_CAUSE_LINK_DOWN);
    ck_assert_int_eq(b.ended, 2);
    run_until(&site, 16 * PVMA_S);
    end_call(&site, "h1", "h4", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.connected, 2);
    end_leave(&a);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* ---- random overlays ---- */

enum { SITES = 150, STATIONS = 10, CALLS = 30 };

static unsigned draw(struct pvma_random *random, unsigned limit)
{
    return (unsigned)pvma_random_below(random, limit);
}

struct plan {
    unsigned servers, mids;
    bool fails;
};

static void describe(struct pvma_random *random, struct plan *plan, char *text, size_t size)
{
    static const char *const directs[] = {"", " direct=all", " direct=server", " direct=none"};
    plan->servers = 1 + draw(random, 12);
    plan->mids = draw(random, 3) ? 1023 : 1 + draw(random, 6);
    size_t at =
        (size_t)snprintf(text, size,
                         "host p[1-%u]\nhost h[1-%d] vcis=%u\nswitch s ports=40\nlink p[1-%u] s loss=%g t309=1s\n"
                         "link h[1-%d] s t309=1s\noverlay %s branch=%u mids=%u attach=%s retry=30ms patience=20s%s\n",
                         plan->servers, STATIONS, 1 + draw(random, 4), plan->servers, draw(random, 2) ? 0 : 0.01,
                         STATIONS, draw(random, 2) ? "ring" : "tree", 1 + draw(random, 4), plan->mids,
                         draw(random, 2) ? "order" : "distance", directs[draw(random, 4)]);
    for (unsigned i = 1; i <= plan->servers; i++) {
        at += (size_t)snprintf(text + at, size - at, "server q%u at=p%u", i, i);
        if (plan->fails && !draw(random, 4))
            at += (size_t)snprintf(text + at, size - at, " down=%ums for=%ums", draw(random, 20000),
                                   1 + draw(random, 5000));
        at += (size_t)snprintf(text + at, size - at, "\n");
    }
    for (int i = 0; plan->fails && i < 4; i++)
        at += (size_t)snprintf(text + at, size - at, "fail %c%u s at=%ums for=%ums\n", i % 2 ? 'h' : 'p',
                               1 + draw(random, i % 2 ? STATIONS : plan->servers), draw(random, 20000),
                               1 + draw(random, 5000));
}

static struct end calls[CALLS], listeners[STATIONS];

static const char *host_name(unsigned number)
{
    static char name[2][8];
    static int which;
    which = !which;
    snprintf(name[which], sizeof name[which], "h%u", number + 1);
    return name[which];
}

/* Programs connect and leave at random times. */
static void act(struct site *site, struct pvma_random *random)
{
    for (int i = 0; i < 3 * CALLS; i++) {
        struct end *end = &calls[draw(random, CALLS)];
        unsigned from = draw(random, STATIONS), to = draw(random, STATIONS);
        if (end->call && !draw(random, 3)) {
            end_leave(end);
        } else if (!end->call && from != to) {
            memset(end, 0, offsetof(struct end, last));
            end_call(site, host_name(from), host_name(to), end);
        } else if (end->vc) {
            pvma_vc_send(end->vc, "some words", 10, end->taken);
        }
        run_until(site, pvma_sim_now(site->lab.sim) + draw(random, 400) * PVMA_MS);
    }
}

/* Each call is connected or has ended; without failures, for want of MIDs only. */
static void all_have_an_answer(const struct plan *plan)
{
    for (int i = 0; i < CALLS; i++) {
        const struct end *end = &calls[i];
        ck_assert(!end->call || end->connected);
        if (!plan->fails && end->ended)
            ck_assert_msg(end->cause == PVMA_CAUSE_NO_VCI && plan->mids < 1023, "cause %d", end->cause);
    }
}

START_TEST(random_overlays)
{
    static char text[4000];
    for (unsigned seed = 0; seed < SITES; seed++) {
        struct site site;
        struct pvma_random random;
        struct plan plan = {.fails = seed % 2};
        pvma_random_init(&random, seed, "overlay");
        describe(&random, &plan, text, sizeof text);
        site_open(&site, text);
        memset(calls, 0, sizeof calls);
        memset(listeners, 0, sizeof listeners);
        for (unsigned i = 0; i < STATIONS; i++)
            end_listen(&site, host_name(i), &listeners[i]);
        act(&site, &random);
        pvma_sim_run(site.lab.sim);
        all_have_an_answer(&plan);
        ck_assert(plan.fails || !count(&site).unknown);
        for (int i = 0; i < CALLS; i++)
            end_leave(&calls[i]);
        nothing_is_left(&site);
        site_close(&site);
    }
}
END_TEST

UNIT_MAIN("atm_overlay_failures", the_other_way_round, a_set_up_turns_round, a_question_turns_round_late, no_way,
          a_server_comes_back, a_station_is_cut_off, random_overlays)
