/* module.c - libdpvm_ofi.so: those functions of libfabric that are no inline calls through its objects. */
#include "transports/ofi/fabric.h"

/* A failed call returns no list. */
static int getinfo(uint32_t api, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out)
{
    struct fi_info *found = NULL;
    int rc = fi_getinfo(api, node, service, flags, hints, &found);
    *out = rc ? NULL : found;
    return rc;
}

__attribute__((visibility("default"))) const struct pvmt_fabric dpvm_ofi_module = {
    .version = PVMT_FABRIC_VERSION,
    .getinfo = getinfo,
    .freeinfo = fi_freeinfo,
    .dupinfo = fi_dupinfo,
    .fabric = fi_fabric,
    .strerror = fi_strerror,
};
