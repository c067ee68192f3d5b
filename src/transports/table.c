/* table.c - all transports that dpvm knows; the order is of no importance, routes are chosen by attributes. */
#include <string.h>
#include "transport.h"

extern const struct pvmi_transport_ops pvmi_unix_ops;
extern const struct pvmi_transport_ops pvmi_loop_ops;
extern const struct pvmi_transport_ops pvmi_shm_ops;
extern const struct pvmi_transport_ops pvmi_tcp_ops;
extern const struct pvmi_transport_ops pvmi_atm_ops;
extern const struct pvmi_transport_ops pvmi_dp_ops;
extern const struct pvmi_transport_ops pvmi_rdma_ops;

const struct pvmi_transport_row pvmi_transport_table[] = {
    {.name = "unix",
     .ops = &pvmi_unix_ops,
     .internal = true,
     .why_not = "leads from a task to its daemon, and that route is named daemon"},
    {.name = "loop", .ops = &pvmi_loop_ops, .internal = true, .why_not = "does not leave the process"},
    {.name = "tcp", .ops = &pvmi_tcp_ops},
    {.name = "shm", .ops = &pvmi_shm_ops},
    {.name = "dp", .ops = &pvmi_dp_ops},
#ifdef DPVM_HAVE_VERBS
    {.name = "rdma", .ops = &pvmi_rdma_ops},
#else
    {.name = "rdma", .why_not = "RDMA verbs; built without libibverbs-dev"},
#endif
    {.name = "atm", .ops = &pvmi_atm_ops},
    {0},
};

const struct pvmi_transport_ops *pvmi_transport_find(const char *name)
{
    for (const struct pvmi_transport_row *row = pvmi_transport_table; row->name; row++)
        if (!strcmp(row->name, name))
            return row->ops;
    return NULL;
}
