/*
 * lease.c - one word for each link that says whether what it has lent is still valid: its own key, or 0. Peers read it
 * after a large frame.
 */
#include <endian.h>
#include <stdlib.h>
#include "core/error.h"
#include "ofi_transport.h"

int pvmt_ofi_leases_open(struct ofi_transport *t)
{
    t->leases = calloc(OFI_LEASES, sizeof *t->leases);
    if (!t->leases)
        return PVMC_ENOMEM;
    t->lease_region = pvmt_ofi_register(t, t->leases, OFI_LEASES * sizeof *t->leases, FI_REMOTE_READ);
    return t->lease_region ? 0 : PVMC_ELIMIT;
}

void pvmt_ofi_leases_close(struct ofi_transport *t, bool foreign)
{
    if (t->lease_region && !foreign)
        fi_close(&t->lease_region->fid);
    free(t->leases);
}

int pvmt_ofi_lease_begin(struct ofi_link *l)
{
    struct ofi_transport *t = pvmt_ofi_of(l);
    for (unsigned i = 0; i < OFI_LEASES && !l->lease; i++)
        if (!t->leases[(l->own_key + i) % OFI_LEASES])
            l->lease = &t->leases[(l->own_key + i) % OFI_LEASES];
    if (!l->lease)
        return PVMC_ELIMIT;
    *l->lease = htole64(l->own_key);
    return 0;
}

void pvmt_ofi_lease_end(struct ofi_link *l)
{
    if (l->lease)
        __atomic_store_n(l->lease, 0, __ATOMIC_SEQ_CST);
    l->lease = NULL;
}
