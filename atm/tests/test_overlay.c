/* test_overlay.c - servers and stations: addresses, direct and relayed connections, their messages and their ends. */
#include "overlay.h"
#include "core/error.h"

/* Four servers in the given shape, two stations each; p4 is the last server. */
#define HOSTS "host p[1-4]\nhost h[1-8]%s\nswitch s\nlink p[1-4] s\nlink h[1-8] s\nserver q[1-4] at=p[1-4]\n"

static void open_site(struct site *site, const char *vcis, const char *overlay)
{
    char text[600];
    int length = snprintf(text, sizeof text, HOSTS, vcis);
    snprintf(text + length, sizeof text - (size_t)length, "%s\n", overlay);
    site_open(site, text);
}

static struct pvma_overlay_counters count(const struct site *site)
{
    return pvma_overlay_count(site->overlay);
}

/* ---- the ways ---- */

static unsigned depth(unsigned server, unsigned branch)
{
    unsigned levels = 0;
    for (; server; server = (server - 1) / branch)
        levels++;
    return levels;
}

START_TEST(ways)
{
    struct site site;
    open_site(&site, "", "overlay ring");
    struct pvma_topo_overlay options = site.lab.topology.overlay;
    struct pvma_overlay like = {.options = &options, .server_count = 100};
    for (unsigned a = 0; a < 100; a += 7) {
        for (unsigned b = 0; b < 100; b++) {
            options.shape = PVMA_RING;
            ck_assert_uint_eq(pvma_overlay_distance(&like, a, b, false), (b + 100 - a) % 100);
            ck_assert_uint_eq(pvma_overlay_distance(&like, a, b, true), (a + 100 - b) % 100);
            options.shape = PVMA_TREE;
            for (options.branch = 1; options.branch < 5; options.branch++) {
                unsigned d = pvma_overlay_distance(&like, a, b, false);
                ck_assert_uint_eq(d, pvma_overlay_distance(&like, b, a, false));
                ck_assert_uint_le(d, depth(a, options.branch) + depth(b, options.branch));
            }
        }
    }
    site_close(&site);
}
END_TEST

/* ---- connections ---- */

static struct end a, b, c; /* large */

static void forget_ends(void)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
}

/* Sends so many PDUs of a size from an end, and gets them back from the other, which echoes. */
static void exchange(struct site *site, struct end *from, unsigned pdus, size_t size)
{
    static uint8_t data[PVMA_PDU_MAX];
    unsigned before = from->pdus;
    for (unsigned i = 0; i < pdus; i++) {
        memset(data, (int)(from->taken + 1), size);
        ck_assert_int_eq(pvma_vc_send(from->vc, data, size, from->taken), 0);
        pvma_sim_run(site->lab.sim);
        ck_assert_uint_eq(from->last_length, size);
        ck_assert_mem_eq(from->last, data, size);
    }
    ck_assert_uint_eq(from->pdus, before + pdus);
    ck_assert_uint_eq(from->sent, from->taken);
    ck_assert_uint_eq(pvma_vc_queued(from->vc), 0);
}

static void connect_two(struct site *site, const char *from, const char *to)
{
    forget_ends();
    b.echoes = true;
    end_listen(site, to, &b);
    end_call(site, from, to, &a);
    ck_assert_ptr_null(pvma_call_vc(a.call));
    pvma_sim_run(site->lab.sim);
    ck_assert_int_eq(a.connected, 1);
    ck_assert_int_eq(b.connected, 1);
    struct pvma_address caller = pvma_host_address(site_host(site, from));
    ck_assert(b.caller.switch_id == caller.switch_id && b.caller.port == caller.port);
}

static void nothing_is_left(struct site *site)
{
    pvma_sim_run(site->lab.sim);
    ck_assert_uint_eq(pvma_overlay_in_use(site->overlay), 0);
    for (int i = 1; i <= 8; i++) {
        char name[4];
        snprintf(name, sizeof name, "h%d", i);
        ck_assert_uint_eq(site_vcis(site, name), 1);
    }
}

START_TEST(direct_in_a_tree)
{
    struct site site;
    open_site(&site, " vcis=2", "overlay tree");
    connect_two(&site, "h1", "h8");
    ck_assert_uint_eq(count(&site).dialled, 1);
    ck_assert_uint_eq(count(&site).hops, 2 * 3); /* q3 or q4 under q1: up to the root and down again */
    ck_assert_uint_eq(site_vcis(&site, "h1"), 2);
    ck_assert_uint_eq(site_vcis(&site, "h8"), 2);
    exchange(&site, &a, 5, 5000);
    ck_assert_uint_eq(count(&site).packets, 0);
    end_leave(&a);
    nothing_is_left(&site);
    ck_assert_int_eq(b.ended, 1);
    site_close(&site);
}
END_TEST

