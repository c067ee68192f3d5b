/*
 * test_services.c - connections by ECE over networks, and the experiment of chapter 6 of the thesis: latency, what is
 * sent by each service, and that nothing is lost.
 */
#include "atm/src/lab/services.h"
#include "atm/src/nodes/link_failure.h"
#include "sides.h"

#define NETWORK(profile, switched, linked)                                                                             \
    "host a profile=" profile "\nhost b profile=" profile "\nswitch s " switched "\nlink a s " linked                  \
    "\nlink b s " linked                                                                                               \
    "\npvc a b aal=raw\npvc a b aal=raw service=abr peak=50M\npvc a b aal=raw service=vbr mean=1M\n"

static const enum pvma_protocol protocols[] = {PVMA_ECE_SWITCHING, PVMA_ECE_DUPLICATING};

static void open_ece(const char *text, enum pvma_protocol protocol)
{
    struct pvma_connection_settings settings = pvma_connection_defaults(protocol);
    settings.window_bytes = 20000;
    open_both(text, &settings);
}

/* Table 6.4 of the thesis. */
START_TEST(times_of_the_thesis)
{
    for (int i = 0; i < 2; i++) {
        open_ece(NETWORK("thesis-ch6", "latency=500ns", "rate=140M"), protocols[i]);
        a.write = b.echo = 8;
        write_more(&a);
        pvma_sim_run(lab.sim);
        ck_assert_int_eq(lab_ns(b.last), 35557);
        ck_assert_int_eq(lab_ns(a.last), 71114);
        close_both();
    }
}
END_TEST

/* In both directions, with a cell in twenty lost, control cells too; at the end nothing is scheduled. */
START_TEST(every_octet_in_order)
{
    for (int i = 0; i < 2; i++) {
        open_ece(NETWORK("thesis-ch6", "latency=500ns", "loss=0.05"), protocols[i]);
        a.write = b.write = 60000;
        write_more(&a);
        write_more(&b);
        pvma_sim_run(lab.sim);
        ck_assert_uint_eq(a.got, 60000);
        ck_assert_uint_eq(b.got, 60000);
        const struct pvma_connection_statistics *count = pvma_connection_statistics(a.connection);
        ck_assert_uint_eq(count->refused, 0);
        ck_assert_uint_eq(count->sds, 60000 / 24); /* three items in a cell */
        ck_assert_uint_eq(count->received, 60000 / 24);
        ck_assert_uint_gt(count->again, 0);
        close_both();
    }
}
END_TEST

/* Latency that grows makes a connection use the backup VC, and what each service carried is counted. */
START_TEST(services_are_counted)
{
    for (int i = 0; i < 2; i++) {
        open_ece(NETWORK("ideal", "latency=200us", "rate=155M"), protocols[i]);
        a.write = 24000;
        write_more(&a);
        pvma_sim_run(lab.sim);
        const struct pvma_connection_statistics *count = pvma_connection_statistics(a.connection);
        ck_assert_uint_eq(count->modes, 1);
        ck_assert_uint_gt(count->backup_sds, 100);
        ck_assert_uint_eq(count->ordinary_sds + count->backup_sds, 1000 + count->replicas + count->again);
        ck_assert(protocols[i] == PVMA_ECE_DUPLICATING || count->replicas == 0);
        uint64_t rm = pvma_host_counters(pvma_net_host(lab.net, "a"))->rm_sent;
        ck_assert_uint_eq(count->abr_bytes, (count->backup_sds + rm + (i ? 0 : count->polls)) * 53);
        ck_assert_uint_eq(pvma_connection_statistics(b.connection)->vbr_bytes % 53, 0);
        ck_assert_uint_eq(pvma_connection_statistics(b.connection)->lstats, 1);
        close_both();
    }
}
END_TEST

START_TEST(ends)
{
    for (int i = 0; i < 2; i++) {
        open_ece(NETWORK("ideal", "", ""), protocols[i]);
        a.write = 1000;
        write_more(&a);
        pvma_sim_run(lab.sim);
        pvma_connection_free(a.connection);
        a.connection = NULL;
        pvma_sim_run(lab.sim);
        ck_assert_int_eq(b.lost, PVMA_CAUSE_NORMAL);
        close_both();
        open_ece(NETWORK("ideal", "", ""), protocols[i]);
        pvma_link_fail(pvma_net_link(lab.net, "a", "s"));
        a.write = 1000;
        write_more(&a);
        pvma_sim_run_until(lab.sim, 59 * PVMA_S);
        ck_assert_int_eq(a.lost, 0);
        pvma_sim_run(lab.sim);
        ck_assert_int_eq(a.lost, PVMA_CAUSE_TIMEOUT);
        close_both();
    }
}
END_TEST

/* ---- chapter 6 ---- */

static struct services_result run(enum services_kind kind, double load, unsigned count)
{
    struct services_message *messages = services_trace(SERVICES_PDE1, count, 1);
    struct services_setup setup = services_defaults(kind);
    setup.messages = messages;
    setup.count = count;
    setup.load = load;
    setup.on_mean = 20 * PVMA_MS; /* few messages meet many states */
    struct services_result result = services_run(&setup);
    free(messages);
    ck_assert(result.ended);
    return result;
}

/* Without load: PDE1's rate of Table 6.5, 32/31 of it by ABR, and none of it by ABR if latency decides. */
START_TEST(an_idle_network)
{
    struct services_result ubr = run(SERVICES_UBR, 0, 60), abr = run(SERVICES_ABR, 0, 60);
    ck_assert_double_eq_tol(ubr.ubr_came_kbps, 266.4, 0.02 * 266.4);
    ck_assert_double_eq_tol(abr.abr_kbps / ubr.ubr_kbps, 32.0 / 31, 0.002);
    for (enum services_kind kind = SERVICES_SWITCHING; kind <= SERVICES_DUPLICATING; kind++) {
        struct services_result ece = run(kind, 0, 60);
        ck_assert_double_eq(ece.abr_kbps, 0);
        ck_assert_double_eq_tol(ece.ubr_came_kbps, ubr.ubr_came_kbps, 0.02 * ubr.ubr_came_kbps);
        ck_assert_double_eq_tol(ece.vbr_kbps, 4.24, 0.5); /* a STAT each 0.1 s */
        ck_assert_uint_eq(ece.lstats, 0);
    }
}
END_TEST

/* An overloaded one: ABR loses nothing; both ECEs come close to it, and use less of it. */
START_TEST(an_overloaded_network)
{
    struct services_result ubr = run(SERVICES_UBR, 1.05, 16), abr = run(SERVICES_ABR, 1.05, 16);
    ck_assert_double_eq(abr.loss, 0);
    ck_assert_double_gt(ubr.loss, 0.05);
    ck_assert_double_gt(ubr.latency_us, 4 * abr.latency_us);
    for (enum services_kind kind = SERVICES_SWITCHING; kind <= SERVICES_DUPLICATING; kind++) {
        struct services_result ece = run(kind, 1.05, 16);
        ck_assert_uint_gt(ece.lstats, 0);
        ck_assert_double_gt(ece.abr_share, 0.2);
        ck_assert_double_lt(ece.abr_share, 1);
        ck_assert_double_lt(ece.latency_us, ubr.latency_us);
        ck_assert_uint_eq(ece.abr_lost, 0);
    }
}
END_TEST

UNIT_MAIN("services", times_of_the_thesis, every_octet_in_order, services_are_counted, ends, an_idle_network,
          an_overloaded_network)
