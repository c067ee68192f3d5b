/*
 * mesh.c - see mesh.h.  Hosts:  0 1   matmul: A's stripes go along the rows (0 to 1, 2 to 3), then B's down the columns
 *                               2 3   (0 to 2, 1 to 3); the blocks of C go to 0, the master.
 */
#include "../ip/udp.h"
#include "../random.h"
#include "mesh.h"

enum { MESH = 2, NODES = 4, DISCARD_PORT = 9, LOAD_HEADERS = 28 + 26 + 12, BUFFER = 1 << 20 };

struct mesh {
    struct mesh_setup setup;
    struct lab lab;
    struct pvma_end *ends[NODES][NODES]; /* [from][to], at from */
    struct pvma_udp load_from, load_to;
    unsigned finished;
    double end_s;
};

struct node {
    struct mesh *mesh;
    unsigned number;
};

static uint8_t buffers[NODES][BUFFER];

static void send(struct node *node, unsigned to, uint32_t bytes)
{
    struct pvma_end *end = node->mesh->ends[node->number][to];

    end->send(end, buffers[node->number], bytes);
}

static void receive(struct node *node, unsigned from, uint32_t bytes)
{
    struct pvma_end *end = node->mesh->ends[node->number][from];

    end->receive(end, buffers[node->number], bytes);
}

static void finish(struct mesh *m)
{
    m->end_s = lab_now_us(&m->lab) / 1e6;
    if (++m->finished == NODES)
        pvma_sim_stop(m->lab.sim);
}

/* ---- matrix multiplication ---- */

static void collect(struct node *node, uint32_t block)
{
    if (node->number > 0) {
        send(node, 0, block);
        return;
    }
    for (unsigned from = 1; from < NODES; from++)
        receive(node, from, block);
}

static void multiply(void *arg)
{
    struct node *node = arg;
    const struct mesh_setup *s = &node->mesh->setup;
    uint32_t stripe = s->n * s->n / MESH * s->number_bytes, block = stripe / MESH;
    bool left = node->number % MESH == 0, top = node->number / MESH == 0;

    lab_compute(&node->mesh->lab, node->number, s->start_s * 1e6);
    if (left)
        send(node, node->number + 1, stripe);
    else
        receive(node, node->number - 1, stripe);
    if (top)
        send(node, node->number + MESH, stripe);
    else
        receive(node, node->number - MESH, stripe);
    lab_compute(&node->mesh->lab, node->number, s->block_us);
    collect(node, block);
    finish(node->mesh);
}

/* ---- partial differential equation ---- */

static void exchange(struct node *node, uint32_t line)
{
    unsigned across = node->number ^ 1, along = node->number ^ MESH;

    send(node, across, line);
    send(node, along, line);
    receive(node, across, line);
    receive(node, along, line);
}

static void relax(void *arg)
{
    struct node *node = arg;
    const struct mesh_setup *s = &node->mesh->setup;
    uint32_t line = s->n / MESH * s->number_bytes;
    double points = (double)s->n * s->n / NODES;

    lab_compute(&node->mesh->lab, node->number, s->start_s * 1e6);
    for (unsigned i = 0; i < s->iterations; i++) {
        for (unsigned k = 0; k < s->exchanges; k++)
            exchange(node, line);
        lab_compute(&node->mesh->lab, node->number, points * s->point_us);
    }
    finish(node->mesh);
}

/* ---- background traffic ---- */

static void load(void *arg)
{
    struct mesh *m = arg;
    pvma_ps interval = (pvma_ps)((m->setup.background_bytes + LOAD_HEADERS) * 0.8e6 / m->setup.background);
    struct pvma_random random;

    pvma_random_init(&random, m->setup.lab.seed, "load");
    for (;;) {
        pvma_udp_send(&m->load_from, NODES + 2, DISCARD_PORT, buffers[0], m->setup.background_bytes);
        pvma_cpu_use(&m->lab.stations[NODES].cpu, pvma_random_exponential(&random, interval));
    }
}

static void start_load(struct mesh *m)
{
    struct pvma_host_costs none = {0};

    m->lab.stations[NODES].costs = m->lab.stations[NODES + 1].costs = none;
    pvma_udp_open(&m->load_from, &m->lab.stations[NODES], 0, 1);
    pvma_udp_open(&m->load_to, &m->lab.stations[NODES + 1], DISCARD_PORT, 1);
    lab_start(&m->lab, load, m);
}

static void connect_nodes(struct mesh *m)
{
    for (unsigned a = 0; a < NODES; a++)
        for (unsigned b = a + 1; b < NODES; b++)
            lab_connect(&m->lab, m->setup.stack, a, b, &m->ends[a][b], &m->ends[b][a]);
}

static double run(const struct mesh_setup *setup, pvma_fiber_main *program, unsigned long long *events)
{
    static struct mesh m;
    struct node nodes[NODES];

    m = (struct mesh){.setup = *setup};
    m.setup.lab.hosts = setup->background > 0 ? NODES + 2 : NODES;
    lab_open(&m.lab, &m.setup.lab);
    connect_nodes(&m);
    for (unsigned i = 0; i < NODES; i++) {
        nodes[i] = (struct node){&m, i};
        lab_start(&m.lab, program, &nodes[i]);
    }
    if (setup->background > 0)
        start_load(&m);
    lab_run(&m.lab, 1000);
    if (setup->background > 0) {
        pvma_udp_close(&m.load_from);
        pvma_udp_close(&m.load_to);
    }
    lab_close(&m.lab, events);
    return m.finished == NODES ? m.end_s : -1;
}

double mesh_matmul(const struct mesh_setup *setup, unsigned long long *events)
{
    return run(setup, multiply, events);
}

double mesh_pde(const struct mesh_setup *setup, unsigned long long *events)
{
    return run(setup, relax, events);
}