/* With one VCI, which the VC to the server takes, all is relayed, also between stations of one server. */
START_TEST(relayed)
{
    static const char *const others[] = {"h2", "h3", "h5", "h8"};
    static const char *const shapes[] = {"overlay ring", "overlay tree", "overlay ring direct=none",
                                         "overlay tree attach=distance"};
    for (int i = 0; i < 16; i++) {
        struct site site;
        open_site(&site, " vcis=1", shapes[i / 4]);
        connect_two(&site, "h1", others[i % 4]);
        struct pvma_overlay_counters counters = count(&site);
        ck_assert_uint_eq(counters.relayed, 1);
        ck_assert_uint_eq(counters.dialled, 0);
        ck_assert_uint_eq(pvma_vc_mtu(a.vc), 65535 - PVMA_OVERLAY_HEADER);
        exchange(&site, &a, 3, 1);
        exchange(&site, &a, 3, 65535 - PVMA_OVERLAY_HEADER);
        ck_assert_int_eq(pvma_vc_send(a.vc, a.last, 65535, 0), PVMC_ELIMIT);
        ck_assert_uint_ge(count(&site).packets, 12);
        ck_assert_uint_eq(count(&site).lost, 0);
        end_leave(i % 2 ? &a : &b);
        nothing_is_left(&site);
        ck_assert_int_eq(a.ended + b.ended, 1);
        ck_assert_int_eq(i % 2 ? b.cause : a.cause, PVMA_CAUSE_NORMAL);
        site_close(&site);
    }
}
END_TEST

/* As in the thesis: those of one server have VCs of their own, and servers relay to others, whatever is left. */
START_TEST(a_ring_relays_to_other_servers)
{
    struct site site;
    open_site(&site, "", "overlay ring");
    connect_two(&site, "h1", "h2");
    ck_assert_uint_eq(count(&site).dialled, 1);
    end_leave(&a);
    connect_two(&site, "h1", "h3");
    ck_assert_uint_eq(count(&site).relayed, 1);
    ck_assert_uint_eq(count(&site).relay_hops, 1);
    end_leave(&a);
    pvma_host_unlisten(site_host(&site, "h3"), OVERLAY_SAP);
    connect_two(&site, "h1", "h8"); /* the question goes round, the connection the short way */
    ck_assert_uint_eq(count(&site).hops_max, 6);
    ck_assert_uint_eq(count(&site).relay_hops, 2);
    end_leave(&b);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* The last identifier decides, at either end; it comes back with the release. */
START_TEST(identifiers_run_out)
{
    struct site site;
    open_site(&site, " vcis=2", "overlay tree");
    connect_two(&site, "h1", "h8");
    end_listen(&site, "h5", &c);
    struct end more = {0};
    end_call(&site, "h1", "h5", &more); /* the caller has none */
    pvma_sim_run(site.lab.sim);
    ck_assert_uint_eq(count(&site).relayed, 1);
    end_leave(&more);
    end_call(&site, "h4", "h8", &more); /* the called one has none */
    pvma_sim_run(site.lab.sim);
    ck_assert_uint_eq(count(&site).relayed, 2);
    ck_assert_uint_eq(site_vcis(&site, "h4"), 1);
    end_leave(&more);
    end_leave(&a);
    pvma_sim_run(site.lab.sim);
    end_call(&site, "h4", "h8", &more);
    pvma_sim_run(site.lab.sim);
    ck_assert_uint_eq(count(&site).dialled, 2);
    end_leave(&more);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* A simplex connection sends one way; AAL3/4 stays what the program sees. */
START_TEST(other_contracts)
{
    struct site site;
    static const struct pvma_contract simplex = {.aal = PVMA_AAL34, .flow = PVMA_SIMPLEX};
    static const struct pvma_contract wants = {
        .aal = PVMA_AAL5, .flow = PVMA_DUPLEX, .wanted = {0, 1000000, 0}, .back_wanted = {0, 1000000, 0}};
    static const struct pvma_contract needs = {
        .aal = PVMA_AAL5, .flow = PVMA_DUPLEX, .wanted = {0, 1000000, 0}, .minimum = {0, 1000000, 0}};
    static const struct pvma_contract tree = {.aal = PVMA_AAL5, .flow = PVMA_MULTICAST};
    open_site(&site, " vcis=1", "overlay ring");
    forget_ends();
    end_listen(&site, "h8", &b);
    end_call_as(&site, "h1", "h8", &a, &simplex);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(b.contract.aal, PVMA_AAL34);
    ck_assert_int_eq(pvma_vc_send(b.vc, "x", 1, 0), PVMC_EPARAM);
    ck_assert_int_eq(pvma_vc_send(a.vc, "x", 1, 0), 0);
    pvma_sim_run(site.lab.sim);
    ck_assert_uint_eq(b.pdus, 1);
    end_leave(&a);
    end_call_as(&site, "h1", "h8", &a, &wants);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.connected, 2);
    ck_assert_int_eq(a.contract.wanted.mean_bps, 0); /* granted: best effort */
    end_leave(&a);
    end_call_as(&site, "h1", "h8", &a, &needs);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_NO_BANDWIDTH);
    end_call_as(&site, "h1", "h8", &a, &tree);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_NO_VCI);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

