/* mesh.c - see mesh.h. */
#include "ip/udp.h"
#include "base/random.h"
#include "mesh.h"

enum {
    MESH = 2,
    NODES = 4,
    NODES_MAX = 8,
    DISCARD_PORT = 9,
    LOAD_HEADERS = 28 + 26 + 12,
    PDU = 4092,
    FRAME_HEADER = 64,
    PACKET_HEADER = 36,
    BUFFER = (1 << 20) + (1 << 17), /* a halo and its headers */
};

static const double slice_us = 10000;

struct mesh;

struct node {
    struct mesh *mesh;
    unsigned number;
};

/* Sends halos while its node receives, because libpvm also reads when it cannot write. */
struct courier {
    struct node node;
    bool due;
    struct pvma_fiber *fiber, *waiter;
};

struct mesh {
    struct mesh_setup setup;
    struct lab lab;
    struct pvma_end *ends[NODES_MAX][NODES_MAX]; /* [from][to], at from */
    struct courier couriers[NODES_MAX];
    struct pvma_udp load_from, load_to;
    unsigned nodes, finished;
    double end_s;
};

static uint8_t buffers[NODES_MAX][BUFFER];
static double ethernet_load; /* of the last run */

/* Bytes of a message with all headers in the PDUs of the transport atm. */
static uint32_t with_headers(uint32_t bytes)
{
    uint32_t room = PDU - PACKET_HEADER, whole = bytes + FRAME_HEADER;

    return whole + (whole + room - 1) / room * PACKET_HEADER;
}

static uint32_t wire_bytes(const struct mesh *m, uint32_t bytes)
{
    return m->setup.packs ? with_headers(bytes) : bytes;
}

static void pack(struct node *node, struct pvma_price price, uint32_t bytes)
{
    if (node->mesh->setup.packs)
        lab_compute(&node->mesh->lab, node->number, price.fixed_us + price.byte_us * bytes);
}

static void send(struct node *node, unsigned to, uint32_t bytes)
{
    struct pvma_end *end = node->mesh->ends[node->number][to];

    pack(node, node->mesh->lab.setup.costs.pvm_send, bytes);
    end->send(end, buffers[node->number], wire_bytes(node->mesh, bytes));
}

static void receive(struct node *node, unsigned from, uint32_t bytes)
{
    struct pvma_end *end = node->mesh->ends[node->number][from];

    end->receive(end, buffers[node->number], wire_bytes(node->mesh, bytes));
    pack(node, node->mesh->lab.setup.costs.pvm_receive, bytes);
}

/* Computes in slices, so that a daemon can run in between. */
static void compute(struct node *node, double us)
{
    for (; us > 0; us -= slice_us)
        lab_compute(&node->mesh->lab, node->number, us < slice_us ? us : slice_us);
}

static void finish(struct mesh *m)
{
    m->end_s = lab_now_us(&m->lab) / 1e6;
    if (++m->finished == m->nodes)
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

    compute(node, s->start_s * 1e6);
    if (left)
        send(node, node->number + 1, stripe);
    else
        receive(node, node->number - 1, stripe);
    if (top)
        send(node, node->number + MESH, stripe);
    else
        receive(node, node->number - MESH, stripe);
    compute(node, s->block_us);
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

    compute(node, s->start_s * 1e6);
    for (unsigned i = 0; i < s->iterations; i++) {
        for (unsigned k = 0; k < s->exchanges; k++)
            exchange(node, line);
        compute(node, points * s->point_us + s->iteration_us);
    }
    finish(node->mesh);
}

/* ---- molecular dynamics ---- */

static void resume(void *fiber)
{
    pvma_fiber_resume(fiber);
}

/* Wakes a fiber by an event, because only events may resume fibers. */
static void wake(struct mesh *m, struct pvma_fiber **waiting)
{
    if (*waiting)
        pvma_sim_call(m->lab.sim, pvma_sim_now(m->lab.sim), resume, *waiting);
    *waiting = NULL;
}

