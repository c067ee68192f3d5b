/* lab.c - see lab.h. */
#include <stdio.h>
#include <stdlib.h>
#include "digest.h"
#include "lab.h"
#include "layout.h"

enum { DAEMON_PACKET = 4096 };

static const pvma_ps cable = PVMA_US, token_rotation = 8 * PVMA_MS, ring_hop = PVMA_US;

static void open_atm(struct lab *lab)
{
    lab->net = pvma_net_new(lab->setup.topology, lab->setup.seed);
    if (!lab->net)
        exit(1);
    lab->sim = pvma_net_sim(lab->net);
    lab->ip = pvma_ip_atm_new(lab->net, lab->setup.ip_mtu ? lab->setup.ip_mtu : PVMA_IP_ATM_MTU);
}

static void open_network(struct lab *lab)
{
    if (lab->setup.network == LAB_ATM) {
        open_atm(lab);
        return;
    }
    lab->sim = pvma_sim_new(lab->setup.seed);
    if (lab->setup.network == LAB_FDDI) {
        lab->fddi = pvma_fddi_new(lab->sim, token_rotation, ring_hop, layout_speed());
        return;
    }
    lab->ethernet = pvma_ethernet_new(lab->sim, cable, layout_speed());
    pvma_ethernet_lose(lab->ethernet, lab->setup.frame_loss);
}

static struct pvma_host *host_at(struct lab *lab, unsigned i)
{
    char name[8];

    snprintf(name, sizeof name, "h%u", i + 1);
    return pvma_net_host(lab->net, name);
}

static struct pvma_interface *join(struct lab *lab, unsigned i)
{
    if (lab->ethernet)
        return pvma_ethernet_join(lab->ethernet);
    return lab->fddi ? pvma_fddi_join(lab->fddi) : pvma_ip_atm_join(lab->ip, host_at(lab, i));
}

void lab_open(struct lab *lab, const struct lab_setup *setup)
{
    *lab = (struct lab){.setup = *setup};
    open_network(lab);
    for (unsigned i = 0; i < setup->hosts; i++)
        pvma_station_init(&lab->stations[i], lab->sim, i + 1, &setup->costs, join(lab, i));
}

void lab_close(struct lab *lab, unsigned long long *events)
{
    *events += pvma_sim_event_count(lab->sim);
    lab_note(lab->sim);
    for (unsigned i = 0; i < lab->end_count; i++)
        lab->ends[i]->free(lab->ends[i]);
    for (unsigned i = 0; i < lab->setup.hosts; i++) {
        if (lab->daemons[i])
            pvma_daemon_free(lab->daemons[i]);
        pvma_station_clear(&lab->stations[i]);
    }
    for (unsigned i = 0; i < lab->process_count; i++)
        pvma_fiber_free(lab->processes[i]);
    if (lab->ethernet)
        pvma_ethernet_free(lab->ethernet);
    if (lab->fddi)
        pvma_fddi_free(lab->fddi);
    if (!lab->net) {
        pvma_sim_free(lab->sim);
        return;
    }
    pvma_ip_atm_free(lab->ip);
    pvma_net_free(lab->net);
}

static void connect_fore(struct lab *lab, enum pvma_aal aal, unsigned a, unsigned b, struct pvma_end **end_a,
                         struct pvma_end **end_b)
{
    struct pvma_contract contract = {.aal = aal, .flow = PVMA_DUPLEX};
    struct pvma_vc *vc_a, *vc_b;

    if (pvma_net_pvc(lab->net, host_at(lab, a), host_at(lab, b), &contract, &vc_a, &vc_b) != 0)
        exit(1);
    pvma_end_fore(vc_a, vc_b, end_a, end_b);
}

static struct pvma_daemon *daemon_of(struct lab *lab, unsigned i)
{
    uint32_t packet_bytes = lab->setup.daemon_packet_bytes ? lab->setup.daemon_packet_bytes : DAEMON_PACKET;

    if (!lab->daemons[i])
        lab->daemons[i] = pvma_daemon_new(&lab->stations[i], packet_bytes);
    return lab->daemons[i];
}

void lab_connect(struct lab *lab, enum lab_stack stack, unsigned a, unsigned b, struct pvma_end **end_a,
                 struct pvma_end **end_b)
{
    struct pvma_station *on_a = &lab->stations[a], *on_b = &lab->stations[b];

    switch (stack) {
    case LAB_FORE34:
    case LAB_FORE5:
        connect_fore(lab, stack == LAB_FORE5 ? PVMA_AAL5 : PVMA_AAL34, a, b, end_a, end_b);
        break;
    case LAB_TCP:
        pvma_end_tcp(on_a, on_b, &lab->setup.tcp, end_a, end_b);
        break;
    case LAB_RPC:
        pvma_end_rpc(on_a, on_b, &lab->setup.tcp, end_a, end_b);
        break;
    case LAB_PVM_DIRECT:
        pvma_end_pvm_direct(on_a, on_b, &lab->setup.tcp, lab->setup.pvm_fragment_bytes, end_a, end_b);
        break;
    case LAB_PVM_DAEMON:
        pvma_end_pvm_daemon(daemon_of(lab, a), daemon_of(lab, b), end_a, end_b);
        break;
    }
    lab->ends[lab->end_count++] = *end_a;
    lab->ends[lab->end_count++] = *end_b;
}

static void begin(void *arg)
{
    pvma_fiber_resume(arg);
}

void lab_start(struct lab *lab, pvma_fiber_main *program, void *arg)
{
    struct pvma_fiber *f = pvma_fiber_new(program, arg);

    lab->processes[lab->process_count++] = f;
    pvma_sim_call(lab->sim, pvma_sim_now(lab->sim), begin, f);
}

void lab_compute(struct lab *lab, unsigned host, double us)
{
    pvma_cpu_use(&lab->stations[host].cpu, pvma_price_of((struct pvma_price){us, 0}, 0));
}

void lab_run(struct lab *lab, double limit_s)
{
    pvma_sim_run_until(lab->sim, pvma_sim_now(lab->sim) + (pvma_ps)(limit_s * 1e12));
}

double lab_now_us(const struct lab *lab)
{
    return (double)pvma_sim_now(lab->sim) / 1e6;
}