START_TEST(refusals)
{
    struct site site;
    open_site(&site, " vcis=1", "overlay tree");
    forget_ends();
    end_call(&site, "h1", "h8", &a);
    ck_assert_int_eq(a.ended, 0);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_NO_LISTENER);
    b.refuses = true;
    end_listen(&site, "h8", &b);
    end_call(&site, "h1", "h8", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_BUSY);
    ck_assert_int_eq(a.ended, 2);
    nothing_is_left(&site);
    /* what is no station is called as ever: here p1 has no listener, and the other address does not exist */
    end_call(&site, "h1", "p1", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.cause, PVMA_CAUSE_NO_VCI);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* The caller, or the called side, leaves after so many events: nothing is left, and nothing is reported twice. */
START_TEST(released_at_any_time)
{
    for (int who = 0; who < 2; who++) {
        bool over = false;
        for (int events = 0; !over; events++) {
            struct site site;
            open_site(&site, events % 2 ? " vcis=1" : " vcis=2", events % 3 ? "overlay tree" : "overlay ring");
            forget_ends();
            b.waits = events % 5 == 0;
            end_listen(&site, "h8", &b);
            end_call(&site, "h1", "h8", &a);
            for (int i = 0; i < events && !over; i++)
                over = !pvma_sim_step(site.lab.sim);
            end_leave(who && b.call ? &b : &a);
            pvma_sim_run(site.lab.sim);
            ck_assert_int_le(a.ended, 1);
            ck_assert_int_le(b.ended, 1);
            ck_assert(!a.call && (!b.call || (who && !b.ended)));
            end_leave(&b);
            nothing_is_left(&site);
            site_close(&site);
            events += 3;
        }
    }
}
END_TEST

static uint64_t dropped_by_drivers(struct site *site)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pvma_net_host_count(site->lab.net); i++) {
        const struct pvma_host_counters *counters = pvma_host_counters(pvma_net_host_at(site->lab.net, i));
        sum += counters->tx_queue_drops + counters->rx_queue_drops;
    }
    return sum;
}

/* A sender that fills the driver's queue is told of room, and servers with short queues lose what does not fit. */
START_TEST(full_queues)
{
    struct site site;
    char text[600];
    for (int flood = 0; flood < 2; flood++) {
        snprintf(text, sizeof text,
                 "profile d like=hp735 %s\nhost p[1-2] profile=d\nhost h[1-2] profile=d vcis=1\nswitch s\n"
                 "link p[1-2] s\nlink h[1-2] s\nserver q[1-2] at=p[1-2] relay=5ms\noverlay ring queue=3\n",
                 flood ? "send=flood" : "");
        site_open(&site, text);
        forget_ends();
        end_listen(&site, "h2", &b);
        end_call(&site, "h1", "h2", &a);
        pvma_sim_run(site.lab.sim);
        struct lab_greedy greedy;
        lab_flood(a.vc, &greedy, 1000, 200);
        pvma_sim_run(site.lab.sim);
        ck_assert_uint_eq(greedy.sent, 200);
        ck_assert_uint_gt(b.pdus, 3);
        ck_assert_uint_lt(b.pdus, 200);
        ck_assert_uint_eq(pvma_vc_queued(a.vc), 0);
        ck_assert_uint_eq(b.pdus + count(&site).lost + dropped_by_drivers(&site), 200);
        end_leave(&a);
        pvma_sim_run(site.lab.sim);
        ck_assert_uint_eq(pvma_overlay_in_use(site.overlay), 0);
        site_close(&site);
    }
}
END_TEST

