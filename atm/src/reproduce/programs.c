/*
 * programs.c - see programs.h. Four Sun 4/690 with the costs of the four-APIs paper's echo (suns.h); computing is a
 * cost.
 */
#include "programs.h"
#include <argp.h>
#include "experiment.h"
#include "lab/layout.h"
#include "mesh.h"
#include "papers/suns.h"

enum { HOSTS = 4, MATRIX = 256, GRID = 64, HALO = 1 << 20, STEPS = 3 };

/* Computing times: matmul and an iteration of pde as on the SPARC 2 of the paper's Tables 5 and 6. */
static const double block_us = 64.0001e6 / HOSTS, point_us = 31.4, step_us = 20e6;

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

static const struct program {
    const char *name;
    double (*run)(const struct mesh_setup *setup, unsigned long long *events);
    unsigned n, iterations;
} programs[] = {
    {"matmul", mesh_matmul, MATRIX, 0}, {"pde", mesh_pde, GRID, GRID}, {"molecules", mesh_molecules, 0, STEPS}};

enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static const struct pvma_profile *adapter_of(const struct suns *suns, const struct way *way)
{
    if (way->stack == LAB_FORE5)
        return &suns->aal5;
    return way->stack == LAB_FORE34 ? &suns->aal34 : &suns->adapter;
}

/* Returns seconds of virtual time, or -1 when the run did not end. */
static double run_program(const struct suns *suns, const struct way *way, const struct program *program, bool computes,
                          unsigned long long *events)
{
    struct pvma_topology topology;
    struct mesh_setup setup = {.lab = suns_setup(suns, way->network, HOSTS, &topology),
                               .stack = way->stack,
                               .packs = way->packs,
                               .n = program->n,
                               .number_bytes = 8,
                               .iterations = program->iterations,
                               .exchanges = 2,
                               .halo_bytes = HALO,
                               .block_us = computes ? block_us : 0,
                               .point_us = computes ? point_us : 0,
                               .step_us = computes ? step_us : 0};
    double s;

    setup.lab.tcp.no_slow_start = true;
    suns_network(&topology, SUNS_SWITCH, HOSTS, adapter_of(suns, way));
    s = program->run(&setup, events);
    layout_free(&topology);
    return s;
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
