/*
 * fabric.h - the functions of libfabric that the transport links with: a table in the module libdpvm_ofi.so, so that
 * libpvm3 does not depend on libfabric. All others are inline calls through the objects that these return.
 *
 * Each entry has the contract of the fi_ function of that name (fi_getinfo(3) and so on).
 */
#ifndef PVMT_OFI_FABRIC_H
#define PVMT_OFI_FABRIC_H

#include <rdma/fabric.h>
#include <stddef.h>

#define PVMT_FABRIC_VERSION 1
#define PVMT_FABRIC_FILE    "libdpvm_ofi.so"
#define PVMT_FABRIC_SYMBOL  "dpvm_ofi_module"

struct pvmt_fabric {
    unsigned version;
    int (*getinfo)(uint32_t api, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context);
    const char *(*strerror)(int error);
};

/* The table, loaded once per process; NULL when it cannot be loaded, with the reason in why[size]. */
const struct pvmt_fabric *pvmt_fabric_load(char *why, size_t size);

#endif
