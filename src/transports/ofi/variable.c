/* variable.c - see variable.h. */
#include "variable.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A message may arrive unread just before its endpoint is closed. libfabric 1.17 then hands the buffer back to the
 * queue pair that it has freed a moment ago, and crashes, unless all peers share one receive queue.
 *
 * The completion queue is as long as UNIVERSE_SIZE * TX_SIZE + RX_SIZE. Soft-RoCE has none with more than 32767
 * entries, and libfabric would ask for 135168. Each of the RX_SIZE buffers has 16 KiB.
 */
static struct variable {
    const char *name, *value;
    bool is_ours;
} variables[] = {
    {"FI_OFI_RXM_USE_SRX", "1", false},
    {"FI_OFI_RXM_MSG_RX_SIZE", "512", false},
    {"FI_OFI_RXM_MSG_TX_SIZE", "32", false},
    {"FI_UNIVERSE_SIZE", "512", false},
};

#define COUNT (sizeof variables / sizeof *variables)

/* libfabric prefers verbs if there is a device for it. */
static bool may_be_verbs(const char *provider)
{
    if (provider && provider[0])
        return !strncmp(provider, "verbs", strlen("verbs"));
    return !access("/sys/class/infiniband", F_OK);
}

void pvmt_ofi_variables_set(const char *provider)
{
    for (unsigned i = 0; may_be_verbs(provider) && i < COUNT; i++) {
        struct variable *v = &variables[i];
        v->is_ours = !getenv(v->name) && !setenv(v->name, v->value, 0);
    }
}

void pvmt_ofi_variables_unset(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        if (variables[i].is_ours)
            unsetenv(variables[i].name);
        variables[i].is_ours = false;
    }
}
