/*
 * programs.c - see programs.h. Four Sun 4/690, as the four-APIs paper's echo found them (suns.h); computing is a cost.
 *
 *   matmul     0 1   A's stripes go along the rows, B's down the columns, the blocks of C to host 0
 *   pde        2 3   in each iteration all borders go, twice, to the neighbour beside and the one below or above
 *   molecules  0-1-2-3-0   in each step a halo goes to either neighbour of a ring
 *
 * On the Fore API a message is that and no more. PVM over it (transport atm) packs and unpacks as PVM does over TCP,
 * and adds the headers of its frames and of the reliability layer's packets; acknowledgements are left out.
 */
#include "programs.h"
#include <argp.h>
#include <errno.h>
#include <string.h>
#include "experiment.h"
#include "layout.h"
#include "suns.h"

enum {
    HOSTS = 4,
    MESH = 2,
    PDU = 4092,
    FRAME_HEADER = 64,
    PACKET_HEADER = 36,
    MATRIX = 256,
    GRID = 64,
    EXCHANGES = 2,
    HALO = 1 << 20,
    STEPS = 3,
    NUMBER = 8, /* bytes of one */
    BUFFER = HALO + HALO / 8,
};

/* Computing, seconds: of matmul and an iteration of pde as the SPARC 2 of the paper's Tables 5 and 6 took for them. */
static const double block_s = 64.0001 / HOSTS, point_s = 31.4e-6, step_s = 20, slice_s = 0.01;

