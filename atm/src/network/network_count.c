/* network_count.c - sums and prints the counters of all parts. */
#include <string.h>
#include "network_parts.h"

static void add_words(void *sum, const void *part, size_t bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = part;
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

void pvma_net_count(struct pvma_net *net, struct pvma_net_counters *counters)
{
    memset(counters, 0, sizeof *counters);
    for (size_t i = 0; i < net->host_count; i++)
        add_words(&counters->hosts, pvma_host_counters(net->hosts[i]), sizeof counters->hosts);
    uint64_t most = 0;
    for (size_t i = 0; i < net->switch_count; i++) {
        const struct pvma_switch_counters *s = pvma_switch_counters(net->switches[i]);
        add_words(&counters->switches, s, sizeof *s);
        most = s->most_queued > most ? s->most_queued : most;
    }
    counters->switches.most_queued = most;
    for (size_t i = 0; i < net->link_count; i++)
        add_words(&counters->links, &net->links[i]->counters, sizeof counters->links);
}

/* ---- the report ---- */

static void print(FILE *out, const char *where, const char *what, uint64_t count)
{
    if (count)
        fprintf(out, "%-24s %-24s %12llu\n", where, what, (unsigned long long)count);
}

#define PRINT(field) print(out, where, #field, c->field)

static void print_host(FILE *out, const char *where, const struct pvma_host_counters *c)
{
    PRINT(pdus_sent);
    PRINT(bytes_sent);
    PRINT(tx_queue_drops);
    PRINT(tx_queue_waits);
    PRINT(cells_sent);
    PRINT(cells_received);
    PRINT(rx_fifo_drops);
    PRINT(rx_unknown);
    PRINT(inject_drops);
    PRINT(rx_background);
    PRINT(rm_sent);
    PRINT(rm_returned);
    PRINT(rm_turned);
    PRINT(rm_bad);
    PRINT(pdus_received);
    PRINT(bytes_received);
    PRINT(rx_queue_drops);
    PRINT(reader_drops);
    for (int i = 0; i < PVMA_AAL_ERRORS; i++) {
        char what[32];
        snprintf(what, sizeof what, "aal_%s", pvma_aal_error_name(i));
        print(out, where, what, c->aal[i]);
    }
}

static void print_switch(FILE *out, const char *where, const struct pvma_switch_counters *c)
{
    PRINT(cells_in);
    PRINT(cells_out);
    PRINT(unknown);
    PRINT(background);
    PRINT(dropped);
    PRINT(would_drop);
    PRINT(routed);
    PRINT(routed_would_drop);
    PRINT(pushed_out);
    PRINT(abr_cells);
    PRINT(abr_dropped);
    PRINT(rm_lowered);
    PRINT(most_queued);
    PRINT(slots);
    PRINT(matched);
    PRINT(policed);
    PRINT(tagged);
    PRINT(clp_dropped);
    PRINT(epd_frames);
    PRINT(epd_cells);
    PRINT(ppd_frames);
    PRINT(ppd_cells);
}

static void print_port(FILE *out, const char *where, const struct pvma_switch_port_counters *c)
{
    PRINT(dropped);
    PRINT(would_drop);
    PRINT(clp_dropped);
    PRINT(epd_frames);
    PRINT(epd_cells);
    PRINT(ppd_frames);
    PRINT(ppd_cells);
    PRINT(most_queued);
    print(out, where, "mean_wait_ns", c->sent ? c->waited / c->sent / (uint64_t)PVMA_NS : 0);
}

/* The outputs of a switch, by the links that leave them. */
static void print_ports(FILE *out, struct pvma_switch *s)
{
    const struct pvma_node *node = pvma_switch_node(s);
    for (unsigned port = 0; port < node->ports; port++) {
        char where[2 * PVMA_NAME_MAX + 4];
        if (!node->port[port].out)
            continue;
        snprintf(where, sizeof where, "%s>%s", node->name, node->port[port].out->to->name);
        print_port(out, where, pvma_switch_port_counters(s, port));
    }
}

static void print_link(FILE *out, const char *where, const struct pvma_link_counters *c)
{
    PRINT(cells);
    PRINT(lost);
    PRINT(failed);
    PRINT(failures);
    PRINT(damaged);
    PRINT(corrected);
    PRINT(hec);
    PRINT(credits);
}

void pvma_net_report(struct pvma_net *net, FILE *out)
{
    for (size_t i = 0; i < net->host_count; i++)
        print_host(out, pvma_host_name(net->hosts[i]), pvma_host_counters(net->hosts[i]));
    for (size_t i = 0; i < net->switch_count; i++) {
        print_switch(out, pvma_switch_node(net->switches[i])->name, pvma_switch_counters(net->switches[i]));
        print_ports(out, net->switches[i]);
    }
    for (size_t i = 0; i < net->link_count; i++) {
        const struct pvma_link *link = net->links[i];
        char where[2 * PVMA_NAME_MAX + 4];
        snprintf(where, sizeof where, "%s>%s", link->from->name, link->to->name);
        print_link(out, where, &link->counters);
    }
}