/* A program opens and releases calls faster than its host's processor can send their messages. */
START_TEST(few_messages_wait)
{
    enum { WORK_MAX = 4096 }; /* of station.c */
    struct site site;
    open_site(&site, " vcis=1", "overlay ring");
    forget_ends();
    for (int i = 0; i < WORK_MAX + 100; i++) {
        end_call(&site, "h1", "h8", &a);
        end_leave(&a);
    }
    ck_assert_uint_eq(pvma_overlay_in_use(site.overlay), WORK_MAX);
    end_call(&site, "h1", "h8", &a);
    pvma_sim_run(site.lab.sim);
    ck_assert_int_eq(a.ended, 1);
    nothing_is_left(&site);
    site_close(&site);
}
END_TEST

/* MIDs of a VC run out; they come back, too. */
START_TEST(mids_run_out)
{
    struct site site;
    struct end ends[4] = {{0}};
    open_site(&site, " vcis=1", "overlay ring mids=3");
    forget_ends();
    end_listen(&site, "h8", &b);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            end_call(&site, "h1", "h8", &ends[i]);
        pvma_sim_run(site.lab.sim);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(ends[i].connected, i < 3 ? round + 1 : 0);
        ck_assert_int_eq(ends[3].cause, PVMA_CAUSE_NO_VCI);
        for (int i = 0; i < 3; i++)
            end_leave(&ends[i]);
        nothing_is_left(&site);
    }
    site_close(&site);
}
END_TEST

/* ---- messages ---- */

START_TEST(messages)
{
    for (int type = PVMA_OVERLAY_DATA; type <= PVMA_OVERLAY_RELEASED; type++) {
        struct pvma_overlay_message out = {.type = (enum pvma_overlay_type)type,
                                           .mid = 77,
                                           .epoch = 200,
                                           .sequence = 0x123456,
                                           .number = 5,
                                           .caller = {1, 2},
                                           .called = {3, 4},
                                           .origin = 6,
                                           .server = 7,
                                           .second = true,
                                           .hops = 9,
                                           .direct = true,
                                           .cause = 45,
                                           .contract = {.aal = PVMA_AAL5}};
        struct pvma_overlay_message back;
        uint8_t wire[PVMA_OVERLAY_MAX], again[PVMA_OVERLAY_MAX];
        size_t length = pvma_overlay_encode(&out, wire);
        ck_assert_int_eq(pvma_overlay_decode(&back, wire, length), 0);
        ck_assert(back.mid == 77 && back.epoch == 200 && back.sequence == 0x123456);
        ck_assert_uint_eq(pvma_overlay_encode(&back, again), length);
        ck_assert_mem_eq(wire, again, length);
        ck_assert_str_ne(pvma_overlay_type_name(back.type), "?");
        for (size_t cut = 0; cut < length; cut++)
            ck_assert_int_ne(pvma_overlay_decode(&back, wire, cut), 0);
        wire[0] = 9;
        ck_assert_int_eq(pvma_overlay_decode(&back, wire, length), PVMC_EVERSION);
        wire[0] = 1;
        wire[1] = 99;
        ck_assert_int_ne(pvma_overlay_decode(&back, wire, length), 0);
    }
}
END_TEST

/* Sends octets on a station's VC to its server, as a broken host would, or from the server to the station. */
static void inject(struct site *site, bool to_server, const struct pvma_overlay_message *m)
{
    struct pvma_overlay_station *station = &site->overlay->stations[4]; /* h1 */
    struct pvma_hop_end *from = to_server ? station->end : station->server_end;
    uint8_t wire[PVMA_OVERLAY_MAX];
    struct pvma_overlay_message message = *m;
    message.epoch = from->hop->epoch;
    message.sequence = from->next++;
    ck_assert_int_eq(pvma_vc_send(from->vc, wire, pvma_overlay_encode(&message, wire), 0), 0);
    pvma_sim_run(site->lab.sim);
}