static const struct way {
    const char *name;
    enum lab_network network;
    enum lab_stack stack;
    bool packs; /* PVM on the Fore API */
} ways[] = {
    {"Fore API, AAL5", LAB_ATM, LAB_FORE5, false},
    {"Fore API, AAL3/4", LAB_ATM, LAB_FORE34, false},
    {"PVM atm, AAL5", LAB_ATM, LAB_FORE5, true},
    {"PVM atm, AAL3/4", LAB_ATM, LAB_FORE34, true},
    {"BSD sockets, ATM", LAB_ATM, LAB_TCP, false},
    {"Sun RPC/XDR, ATM", LAB_ATM, LAB_RPC, false},
    {"PVM direct, TCP/ATM", LAB_ATM, LAB_PVM_DIRECT, false},
    {"PVM daemon, UDP/ATM", LAB_ATM, LAB_PVM_DAEMON, false},
    {"BSD sockets, FDDI", LAB_FDDI, LAB_TCP, false},
    {"PVM direct, FDDI", LAB_FDDI, LAB_PVM_DIRECT, false},
    {"PVM daemon, FDDI", LAB_FDDI, LAB_PVM_DAEMON, false},
    {"BSD sockets, Ethernet", LAB_ETHERNET, LAB_TCP, false},
    {"Sun RPC/XDR, Ethernet", LAB_ETHERNET, LAB_RPC, false},
    {"PVM direct, Ethernet", LAB_ETHERNET, LAB_PVM_DIRECT, false},
    {"PVM daemon, Ethernet", LAB_ETHERNET, LAB_PVM_DAEMON, false},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- a run ---- */

struct run {
    const struct way *way;
    bool computes; /* false: only the messages */
    struct lab lab;
    struct pvma_end *ends[HOSTS][HOSTS]; /* [from][to], at from */
    unsigned finished;
    double end_s;
};

struct node {
    struct run *run;
    unsigned number;
};

/* Sends one message after the other while its node receives: as libpvm, which reads when it cannot write. */
struct courier {
    struct node node;
    bool due;
    struct pvma_fiber *fiber, *waiter;
};

static uint8_t buffers[HOSTS][BUFFER];

/* Bytes of a message in the PDUs of the transport atm. */
static uint32_t with_headers(uint32_t bytes)
{
    uint32_t room = PDU - PACKET_HEADER, whole = bytes + FRAME_HEADER;
    return whole + (whole + room - 1) / room * PACKET_HEADER;
}

static void pack(struct node *node, struct pvma_price price, uint32_t bytes)
{
    if (node->run->way->packs)
        lab_compute(&node->run->lab, node->number, price.fixed_us + price.byte_us * bytes);
}

static void send(struct node *node, unsigned to, uint32_t bytes)
{
    struct pvma_end *end = node->run->ends[node->number][to];
    pack(node, node->run->lab.setup.costs.pvm_send, bytes);
    end->send(end, buffers[node->number], node->run->way->packs ? with_headers(bytes) : bytes);
}

static void receive(struct node *node, unsigned from, uint32_t bytes)
{
    struct pvma_end *end = node->run->ends[node->number][from];
    end->receive(end, buffers[node->number], node->run->way->packs ? with_headers(bytes) : bytes);
    pack(node, node->run->lab.setup.costs.pvm_receive, bytes);
}

/* In slices, between which a daemon has its turn. */
static void compute(struct node *node, double s)
{
    for (double left_s = node->run->computes ? s : 0; left_s > 0; left_s -= slice_s)
        lab_compute(&node->run->lab, node->number, (left_s < slice_s ? left_s : slice_s) * 1e6);
}

static void finish(struct node *node)
{
    node->run->end_s = lab_now_us(&node->run->lab) / 1e6;
    if (++node->run->finished == HOSTS)
        pvma_sim_stop(node->run->lab.sim);
}

/* ---- matmul ---- */

static void matmul(void *arg)
{
    struct node *node = arg;
    uint32_t stripe = MATRIX * MATRIX / MESH * NUMBER, block = stripe / MESH;
    bool left = node->number % MESH == 0, top = node->number / MESH == 0;
    if (left)
        send(node, node->number + 1, stripe);
    else
        receive(node, node->number - 1, stripe);
    if (top)
        send(node, node->number + MESH, stripe);
    else
        receive(node, node->number - MESH, stripe);
    compute(node, block_s);
    if (node->number)
        send(node, 0, block);
    for (unsigned from = 1; from < HOSTS && !node->number; from++)
        receive(node, from, block);
    finish(node);
}

/* ---- pde ---- */

static void pde(void *arg)
{
    struct node *node = arg;
    uint32_t line = GRID / MESH * NUMBER;
    unsigned beside = node->number ^ 1, below = node->number ^ MESH;
    for (unsigned i = 0; i < GRID; i++) {
        for (unsigned k = 0; k < EXCHANGES; k++) {
            send(node, beside, line);
            send(node, below, line);
            receive(node, beside, line);
            receive(node, below, line);
        }
        compute(node, point_s * GRID * GRID / HOSTS);
    }
    finish(node);
}

/* ---- molecules ---- */

static void resume(void *fiber)
{
    pvma_fiber_resume(fiber);
}

/* Not from a fiber. */
static void wake(struct run *run, struct pvma_fiber **waiting)
{
    if (*waiting)
        pvma_sim_call(run->lab.sim, pvma_sim_now(run->lab.sim), resume, *waiting);
    *waiting = NULL;
}

static unsigned neighbour(const struct node *node, unsigned side)
{
    return (node->number + (side ? HOSTS - 1 : 1)) % HOSTS;
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
            send(&c->node, neighbour(&c->node, side), HALO);
        c->due = false;
        wake(c->node.run, &c->waiter);
    }
}

static struct courier couriers[HOSTS];

static void molecules(void *arg)
{
    struct node *node = arg;
    struct courier *mine = &couriers[node->number];
    for (unsigned i = 0; i < STEPS; i++) {
        mine->due = true;
        wake(node->run, &mine->fiber);
        for (unsigned side = 0; side < 2; side++)
            receive(node, neighbour(node, !side), HALO);
        while (mine->due) {
            mine->waiter = pvma_fiber_current();
            pvma_fiber_pause();
        }
        compute(node, step_s);
    }
    finish(node);
}

static void start_couriers(struct run *run)
{
    for (unsigned i = 0; i < HOSTS; i++) {
        couriers[i] = (struct courier){.node = {run, i}};
        lab_start(&run->lab, carry, &couriers[i]);
    }
}

/* ---- the table ---- */

