/* gauges.c - see gauges.h. */
#include "gauges.h"

const char *const pvmc_gauges_route_names[] = {
#define X(name) #name,
    PVMC_GAUGES_ROUTES(X)
#undef X
};
