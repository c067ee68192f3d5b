/*
 * test_connection.c - connections over a simulated network: the thesis's times, loss in both directions, useless cells,
 * silent and hostile peers, and what each side is told at the end.
 */
#include "atm/src/assured/pcaal.h"
#include "atm/src/base/random.h"
#include "atm/src/nodes/link_failure.h"
#include "sides.h"

static const struct pvma_connection_statistics *count(struct side *side)
{
    return pvma_connection_statistics(side->connection);
}

static const enum pvma_protocol protocols[] = {PVMA_SSCOP, PVMA_PCAAL_1, PVMA_PCAAL_N};

/* "aal=5" or "aal=raw", for a PVC. */
static const char *layer(enum pvma_protocol protocol)
{
    return pvma_protocol_aal(protocol) == PVMA_AAL5 ? "5" : "raw";
}

/* ---- times ---- */

static void echo(enum pvma_protocol protocol, size_t bytes, pvma_ps *there, pvma_ps *back)
{
    char text[400];
    struct pvma_connection_settings settings = pvma_connection_defaults(protocol);
    snprintf(text, sizeof text,
             "host a profile=thesis-ch5-frames\nhost b profile=thesis-ch5-frames\nswitch s latency=500ns\n"
             "link a s rate=140M\nlink b s rate=140M\npvc a b aal=%s\n",
             layer(protocol));
    open_both(text, &settings);
    b.echo = bytes;
    a.write = bytes;
    write_more(&a);
    pvma_sim_run(lab.sim);
    *there = b.last;
    *back = a.last;
    close_both();
}

/* Table 5.6 of the thesis, in nanoseconds. Its round trip of 29 cells is 31 ns less than twice the latency. */
START_TEST(times_of_the_thesis)
{
    static const struct {
        enum pvma_protocol protocol;
        size_t bytes; /* 29 cells: 29 x 48 - 8 of AAL5 - 4 of SSCOP */
        long there, back;
    } rows[] = {{PVMA_SSCOP, 36, 37257, 74514},
                {PVMA_SSCOP, 1380, 337686, 675341},
                {PVMA_PCAAL_1, 8, 37257, 74514},
                {PVMA_PCAAL_N, 24, 37257, 74514}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pvma_ps there, back;
        echo(rows[i].protocol, rows[i].bytes, &there, &back);
        ck_assert_int_le(labs(lab_ns(there) - rows[i].there), rows[i].there / 1000);
        ck_assert_int_le(labs(lab_ns(back) - rows[i].back), rows[i].back / 1000);
    }
}
END_TEST

/* Table 5.3: 100 us to send a PDU, 50 us more to send it again, 175 us to receive it, 0.85 us for each bus. */
START_TEST(costs_of_the_thesis)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    open_both("host a profile=thesis-host\nhost b profile=thesis-host\nlink a b\npvc a b aal=raw\n", &settings);
    pvma_ps once = 275 * PVMA_US + 2 * 850 * PVMA_NS + pvma_link_cell_time(PVMA_RATE_OC3);
    a.write = 8;
    write_more(&a);
    pvma_sim_run_until(lab.sim, PVMA_MS);
    ck_assert_int_eq(b.last, once);
    pvma_link_fail(pvma_net_link(lab.net, "a", "b"));
    a.write += 8;
    write_more(&a);
    pvma_sim_run_until(lab.sim, 2 * PVMA_MS);
    pvma_link_restore(pvma_net_link(lab.net, "a", "b"));
    pvma_sim_run(lab.sim);
    /* POLL at T_POLL after the first write, its STAT, and the SD again */
    ck_assert_int_eq(b.last, settings.poll_interval + 3 * once + 50 * PVMA_US);
    ck_assert_uint_eq(count(&a)->again_stat, 1);
    close_both();
}
END_TEST

/* ---- loss ---- */

static void run_lossy(enum pvma_protocol protocol, double loss, unsigned mtu, size_t bytes)
{
    char text[400];
    struct pvma_connection_settings settings = pvma_connection_defaults(protocol);
    settings.poll_interval = 5 * PVMA_MS;
    snprintf(text, sizeof text,
             "profile p like=ideal mtu=%u\nhost a profile=p\nhost b profile=p\nlink a b loss=%g\npvc a b aal=%s\n", mtu,
             loss, layer(protocol));
    open_both(text, &settings);
    a.write = bytes;
    b.write = bytes / 3;
    a.item = 4;
    write_more(&a);
    write_more(&b);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(a.got, b.write);
    ck_assert_uint_eq(b.got, a.write);
    ck_assert_uint_eq(pvma_connection_unacknowledged(a.connection), 0);
    ck_assert_uint_eq(pvma_connection_unacknowledged(b.connection), 0);
    ck_assert(!a.lost && !b.lost);
    ck_assert_uint_eq(count(&a)->refused + count(&b)->refused, 0);
}

