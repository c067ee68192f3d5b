/* table.c - all transports that dpvm knows; the order is of no importance, routes are chosen by attributes. */
#include <string.h>
#include "transport.h"

extern const struct pvmi_transport_ops pvmi_unix_ops;
extern const struct pvmi_transport_ops pvmi_loop_ops;

const struct pvmi_transport_row pvmi_transport_table[] = {
    {"unix", &pvmi_unix_ops, NULL},
    {"loop", &pvmi_loop_ops, NULL},
    {NULL, NULL, NULL},
};

const struct pvmi_transport_ops *pvmi_transport_find(const char *name)
{
    for (const struct pvmi_transport_row *row = pvmi_transport_table; row->name; row++)
        if (!strcmp(row->name, name))
            return row->ops;
    return NULL;
}