static const struct program {
    const char *name;
    pvma_fiber_main *main;
    bool couriers;
} programs[] = {{"matmul", matmul, false}, {"pde", pde, false}, {"molecules", molecules, true}};

enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Seconds of virtual time; -1: it did not end. */
static double run_program(const struct suns *suns, const struct way *way, const struct program *program, bool computes,
                          unsigned long long *events)
{
    static struct run run;
    struct node nodes[HOSTS];
    struct pvma_topology topology;
    struct lab_setup setup = {
        .network = way->network, .hosts = HOSTS, .tcp = pvma_tcp_sunos, .topology = &topology, .seed = 1};
    bool fore = way->stack == LAB_FORE5 || way->stack == LAB_FORE34;
    setup.costs = suns_costs(suns, way->network);
    setup.tcp.no_delay = setup.tcp.no_slow_start = true;
    suns_network(&topology, SUNS_SWITCH, HOSTS,
                 !fore                     ? &suns->adapter
                 : way->stack == LAB_FORE5 ? &suns->aal5
                                           : &suns->aal34);
    run = (struct run){.way = way, .computes = computes};
    lab_open(&run.lab, &setup);
    for (unsigned a = 0; a < HOSTS; a++)
        for (unsigned b = a + 1; b < HOSTS; b++)
            lab_connect(&run.lab, way->stack, a, b, &run.ends[a][b], &run.ends[b][a]);
    if (program->couriers)
        start_couriers(&run);
    for (unsigned i = 0; i < HOSTS; i++) {
        nodes[i] = (struct node){&run, i};
        lab_start(&run.lab, program->main, &nodes[i]);
    }
    lab_run(&run.lab, 10000);
    lab_close(&run.lab, events);
    layout_free(&topology);
    return run.finished == HOSTS ? run.end_s : -1;
}

static void print_title(FILE *out, FILE *csv)
{
    fprintf(out,
            "Four Sun 4/690 on one network, seconds of virtual time: the program, and its messages alone\n"
            "(matmul %u x %u; pde %u x %u, %u iterations; molecules: %u steps, halos of %u bytes)\n\n%-22s",
            MATRIX, MATRIX, GRID, GRID, GRID, STEPS, HALO, "");
    for (unsigned p = 0; p < PROGRAMS; p++)
        fprintf(out, " %21s", programs[p].name);
    fprintf(out, "\n");
    if (csv)
        fprintf(csv, "stack,program,seconds,messages_seconds\n");
}

static void print_way(const struct suns *suns, const struct way *way, FILE *out, FILE *csv, unsigned long long *events)
{
    fprintf(out, "%-22s", way->name);
    for (unsigned p = 0; p < PROGRAMS; p++) {
        double whole_s = run_program(suns, way, &programs[p], true, events);
        double messages_s = run_program(suns, way, &programs[p], false, events);
        fprintf(out, " %11.3f %9.3f", whole_s, messages_s);
        if (csv)
            fprintf(csv, "\"%s\",%s,%.6f,%.6f\n", way->name, programs[p].name, whole_s, messages_s);
    }
    fprintf(out, "\n");
    fflush(out);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    if (key != 'c')
        return ARGP_ERR_UNKNOWN;
    *(const char **)state->input = text;
    return 0;
}

int programs_main(int argc, char **argv)
{
    static const struct argp_option options[] = {{"csv", 'c', "FILE", 0, "write the table as CSV into FILE", 0}, {0}};
    static const struct argp parser = {
        options, parse, "",  "matmul, pde and molecules over every stack of the papers, in virtual time.",
        NULL,    NULL,  NULL};
    struct suns suns;
    unsigned long long events = 0;
    const char *path = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &path);
    FILE *csv = path ? fopen(path, "w") : NULL;
    if (path && !csv) {
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
        return 1;
    }
    suns_fit(&suns, &paper_four_apis);
    print_title(stdout, csv);
    for (unsigned i = 0; i < WAYS; i++)
        print_way(&suns, &ways[i], stdout, csv, &events);
    if (csv && fclose(csv)) {
        fprintf(stderr, "atm-sim: cannot write %s: %m\n", path);
        return 1;
    }
    return 0;
}
