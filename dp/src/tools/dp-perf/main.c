/* main.c - dp-perf: measures Directed Point by its paper's methods. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include "client.h"
#include "report.h"
#include "serve.h"
#include "diagnose.h"

/* The first processor that we may use, or the last one for a server: two spinning processes must not share one. */
static int choose_cpu(bool last)
{
    cpu_set_t may;
    int chosen = -1;
    if (sched_getaffinity(0, sizeof may, &may) < 0 || CPU_COUNT(&may) < 2)
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && (last || chosen < 0); cpu++)
        if (CPU_ISSET(cpu, &may))
            chosen = cpu;
    return chosen;
}

static int bind_to_cpu(const struct options *o)
{
    cpu_set_t one;
    int cpu = o->cpu == -2 ? choose_cpu(o->test == TEST_SERVE) : o->cpu;
    if (cpu < 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        return 0;
    fprintf(stderr, "dp-perf: processor %d: %s\n", cpu, strerror(errno));
    return -1;
}

static int run_points(const struct options *o, struct client *client)
{
    struct point *points;
    int count, status = measure_run(o, client, &points, &count);
    if (status == EXIT_SUCCESS || errno != EHOSTDOWN)
        report_points(o, &client->wire, points, count);
    if (o->plot && status == EXIT_SUCCESS)
        status = plot_points(o, points, count);
    measure_free(points, count);
    return status;
}

static int run_model(const struct options *o, struct client *client)
{
    struct model model;
    int status = model_run(o, client, &model);
    if (status == EXIT_SUCCESS)
        report_model(o, &client->wire, &model);
    if (status == EXIT_SUCCESS && o->plot)
        status = plot_model(o, &model);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    options_read(argc, argv, &o);
    if (bind_to_cpu(&o) < 0)
        return EXIT_FAILURE;
    if (o.test == TEST_SERVE)
        return serve_run(o.interface, o.patience_s, o.idle_s);
    struct client client = {.spin = o.spin, .patience_s = o.patience_s};
    if (client_open(&client, o.interface, o.nid) < 0)
        return diagnose_open(o.interface);
    int status = o.test == TEST_MODEL ? run_model(&o, &client) : run_points(&o, &client);
    client_close(&client);
    return status;
}
