/* test_atm_ip.c - packets as bytes, fragments of datagrams, and the processor that all protocols share. */
#include <stdlib.h>
#include "atm/src/lan/cpu.h"
#include "atm/src/ip/udp.h"
#include "unit.h"
#include "wire.h"

enum { MTU = 1500, PORT = 9 };

static const struct pvma_host_costs free_of_charge;

START_TEST(packets_survive_their_encoding)
{
    struct pvma_packet *packet = pvma_packet_new(3), *copy;
    uint8_t bytes[64];

    packet->protocol = PVMA_TCP;
    packet->source = 1;
    packet->destination = 258;
    packet->source_port = 1024;
    packet->destination_port = 80;
    packet->sequence = 0xfffffffe;
    packet->acknowledged = 77;
    packet->window = 32768;
    memcpy(packet->data, "abc", 3);
    ck_assert_uint_eq(pvma_packet_bytes(packet), 43);
    pvma_packet_encode(packet, bytes);
    ck_assert_uint_eq(bytes[0], 0x45);
    ck_assert_mem_eq(bytes + 16, "\x0a\0\1\2", 4); /* 10.0.1.2 */
    copy = pvma_packet_decode(bytes, 43);
    ck_assert_ptr_nonnull(copy);
    ck_assert_uint_eq(copy->sequence, 0xfffffffe);
    ck_assert_uint_eq(copy->destination, 258);
    ck_assert_uint_eq(copy->window, 32768);
    ck_assert_mem_eq(copy->data, "abc", 3);
    free(copy);
    free(packet);
}
END_TEST

/* 4500+007b+4011+0a00+0001+0a00+0002 = 998f, by hand. */
START_TEST(check_sums_are_those_of_the_internet)
{
    struct pvma_packet *packet = pvma_packet_new(95);
    uint8_t bytes[123];

    packet->protocol = PVMA_UDP;
    packet->source = 1;
    packet->destination = 2;
    pvma_packet_encode(packet, bytes);
    ck_assert_uint_eq(bytes[10] << 8 | bytes[11], 0x6670);
    free(packet);
}
END_TEST

START_TEST(every_wrong_bit_is_seen)
{
    struct pvma_packet *packet = pvma_packet_new(9);
    uint8_t bytes[64];
    uint32_t length;

    packet->protocol = PVMA_TCP;
    memcpy(packet->data, "123456789", 9);
    pvma_packet_encode(packet, bytes);
    length = pvma_packet_bytes(packet);
    for (uint32_t bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_ptr_null(pvma_packet_decode(bytes, length));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (uint32_t cut = 0; cut < length; cut++)
        ck_assert_ptr_null(pvma_packet_decode(bytes, cut));
    free(packet);
}
END_TEST

struct datagrams {
    struct wire wire;
    struct pvma_udp a, b;
    uint32_t length;
    unsigned good;
};

static void sender(void *arg)
{
    struct datagrams *d = arg;
    uint8_t *data = malloc(d->length);

    for (uint32_t i = 0; i < d->length; i++)
        data[i] = (uint8_t)(i * 3);
    for (int i = 0; i < 4; i++)
        pvma_udp_send(&d->a, 2, PORT, data, d->length);
    free(data);
}

static void receiver(void *arg)
{
    struct datagrams *d = arg;

    for (;;) {
        struct pvma_packet *packet = pvma_udp_receive(&d->b);

        ck_assert_uint_eq(packet->length, d->length);
        for (uint32_t i = 0; i < d->length; i++)
            ck_assert_uint_eq(packet->data[i], (uint8_t)(i * 3));
        d->good++;
        free(packet);
    }
}

static void exchange(struct datagrams *d)
{
    d->wire.delay = PVMA_US;
    wire_open(&d->wire, MTU, &free_of_charge);
    pvma_udp_open(&d->a, &d->wire.stations[0], 0, 100000);
    pvma_udp_open(&d->b, &d->wire.stations[1], PORT, 100000);
    wire_process(&d->wire, receiver, d);
    wire_process(&d->wire, sender, d);
    wire_run(&d->wire, PVMA_S);
    pvma_udp_close(&d->a);
    pvma_udp_close(&d->b);
    wire_close(&d->wire);
}

START_TEST(datagrams_are_cut_and_put_together)
{
    static const uint32_t lengths[] = {0, 1, 1472, 1473, 4096, 8192};
    static const unsigned fragments[] = {1, 1, 1, 2, 3, 6};
    struct datagrams d = {.length = lengths[_i]};

    exchange(&d);
    ck_assert_uint_eq(d.good, 4);
    ck_assert_uint_eq(d.wire.packets, 4 * fragments[_i]);
}
END_TEST

static bool loses_the_second(struct wire *wire, const uint8_t *packet, uint32_t length)
{
    (void)packet;
    (void)length;
    return wire->packets == 2;
}

START_TEST(a_lost_fragment_costs_its_datagram)
{
    struct datagrams d = {.length = 8192, .wire.loses = loses_the_second};

    exchange(&d);
    ck_assert_uint_eq(d.good, 3);
}
END_TEST

static pvma_ps done_at[4];
static unsigned done_count;

static void done(void *arg)
{
    done_at[done_count++] = pvma_sim_now(arg);
}

/* A process of 10 us, interrupted at 4 us for 3 us, ends at 13 us; a second one runs after it. */
START_TEST(interrupts_suspend_processes)
{
    struct pvma_sim *sim = pvma_sim_new(1);
    struct pvma_cpu cpu;

    pvma_cpu_init(&cpu, sim);
    pvma_cpu_run(&cpu, PVMA_CPU_PROCESS, 10 * PVMA_US, done, sim);
    pvma_cpu_run(&cpu, PVMA_CPU_PROCESS, 2 * PVMA_US, done, sim);
    pvma_sim_run_until(sim, 4 * PVMA_US);
    pvma_cpu_run(&cpu, PVMA_CPU_INTERRUPT, 3 * PVMA_US, done, sim);
    pvma_sim_run(sim);
    ck_assert_int_eq(done_at[0], 7 * PVMA_US);
    ck_assert_int_eq(done_at[1], 13 * PVMA_US);
    ck_assert_int_eq(done_at[2], 15 * PVMA_US);
    ck_assert_int_eq(cpu.busy[PVMA_CPU_PROCESS], 12 * PVMA_US);
    ck_assert_int_eq(cpu.busy[PVMA_CPU_INTERRUPT], 3 * PVMA_US);
    pvma_cpu_clear(&cpu);
    pvma_sim_free(sim);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("atm_ip");
    TCase *all = tcase_create("atm_ip");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(all, 30);
    tcase_add_test(all, packets_survive_their_encoding);
    tcase_add_test(all, check_sums_are_those_of_the_internet);
    tcase_add_test(all, every_wrong_bit_is_seen);
    tcase_add_loop_test(all, datagrams_are_cut_and_put_together, 0, 6);
    tcase_add_test(all, a_lost_fragment_costs_its_datagram);
    tcase_add_test(all, interrupts_suspend_processes);
    suite_add_tcase(suite, all);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
