/* table.c - all transports that dpvm knows, in any order: routes are chosen by attributes. */
#include <string.h>
#include "transport.h"

#define MISSING(name, why_not)
#define BUILT(name, why_not)    extern const struct pvmt_transport_ops pvmt_##name##_ops;
#define INTERNAL(name, why_not) extern const struct pvmt_transport_ops pvmt_##name##_ops;
#include <transport_rows.h> /* made from the list in CMakeLists.txt */
#undef MISSING
#undef BUILT
#undef INTERNAL

const struct pvmt_transport_row pvmt_transport_table[] = {
#define MISSING(transport, reason) {.name = #transport, .why_not = reason},
#define BUILT(transport, reason)   {.name = #transport, .ops = &pvmt_##transport##_ops},
#define INTERNAL(transport, reason)                                                                                    \
    {.name = #transport, .ops = &pvmt_##transport##_ops, .internal = true, .why_not = reason},
#include <transport_rows.h>
    {0},
};

const struct pvmt_transport_ops *pvmt_transport_find(const char *name)
{
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++)
        if (!strcmp(row->name, name))
            return row->ops;
    return NULL;
}
