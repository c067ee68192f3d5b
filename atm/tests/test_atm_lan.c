/* test_atm_lan.c - Ethernet: collisions, capacity, fairness. FDDI: the token's rotation, capacity, fairness. */
#include "atm/src/lan/ethernet.h"
#include "atm/src/lan/fddi.h"
#include "atm/src/lan/fiber.h"
#include "atm/src/ip/udp.h"
#include "unit.h"

enum { STATIONS = 6, PORT = 9, PACKET = 1400 };

/* Stations that send to their neighbours as fast as they can. */
struct lan {
    struct pvma_sim *sim;
    struct pvma_station stations[STATIONS];
    struct pvma_udp sockets[STATIONS];
    struct pvma_fiber *senders[STATIONS];
    uint64_t received[STATIONS]; /* bytes of datagrams */
};

struct sender {
    struct lan *lan;
    unsigned number;
};

static struct sender senders[STATIONS];

static void greedy(void *arg)
{
    const struct sender *s = arg;
    struct pvma_station *station = &s->lan->stations[s->number];
    uint8_t data[PACKET] = {0};

    for (;;) {
        pvma_udp_send(&s->lan->sockets[s->number], (s->number + 1) % STATIONS + 1, PORT, data, sizeof data);
        pvma_cpu_use(&station->cpu, 300 * PVMA_US);
    }
}

static void begin(void *arg)
{
    pvma_fiber_resume(arg);
}

static void join(struct lan *lan, unsigned i, struct pvma_interface *interface)
{
    static const struct pvma_host_costs free_of_charge;

    pvma_station_init(&lan->stations[i], lan->sim, i + 1, &free_of_charge, interface);
    pvma_udp_open(&lan->sockets[i], &lan->stations[i], PORT, 1 << 30);
}

static void run(struct lan *lan, unsigned active, pvma_ps limit)
{
    for (unsigned i = 0; i < active; i++) {
        senders[i] = (struct sender){lan, i};
        lan->senders[i] = pvma_fiber_new(greedy, &senders[i]);
        pvma_sim_call(lan->sim, 0, begin, lan->senders[i]);
    }
    pvma_sim_run_until(lan->sim, limit);
    for (unsigned i = 0; i < STATIONS; i++)
        lan->received[i] = lan->sockets[i].received * PACKET;
}

static void leave(struct lan *lan)
{
    for (unsigned i = 0; i < STATIONS; i++) {
        pvma_fiber_free(lan->senders[i]);
        pvma_udp_close(&lan->sockets[i]);
        pvma_station_clear(&lan->stations[i]);
    }
}

static uint64_t total(const struct lan *lan)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < STATIONS; i++)
        sum += lan->received[i];
    return sum;
}

/* Jain's index: 1 when all shares are equal. */
static double fairness(const struct lan *lan, unsigned active)
{
    double sum = 0, squares = 0;

    for (unsigned i = 0; i < STATIONS; i++) {
        sum += (double)lan->received[i];
        squares += (double)lan->received[i] * (double)lan->received[i];
    }
    return sum * sum / (active * squares);
}

static struct pvma_ethernet *ethernet(struct lan *lan)
{
    struct pvma_ethernet *net;

    lan->sim = pvma_sim_new(1);
    net = pvma_ethernet_new(lan->sim, PVMA_US, 1);
    for (unsigned i = 0; i < STATIONS; i++)
        join(lan, i, pvma_ethernet_join(net));
    return net;
}

/* A frame of 1400 + 28 + 26 bytes and the gap: 1172.8 us each, to the last bit. */
START_TEST(ethernet_alone_fills_the_cable)
{
    static struct lan lan;
    struct pvma_ethernet *net = ethernet(&lan);

    run(&lan, 1, PVMA_S);
    ck_assert_uint_eq(pvma_ethernet_counters(net)->collisions, 0);
    ck_assert_uint_eq(total(&lan) / PACKET, (uint64_t)(1000000 / (1454 * 0.8 + 1 + 9.6)));
    leave(&lan);
    pvma_ethernet_free(net);
    pvma_sim_free(lan.sim);
}
END_TEST

START_TEST(ethernet_shares_the_cable)
{
    static struct lan lan;
    struct pvma_ethernet *net = ethernet(&lan);

    run(&lan, STATIONS, 20 * PVMA_S);
    ck_assert_uint_gt(pvma_ethernet_counters(net)->collisions, 1000);
    ck_assert_double_gt((double)total(&lan) * 8 / 20e6, 7.0); /* Mbit/s */
    ck_assert_double_gt(fairness(&lan, STATIONS), 0.9);
    leave(&lan);
    pvma_ethernet_free(net);
    pvma_sim_free(lan.sim);
}
END_TEST

START_TEST(ethernet_loses_frames)
{
    static struct lan lan;
    struct pvma_ethernet *net = ethernet(&lan);
    const struct pvma_ethernet_counters *counters = pvma_ethernet_counters(net);

    pvma_ethernet_lose(net, 0.25);
    run(&lan, 1, 4 * PVMA_S);
    ck_assert_uint_eq(total(&lan) / PACKET, counters->frames - counters->lost);
    ck_assert_double_eq_tol((double)counters->lost / (double)counters->frames, 0.25, 0.03);
    leave(&lan);
    pvma_ethernet_free(net);
    pvma_sim_free(lan.sim);
}
END_TEST

static struct pvma_fddi *fddi(struct lan *lan, pvma_ps target)
{
    struct pvma_fddi *net;

    lan->sim = pvma_sim_new(1);
    net = pvma_fddi_new(lan->sim, target, PVMA_US, 1);
    for (unsigned i = 0; i < STATIONS; i++)
        join(lan, i, pvma_fddi_join(net));
    return net;
}

START_TEST(fddi_keeps_its_rotation_time)
{
    static struct lan lan;
    struct pvma_fddi *net = fddi(&lan, 4 * PVMA_MS);

    run(&lan, STATIONS, PVMA_S);
    /* Never above twice the target; without synchronous traffic, above the target by a frame at most. */
    ck_assert_int_le(pvma_fddi_counters(net)->longest_rotation, 4 * PVMA_MS + 200 * PVMA_US);
    ck_assert_uint_ge(pvma_fddi_counters(net)->rotations, 200);
    leave(&lan);
    pvma_fddi_free(net);
    pvma_sim_free(lan.sim);
}
END_TEST

START_TEST(fddi_shares_the_ring_without_loss)
{
    static struct lan lan;
    struct pvma_fddi *net = fddi(&lan, 4 * PVMA_MS);

    run(&lan, STATIONS, PVMA_S);
    ck_assert_double_gt((double)total(&lan) * 8 / 1e6, 90.0);
    ck_assert_double_gt(fairness(&lan, STATIONS), 0.98);
    leave(&lan);
    pvma_fddi_free(net);
    pvma_sim_free(lan.sim);
}
END_TEST

UNIT_MAIN("atm_lan", ethernet_alone_fills_the_cable, ethernet_shares_the_cable, ethernet_loses_frames,
          fddi_keeps_its_rotation_time, fddi_shares_the_ring_without_loss)