/* Messages that make no sense where they arrive change nothing, and what works goes on. */
START_TEST(wrong_messages)
{
    struct site site;
    static const char *const shapes[] = {"overlay ring", "overlay tree"};
    for (int shape = 0; shape < 2; shape++) {
        open_site(&site, " vcis=1", shapes[shape]);
        connect_two(&site, "h1", "h8");
        pvma_vc_send(site.overlay->stations[4].end->vc, "\1\1\0", 3, 0);
        pvma_vc_send(site.overlay->stations[4].end->vc, "", 0, 0);
        pvma_vc_send(site.overlay->stations[4].end->vc, "\1\1\77\0\0\0\0\0x", 9, 0); /* a packet of no connection */
        pvma_vc_send(site.overlay->stations[4].end->vc, "\1\2\0\0\0\0\0\7", 8, 0);   /* of another epoch */
        pvma_vc_send(site.overlay->stations[4].end->vc, "\1\1\2\0\0\0\0\7x", 9, 0);
        pvma_sim_run(site.lab.sim);
        ck_assert_uint_eq(count(&site).malformed, 4);
        ck_assert_uint_eq(count(&site).late, 1);
        for (int type = PVMA_OVERLAY_ACK; type <= PVMA_OVERLAY_RELEASED; type++) {
            for (int i = 0; i < 32; i++) {
                struct pvma_overlay_message m = {.type = (enum pvma_overlay_type)type,
                                                 .mid = (uint16_t)(50 + i),
                                                 .number = (uint32_t)i,
                                                 .caller = {(uint32_t)i % 3, (uint32_t)i},
                                                 .called = {(uint32_t)i % 2, 9},
                                                 .origin = (uint16_t)(i % 5 * 200),
                                                 .server = (uint16_t)(i % 7),
                                                 .hops = (uint16_t)(i % 2 * 60000),
                                                 .turned = i % 4 == 0,
                                                 .contract = {.aal = PVMA_AAL5}};
                inject(&site, i % 2, &m);
            }
        }
        exchange(&site, &a, 2, 100);
        ck_assert_int_eq(a.ended, 0);
        site_close(&site);
    }
}
END_TEST

/* An end that cannot take a set-up says so, or the caller would wait for ever. */
START_TEST(a_refused_set_up_is_answered)
{
    enum { MIDS = 8 };
    for (int at_station = 0; at_station < 2; at_station++) {
        struct site site;
        open_site(&site, " vcis=1", "overlay ring");
        struct pvma_overlay_station *caller = &site.overlay->stations[4], *called = &site.overlay->stations[11];
        struct pvma_hop_end *end = at_station ? called->end : caller->server_end;
        forget_ends();
        end_listen(&site, "h8", &b);
        for (uint16_t mid = 1; mid <= MIDS; mid++)
            pvma_hop_note_mid(end, mid, &site); /* all that the other end may give first are taken */
        end_call(&site, "h1", "h8", &a);
        pvma_sim_run(site.lab.sim);
        ck_assert_int_eq(a.ended, 1);
        ck_assert_int_eq(a.cause, PVMA_CAUSE_NO_VCI);
        ck_assert_uint_eq(count(&site).refused, 1);
        for (uint16_t mid = 1; mid <= MIDS; mid++)
            if (pvma_hop_mid(end, mid))
                pvma_vctable_remove(&end->mids, 0, mid);
        nothing_is_left(&site);
        site_close(&site);
    }
}
END_TEST

/* Cells are lost: signalling messages come again, so all connect, are released, and leave nothing. */
START_TEST(loss)
{
    struct site site;
    const char *text = "host p[1-4]\nhost h[1-8] vcis=1\nswitch s\nlink p[1-4] s loss=0.05\nlink h[1-8] s loss=0.05\n"
                       "server q[1-4] at=p[1-4]\noverlay %s retry=20ms\n";
    for (int tree = 0; tree < 2; tree++) {
        char whole[400];
        struct end ends[8] = {{0}};
        snprintf(whole, sizeof whole, text, tree ? "tree" : "ring");
        site_open(&site, whole);
        forget_ends();
        end_listen(&site, "h8", &b);
        for (int round = 0; round < 20; round++) {
            for (int i = 1; i < 8; i++) {
                char name[4];
                snprintf(name, sizeof name, "h%d", i);
                end_call(&site, name, "h8", &ends[i]);
            }
            pvma_sim_run(site.lab.sim);
            for (int i = 1; i < 8; i++) {
                ck_assert_int_eq(ends[i].connected, round + 1);
                end_leave(&ends[i]);
            }
            nothing_is_left(&site);
        }
        ck_assert_uint_gt(count(&site).repeated, 0);
        site_close(&site);
    }
}
END_TEST

UNIT_MAIN("atm_overlay", ways, direct_in_a_tree, relayed, a_ring_relays_to_other_servers, identifiers_run_out,
          other_contracts, refusals, released_at_any_time, full_queues, few_messages_wait, mids_run_out, messages,
          wrong_messages, a_refused_set_up_is_answered, loss)
