/* echo.c - see echo.h. */
#include "echo.h"

enum { SMALLEST = 4, LARGEST = 1 << 20, LARGE = 65536, STEPS = 128 };

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

/* Slow start and its delayed acknowledgements end after some rounds, with large messages after one. */
static unsigned warm_up_of(uint32_t bytes)
{
    return bytes >= LARGE ? 1 : 8;
}

static double rate_of(const struct lab_setup *setup, enum lab_stack stack, uint32_t bytes, struct echo_result *r,
                      unsigned long long *events)
{
    *r = echo_run(setup, stack, bytes, warm_up_of(bytes), bytes >= LARGE ? 1 : 4, events);
    return r->done ? 2.0 * bytes / r->trip_us : 0;
}

/*
 * The smallest size up to `above` that reaches the rate. Searches from a quarter of `above` in even steps, since the
 * rate falls when one more fragment is needed: at 4096 it may be lower than just below.
 */
static double size_reaching(double target, uint32_t above, const struct lab_setup *setup, enum lab_stack stack,
                            unsigned long long *events)
{
    uint32_t step = above / STEPS ? above / STEPS : 1;
    struct echo_result r;

    for (uint32_t bytes = above / 4; bytes < above; bytes += step)
        if (rate_of(setup, stack, bytes, &r, events) >= target)
            return bytes;
    return above;
}

struct echo_metrics echo_measure(const struct lab_setup *setup, enum lab_stack stack, echo_point *point, void *arg,
                                 unsigned long long *events)
{
    struct echo_metrics m = {0};
    double rates[32];
    uint32_t sizes[32];
    unsigned count = 0, half = 1;

    for (uint32_t bytes = SMALLEST; bytes <= LARGEST; bytes *= 2) {
        struct echo_result r;

        rates[count] = rate_of(setup, stack, bytes, &r, events);
        if (!r.done)
            continue;
        if (bytes == SMALLEST)
            m.t_zero = r.trip_us / 2;
        sizes[count] = bytes;
        if (rates[count] > m.r_max)
            m.r_max = rates[count];
        if (point)
            point(arg, bytes, r.trip_us);
        count++;
    }
    while (half < count && rates[half] < m.r_max / 2)
        half++;
    if (half < count)
        m.n_half = size_reaching(m.r_max / 2, sizes[half], setup, stack, events);
    return m;
}
