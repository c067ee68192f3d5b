/* speed.c - see speed.h. */
#include <time.h>
#include "echo.h"
#include "lab/layout.h"
#include "speed.h"

enum { WARM_UP = 8 };

/* Processor time, because other programs delay a simulation but do not slow it down. */
static double processor_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Two hosts at a switch, with protocols at no cost: cells, TCP and daemons are simulated all the same. */
static void measure(enum lab_stack stack, const char *route, uint32_t bytes, unsigned rounds, FILE *out)
{
    struct pvma_profile profile = layout_profile("ideal");
    struct pvma_switch_options asx = layout_output_queued(16, 10 * PVMA_US);
    struct pvma_topology topology;
    struct lab_setup setup = {
        .hosts = 2, .tcp = pvma_tcp_sunos, .topology = &topology, .pvm_fragment_bytes = 4096, .seed = 1};
    unsigned long long events = 0;
    double began_us, messages = 2.0 * (WARM_UP + rounds);

    layout_star(&topology, "speed", 2, &profile, &asx, PVMA_RATE_OC3, 500 * PVMA_NS);
    began_us = processor_us();
    echo_run(&setup, stack, bytes, WARM_UP, rounds, &events);
    fprintf(out, "message.%s.%u %.2f us\nevents.%s.%u %.1f -\n", route, bytes, (processor_us() - began_us) / messages,
            route, bytes, (double)events / messages);
    layout_free(&topology);
}

void speed_print(FILE *out)
{
    measure(LAB_PVM_DIRECT, "direct", 8, 20000, out);
    measure(LAB_PVM_DIRECT, "direct", 65536, 500, out);
    measure(LAB_PVM_DAEMON, "daemon", 8, 20000, out);
    measure(LAB_PVM_DAEMON, "daemon", 65536, 500, out);
}
