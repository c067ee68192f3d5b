/*
 * provider.h - the provider of libfabric that links use: the one that PVM_OFI_PROVIDER names, else that of the
 * network card of a cluster, else libfabric's first.
 */
#ifndef PVMT_OFI_PROVIDER_H
#define PVMT_OFI_PROVIDER_H

#include <stdbool.h>
#include "fabric.h"

/* Typical figures of a provider, known without loading libfabric. */
struct pvmt_ofi_figures {
    const char *provider; /* a prefix of its name */
    unsigned latency_ns, bandwidth_mbs;
};

/*
 * The best endpoint description that the settings allow, which the caller frees with freeinfo(). 0, or a PVMC_E code
 * with the reason and the remedy in why[size].
 */
int pvmt_ofi_provider_choose(const struct pvmt_fabric *fabric, struct fi_info **out, char *why, size_t size);

/* Whether there is a provider: 0, or as above. A success is remembered until the settings change. */
int pvmt_ofi_provider_available(char *why, size_t size);

/* The figures of the provider of this name; NULL or "": of the one that would be used. */
const struct pvmt_ofi_figures *pvmt_ofi_provider_figures(const char *name);

/*
 * Whether "auto" takes the transport: there is a card that rdma's verbs cannot use, the settings leave it to us, and
 * do not ask for encryption. Does not load libfabric. `classes` is /sys/class, except in tests.
 */
bool pvmt_ofi_provider_suits_auto(const char *classes);

/* Whether the provider reaches this host only. */
bool pvmt_ofi_provider_is_local(const char *name);

/* describe() of transport.h: each provider with its devices. */
void pvmt_ofi_providers_describe(void (*line)(void *arg, const char *text), void *arg);

#endif