START_TEST(every_octet_in_order)
{
    static const double losses[] = {1e-4, 0.01, 0.1, 0.5};
    for (size_t p = 0; p < sizeof protocols / sizeof protocols[0]; p++) {
        for (size_t l = 0; l < sizeof losses / sizeof losses[0]; l++) {
            /* At a loss of a tenth, one of 38,000 frames of 5000 octets comes whole: then frames have 2 or 3 cells. */
            unsigned mtu = losses[l] < 0.05 ? PVMA_PDU_MAX : 100;
            run_lossy(protocols[p], losses[l], mtu, 60000);
            close_both();
        }
    }
}
END_TEST

/* R-16 of the thesis: frames of many cells bring useless ones, cells that are frames do not. */
START_TEST(useless_cells)
{
    run_lossy(PVMA_SSCOP, 0.01, PVMA_PDU_MAX, 200000);
    ck_assert_uint_gt(count(&b)->useless_cells, 500);
    close_both();
    run_lossy(PVMA_PCAAL_N, 0.01, PVMA_PDU_MAX, 200000);
    ck_assert_uint_eq(count(&b)->useless_cells, 0);
    close_both();
}
END_TEST

/* cells sent again are those that were lost, and those that came although they were asked for once more. */
START_TEST(only_what_was_lost_is_sent_again)
{
    struct pvma_net_counters counters;
    run_lossy(PVMA_PCAAL_N, 0.05, PVMA_PDU_MAX, 100000);
    pvma_net_count(lab.net, &counters);
    ck_assert_uint_gt(count(&a)->again, 0);
    ck_assert_uint_le(count(&a)->again + count(&b)->again,
                      counters.links.lost + count(&a)->duplicates + count(&b)->duplicates);
    close_both();
}
END_TEST

/* Damaged cells of a raw VC are seen by PC-AAL's own checksum. */
START_TEST(bit_errors)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    settings.poll_interval = 5 * PVMA_MS;
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b ber=1e-4\npvc a b aal=raw\n", &settings);
    a.write = 50000;
    write_more(&a);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(b.got, a.write);
    ck_assert_uint_gt(count(&b)->refused, 10);
    ck_assert_uint_eq(count(&b)->useless_cells, count(&b)->refused);
    close_both();
}
END_TEST

/* Data are there as soon as their cell is: with PC-AAL long before the last cell, with SSCOP all at once. */
START_TEST(each_cell_is_usable)
{
    char text[200];
    for (size_t p = 0; p < sizeof protocols / sizeof protocols[0]; p++) {
        struct pvma_connection_settings settings = pvma_connection_defaults(protocols[p]);
        snprintf(text, sizeof text, "host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=%s\n",
                 layer(protocols[p]));
        open_both(text, &settings);
        a.write = 4800;
        write_more(&a);
        pvma_sim_run_until(lab.sim, 20 * pvma_link_cell_time(PVMA_RATE_OC3));
        static const size_t octets[] = {0, 20 * 8, 20 * 24};
        ck_assert_uint_eq(b.got, octets[p]);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(b.got, 4800);
        close_both();
    }
}
END_TEST

/* What waits in the adapter cannot be overtaken: an SD that is sent again passes all that was written before. */
START_TEST(old_data_overtake)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    open_both("profile p like=ideal tx_pdu=100us\nhost a profile=p\nhost b profile=p\nlink a b\npvc a b aal=raw\n",
              &settings);
    a.write = 100 * 24;
    write_more(&a);
    ck_assert_uint_eq(pvma_vc_queued(pvma_net_pvc_end(lab.net, 0, false)), 2);
    pvma_link_fail(pvma_net_link(lab.net, "a", "b"));
    pvma_sim_run_until(lab.sim, 150 * PVMA_US); /* the first is lost */
    pvma_link_restore(pvma_net_link(lab.net, "a", "b"));
    pvma_sim_run_until(lab.sim, 1000 * PVMA_US);
    ck_assert_uint_eq(count(&a)->again_ustat, 1);
    ck_assert_uint_gt(b.got, 5 * 24);
    ck_assert_uint_lt(b.got, 12 * 24);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(b.got, a.write);
    close_both();
}
END_TEST

