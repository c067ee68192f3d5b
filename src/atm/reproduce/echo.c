/* echo.c - see echo.h. */
#include "echo.h"

enum { SMALLEST = 4, LARGEST = 1 << 20, LARGE = 65536 };

struct echo {
    struct lab lab;
    struct pvma_end *client, *server;
    uint32_t bytes;
    unsigned warm_up, rounds;
    struct echo_result result;
};

static void ask(void *arg)
{
    struct echo *e = arg;
    static uint8_t data[LARGEST];
    double start_us = 0;

    for (unsigned i = 0; i < e->warm_up + e->rounds; i++) {
        if (i == e->warm_up)
            start_us = lab_now_us(&e->lab);
        e->client->send(e->client, data, e->bytes);
        e->client->receive(e->client, data, e->bytes);
    }
    e->result.trip_us = (lab_now_us(&e->lab) - start_us) / e->rounds;
    e->result.done = true;
    pvma_sim_stop(e->lab.sim);
}

static void answer(void *arg)
{
    struct echo *e = arg;
    static uint8_t data[LARGEST];

    for (unsigned i = 0; i < e->warm_up + e->rounds; i++) {
        e->server->receive(e->server, data, e->bytes);
        e->server->send(e->server, data, e->bytes);
    }
}

struct echo_result echo_run(const struct lab_setup *setup, enum lab_stack stack, uint32_t bytes, unsigned warm_up,
                            unsigned rounds, unsigned long long *events)
{
    static struct echo e;

    e = (struct echo){.bytes = bytes, .warm_up = warm_up, .rounds = rounds};
    lab_open(&e.lab, setup);
    lab_connect(&e.lab, stack, 0, 1, &e.client, &e.server);
    lab_start(&e.lab, answer, &e);
    lab_start(&e.lab, ask, &e);
    lab_run(&e.lab, 100);
    lab_close(&e.lab, events);
    return e.result;
}

/* Slow start and its wait for delayed acknowledgements are over after some rounds, with large messages after one. */
static unsigned warm_up_of(uint32_t bytes)
{
    return bytes >= LARGE ? 1 : 8;
}

struct echo_metrics echo_measure(const struct lab_setup *setup, enum lab_stack stack, echo_point *point, void *arg,
                                 unsigned long long *events)
{
    struct echo_metrics m = {0};
    double rates[32], sizes[32];
    unsigned count = 0;

    for (uint32_t bytes = SMALLEST; bytes <= LARGEST; bytes *= 2) {
        struct echo_result r = echo_run(setup, stack, bytes, warm_up_of(bytes), bytes >= LARGE ? 1 : 4, events);

        if (!r.done)
            continue;
        if (bytes == SMALLEST)
            m.t_zero = r.trip_us / 2;
        sizes[count] = bytes;
        rates[count] = 2.0 * bytes / r.trip_us;
        if (rates[count] > m.r_max)
            m.r_max = rates[count];
        if (point)
            point(arg, bytes, r.trip_us);
        count++;
    }
    for (unsigned i = 1; i < count && m.n_half == 0; i++)
        if (rates[i] >= m.r_max / 2)
            m.n_half =
                sizes[i - 1] + (sizes[i] - sizes[i - 1]) * (m.r_max / 2 - rates[i - 1]) / (rates[i] - rates[i - 1]);
    return m;
}
