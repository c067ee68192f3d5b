/* udp_echo.c - see udp_echo.h. */
#include <stdlib.h>
#include "udp_echo.h"

enum { PORT = 7, BUFFER = 65536 };

static void ask(void *arg)
{
    static uint8_t data[BUFFER];
    struct udp_echo *e = arg;

    lab_compute(&e->lab, e->client_host, e->begin_us);
    for (unsigned i = 0; i < e->rounds; i++) {
        double start_us = lab_now_us(&e->lab);
        pvma_udp_send(&e->client, e->server_host + 1, PORT, data, e->bytes);
        free(pvma_udp_receive(&e->client));
        stats_add(&e->trips, lab_now_us(&e->lab) - start_us);
        lab_compute(&e->lab, e->client_host, e->pause_us);
    }
    pvma_sim_stop(e->lab.sim);
}

static void answer(void *arg)
{
    struct udp_echo *e = arg;

    for (;;) {
        struct pvma_packet *packet = pvma_udp_receive(&e->server);
        pvma_udp_send(&e->server, e->client_host + 1, packet->source_port, packet->data, packet->length);
        free(packet);
    }
}

void udp_echo_open(struct udp_echo *e, const struct lab_setup *setup)
{
    lab_open(&e->lab, setup);
    pvma_udp_open(&e->client, &e->lab.stations[e->client_host], 0, BUFFER);
    pvma_udp_open(&e->server, &e->lab.stations[e->server_host], PORT, BUFFER);
}

void udp_echo_run(struct udp_echo *e, double limit_s)
{
    lab_start(&e->lab, answer, e);
    lab_start(&e->lab, ask, e);
    lab_run(&e->lab, limit_s);
}

void udp_echo_close(struct udp_echo *e, unsigned long long *events)
{
    pvma_udp_close(&e->client);
    pvma_udp_close(&e->server);
    lab_close(&e->lab, events);
}