/* Each octet's place in its message crosses with it; a cell has octets of one message. */
START_TEST(places)
{
    static const size_t taken[] = {10, 10, 4, 7, 7, 7};
    static const uint32_t tags[] = {5, 5, 5, 6, 6, 6}, offsets[] = {100, 110, 120, 1000, 1007, 1014};
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    struct pvma_place place = {.tag = 5, .offset = 100, .item_bytes = 8};
    uint8_t data[40] = {0};
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=raw\n", &settings);
    b.deaf = true;
    ck_assert_uint_eq(pvma_connection_write(a.connection, data, 24, &place), 24);
    place = (struct pvma_place){.tag = 6, .offset = 1000, .item_bytes = 7};
    ck_assert_uint_eq(pvma_connection_write(a.connection, data, 21, &place), 21);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(count(&a)->sds, 2);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        ck_assert(pvma_connection_next_place(b.connection, &place));
        ck_assert_uint_eq(place.tag, tags[i]);
        ck_assert_uint_eq(place.offset, offsets[i]);
        ck_assert_uint_eq(pvma_connection_read(b.connection, data, taken[i]), taken[i]);
    }
    ck_assert(!pvma_connection_next_place(b.connection, &place));
    close_both();
}
END_TEST

/* ---- limits ---- */

/* A reader that reads nothing stops the writer within the two windows; reading goes on where it stopped. */
START_TEST(a_deaf_reader)
{
    for (size_t p = 0; p < sizeof protocols / sizeof protocols[0]; p++) {
        char text[200];
        struct pvma_connection_settings settings = pvma_connection_defaults(protocols[p]);
        settings.window_bytes = 20000;
        settings.poll_interval = 5 * PVMA_MS;
        snprintf(text, sizeof text,
                 "profile p like=ideal mtu=4096\nhost a profile=p\nhost b profile=p\nlink a b\n"
                 "pvc a b aal=%s\n",
                 layer(protocols[p]));
        open_both(text, &settings);
        a.write = 200000;
        b.deaf = true;
        write_more(&a);
        pvma_sim_run_until(lab.sim, PVMA_S);
        ck_assert_uint_le(a.written, 3 * 20000);
        ck_assert_uint_le(pvma_connection_readable(b.connection), 2 * 20000);
        b.deaf = false;
        read_all(&b);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(b.got, 200000);
        ck_assert_uint_eq(count(&b)->refused, 0);
        close_both();
    }
}
END_TEST

/* A program's later connections have a small window, and the peer does not know: it may send more than is taken. */
START_TEST(windows_differ)
{
    for (size_t p = 0; p < sizeof protocols / sizeof protocols[0]; p++) {
        char text[200];
        struct pvma_connection_settings large = pvma_connection_defaults(protocols[p]), small = large;
        small.window_bytes = 64 << 10;
        snprintf(text, sizeof text, "host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=%s\n",
                 layer(protocols[p]));
        lab_open(&lab, text, 1);
        open_side(&a, false, &large);
        open_side(&b, true, &small);
        b.deaf = true;
        a.write = 300000;
        write_more(&a);
        pvma_sim_run_until(lab.sim, PVMA_S);
        b.deaf = false;
        read_all(&b);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(b.got, 300000);
        ck_assert(!a.lost && !b.lost);
        ck_assert_int_lt(b.last, 3 * PVMA_S); /* not one small window for each T_POLL */
        close_both();
    }
}
END_TEST

/* A connection that is about to end does not wait for T_POLL. */
START_TEST(the_last_poll_is_at_once)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=raw\n", &settings);
    a.write = 1000;
    write_more(&a);
    pvma_connection_finish(a.connection);
    pvma_sim_run(lab.sim);
    ck_assert_uint_eq(b.got, 1000);
    ck_assert_uint_eq(pvma_connection_unacknowledged(a.connection), 0);
    ck_assert_uint_eq(count(&a)->polls, 1);
    ck_assert_int_lt(pvma_sim_now(lab.sim), PVMA_MS);
    close_both();
}
END_TEST

/* A peer that answers nothing: POLLs go on until patience is over, then both sides know. */
START_TEST(a_silent_peer)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_SSCOP);
    settings.patience = 10 * PVMA_S;
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b\n", &settings);
    pvma_link_fail(pvma_net_link(lab.net, "b", "a")); /* nothing comes back */
    a.write = 100;
    write_more(&a);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.lost, PVMA_CAUSE_TIMEOUT);
    ck_assert_int_eq(b.lost, PVMA_CAUSE_TIMEOUT);
    ck_assert_int_eq(pvma_sim_now(lab.sim) / PVMA_S, 10);
    ck_assert_uint_eq(count(&a)->polls, 19); /* at 0.5 s, 1 s ... 9.5 s after the write */
    ck_assert_uint_eq(b.got, 100);
    ck_assert_uint_eq(pvma_connection_write(a.connection, "x", 1, &(struct pvma_place){.item_bytes = 1}), 0);
    close_both();
}
END_TEST