static unsigned neighbour(const struct node *node, unsigned side)
{
    unsigned nodes = node->mesh->nodes;

    return (node->number + (side ? nodes - 1 : 1)) % nodes;
}

static void carry(void *arg)
{
    struct courier *c = arg;

    for (;;) {
        while (!c->due) {
            c->fiber = pvma_fiber_current();
            pvma_fiber_pause();
        }
        for (unsigned side = 0; side < 2; side++)
            send(&c->node, neighbour(&c->node, side), c->node.mesh->setup.halo_bytes);
        c->due = false;
        wake(c->node.mesh, &c->waiter);
    }
}

static void move(void *arg)
{
    struct node *node = arg;
    const struct mesh_setup *s = &node->mesh->setup;
    struct courier *mine = &node->mesh->couriers[node->number];

    mine->node = *node;
    lab_start(&node->mesh->lab, carry, mine);
    for (unsigned i = 0; i < s->iterations; i++) {
        mine->due = true;
        wake(node->mesh, &mine->fiber);
        for (unsigned side = 0; side < 2; side++)
            receive(node, neighbour(node, !side), s->halo_bytes);
        while (mine->due) {
            mine->waiter = pvma_fiber_current();
            pvma_fiber_pause();
        }
        compute(node, s->step_us);
    }
    finish(node->mesh);
}

/* ---- background traffic ---- */

/* Sends datagrams at even intervals; the seed determines the first one's time. */
static void load(void *arg)
{
    struct mesh *m = arg;
    pvma_ps interval = (pvma_ps)((m->setup.background_bytes + LOAD_HEADERS) * 0.8e6 / m->setup.background);
    struct pvma_random random;

    pvma_random_init(&random, m->setup.lab.seed, "load");
    pvma_cpu_use(&m->lab.stations[NODES].cpu, (pvma_ps)pvma_random_below(&random, (uint64_t)interval));
    for (;;) {
        pvma_udp_send(&m->load_from, NODES + 2, DISCARD_PORT, buffers[0], m->setup.background_bytes);
        pvma_cpu_use(&m->lab.stations[NODES].cpu, interval);
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
    for (unsigned a = 0; a < m->nodes; a++)
        for (unsigned b = a + 1; b < m->nodes; b++)
            lab_connect(&m->lab, m->setup.stack, a, b, &m->ends[a][b], &m->ends[b][a]);
}

static double run(const struct mesh_setup *setup, pvma_fiber_main *program, unsigned long long *events)
{
    static struct mesh m;
    struct node nodes[NODES_MAX];

    m = (struct mesh){.setup = *setup, .nodes = setup->nodes ? setup->nodes : NODES};
    m.setup.lab.hosts = setup->background > 0 ? NODES + 2 : m.nodes;
    lab_open(&m.lab, &m.setup.lab);
    connect_nodes(&m);
    for (unsigned i = 0; i < m.nodes; i++) {
        nodes[i] = (struct node){&m, i};
        lab_start(&m.lab, program, &nodes[i]);
    }
    if (setup->background > 0)
        start_load(&m);
    lab_run(&m.lab, 10000);
    if (setup->background > 0) {
        pvma_udp_close(&m.load_from);
        pvma_udp_close(&m.load_to);
    }
    ethernet_load =
        m.lab.ethernet ? (double)pvma_ethernet_counters(m.lab.ethernet)->busy / 1e6 / lab_now_us(&m.lab) : 0;
    lab_close(&m.lab, events);
    return m.finished == m.nodes ? m.end_s : -1;
}

double mesh_matmul(const struct mesh_setup *setup, unsigned long long *events)
{
    return run(setup, multiply, events);
}

double mesh_pde(const struct mesh_setup *setup, unsigned long long *events)
{
    return run(setup, relax, events);
}

double mesh_ethernet_load(void)
{
    return ethernet_load;
}

double mesh_molecules(const struct mesh_setup *setup, unsigned long long *events)
{
    return run(setup, move, events);
}
