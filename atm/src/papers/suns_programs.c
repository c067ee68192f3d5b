/* suns_programs.c - see suns_programs.h. */
#include "suns_programs.h"
#include "reproduce/mesh.h"

enum { HOSTS = 4 };

static double parameter(const struct suns *suns, const char *name)
{
    return report_parameter(suns->report, "applications", name);
}

static double start_s(const struct suns *suns, const struct suns_program *p)
{
    return parameter(suns, p->stack == LAB_PVM_DIRECT ? "matmul, start, PVM" : "matmul, start");
}

/* An iteration's time besides points and messages. */
static double iteration_s(const struct suns *suns, const struct suns_program *p)
{
    double ms = parameter(suns, "PDE, iteration");

    if (p->stack == LAB_PVM_DIRECT)
        ms += parameter(suns, "PDE, iteration, PVM");
    return ms / 1000;
}

static struct mesh_setup mesh_of(const struct suns *suns, const struct lab_setup *lab, const struct suns_program *p)
{
    struct mesh_setup s = {.lab = *lab, .stack = p->stack, .background = p->background, .n = p->n};

    s.lab.tcp.no_slow_start = true;
    s.background_bytes = (unsigned)report_parameter(suns->report, "networks", "other traffic, a datagram");
    return s;
}

double suns_matmul_s(const struct suns *suns, const struct lab_setup *lab, const struct suns_program *p,
                     unsigned long long *events)
{
    struct mesh_setup s = mesh_of(suns, lab, p);

    s.number_bytes = (unsigned)parameter(suns, "number");
    if (p->computes) {
        s.block_us = suns_matmul_computing_s(p) * 1e6;
        s.start_s = start_s(suns, p);
    }
    return mesh_matmul(&s, events);
}

double suns_pde_s(const struct suns *suns, const struct lab_setup *lab, const struct suns_program *p,
                  unsigned long long *events)
{
    struct mesh_setup s = mesh_of(suns, lab, p);

    s.number_bytes = (unsigned)parameter(suns, "PDE, number");
    s.exchanges = (unsigned)parameter(suns, "PDE, exchanges");
    s.iterations = p->iterations;
    if (p->computes) {
        s.point_us = parameter(suns, "PDE, point");
        s.iteration_us = iteration_s(suns, p) * 1e6;
    }
    return mesh_pde(&s, events);
}

double suns_matmul_computing_s(const struct suns_program *p)
{
    return p->computes ? p->sequential_s / HOSTS : 0;
}

double suns_pde_computing_s(const struct suns *suns, const struct suns_program *p)
{
    double points = p->computes ? (double)p->n * p->n / HOSTS : 0;

    return points * p->iterations * parameter(suns, "PDE, point") / 1e6;
}

double suns_matmul_alone_s(const struct suns *suns, const struct suns_program *p)
{
    return suns_matmul_computing_s(p) + (p->computes ? start_s(suns, p) : 0);
}

double suns_pde_alone_s(const struct suns *suns, const struct suns_program *p)
{
    return suns_pde_computing_s(suns, p) + (p->computes ? p->iterations * iteration_s(suns, p) : 0);
}