/* The first POLL may come later than patience would end. */
START_TEST(rare_polls)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_SSCOP);
    settings.poll_interval = settings.patience;
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b\n", &settings);
    a.write = 8;
    write_more(&a);
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(a.lost, 0);
    ck_assert_uint_eq(count(&a)->polls, 1);
    ck_assert_uint_eq(pvma_connection_unacknowledged(a.connection), 0);
    close_both();
}
END_TEST

START_TEST(an_idle_connection_schedules_nothing)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    open_both("host a\nhost b\nlink a b\npvc a b aal=raw\n", &settings);
    ck_assert_int_eq(pvma_sim_next(lab.sim), PVMA_NEVER);
    a.write = 100;
    write_more(&a);
    pvma_sim_run(lab.sim);
    ck_assert_int_lt(pvma_sim_now(lab.sim), settings.poll_interval + PVMA_MS);
    ck_assert_uint_eq(count(&a)->polls, 1);
    close_both();
}
END_TEST

START_TEST(the_peer_is_told)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    open_both("host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=raw\n", &settings);
    b.deaf = true;
    a.write = 1000;
    write_more(&a);
    pvma_sim_run(lab.sim);
    pvma_connection_free(a.connection);
    a.connection = NULL;
    pvma_sim_run(lab.sim);
    ck_assert_int_eq(b.lost, PVMA_CAUSE_NORMAL);
    read_all(&b); /* what came is there */
    ck_assert_uint_eq(b.got, 1000);
    close_both();
}
END_TEST

/* A peer that sends whatever it likes: no octet is taken from it, no memory, and no answer is owed. */
START_TEST(a_hostile_peer)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(PVMA_PCAAL_N);
    struct pvma_connection_vcs vcs;
    static const struct pvma_pcaal format = {.several = true};
    struct pvma_random random;
    lab_open(&lab, "host a profile=ideal\nhost b profile=ideal\nlink a b\npvc a b aal=raw\n", 1);
    struct pvma_vc *stranger = pvma_net_pvc_end(lab.net, 0, true);
    vcs = (struct pvma_connection_vcs){.ordinary = pvma_net_pvc_end(lab.net, 0, false)};
    a = (struct side){.item = 8, .deaf = true};
    a.connection = pvma_connection_new(&vcs, &settings, &side_events, &a);
    pvma_random_init(&random, 1, "hostile");
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t cell[PVMA_PCAAL_BYTES];
        struct pvma_pdu pdu = {.type = i % 3 == 0   ? PVMA_SD
                                       : i % 3 == 1 ? PVMA_STAT
                                                    : PVMA_USTAT,
                               .n = (int64_t)pvma_random_next(&random) | 1 << 30,
                               .poll = (int64_t)pvma_random_next(&random),
                               .laf = (int64_t)pvma_random_next(&random),
                               .data = cell,
                               .length = 8,
                               .elements = 2};
        for (unsigned e = 0; e < pdu.elements; e++)
            pdu.list[e] = (int64_t)pvma_random_next(&random);
        pvma_pcaal_encode(&format, &pdu, cell);
        if (i % 4 == 0)
            cell[i % 48] ^= 1;
        ck_assert_int_eq(pvma_vc_send(stranger, cell, sizeof cell, 0), 0);
        pvma_sim_run(lab.sim);
    }
    ck_assert_uint_eq(count(&a)->refused + count(&a)->duplicates, 3000);
    ck_assert_uint_eq(pvma_connection_readable(a.connection), 0);
    ck_assert(!a.lost);
    pvma_connection_free(a.connection);
    lab_close(&lab);
}
END_TEST

UNIT_MAIN("connection", times_of_the_thesis, costs_of_the_thesis, every_octet_in_order, useless_cells,
          only_what_was_lost_is_sent_again, bit_errors, each_cell_is_usable, old_data_overtake, places, a_deaf_reader,
          windows_differ, the_last_poll_is_at_once, a_silent_peer, rare_polls, an_idle_connection_schedules_nothing,
          the_peer_is_told, a_hostile_peer)
