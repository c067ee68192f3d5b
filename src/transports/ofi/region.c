/* region.c - memory that is registered with libfabric, whose providers keep a cache of what is costly to register. */
#include <string.h>
#include <sys/random.h>
#include "core/log.h"
#include "ofi_transport.h"

#define KEYS_TO_TRY 4

/* A memory key that nobody can guess, as far as its size permits; the provider draws it if it wants to. */
static uint64_t draw_key(const struct ofi_transport *t)
{
    uint64_t key = 0;
    size_t bytes = t->info->domain_attr->mr_key_size;
    if (!(t->info->domain_attr->mr_mode & FI_MR_PROV_KEY) &&
        getrandom(&key, bytes < sizeof key ? bytes : sizeof key, 0) < 0)
        key = 0;
    return key;
}

/* Some providers want the endpoint, too. */
static int enable(const struct ofi_transport *t, struct fid_mr *mr)
{
    int rc = 0;
    if (t->info->domain_attr->mr_mode & FI_MR_ENDPOINT)
        rc = fi_mr_bind(mr, &t->ep->fid, 0);
    if (!rc && t->info->domain_attr->mr_mode & FI_MR_ENDPOINT)
        rc = fi_mr_enable(mr);
    if (rc)
        fi_close(&mr->fid);
    return rc;
}

struct fid_mr *pvmt_ofi_register(struct ofi_transport *t, const void *data, size_t bytes, uint64_t access)
{
    struct fid_mr *mr = NULL;
    int rc = -FI_ENOKEY;
    for (unsigned i = 0; i < KEYS_TO_TRY && rc == -FI_ENOKEY; i++)
        rc = fi_mr_reg(t->domain, data, bytes, access, 0, draw_key(t), 0, &mr, NULL);
    if (!rc)
        rc = enable(t, mr);
    if (rc)
        pvmc_log_once(PVMC_LOG_WARNING, "ofi: %s cannot register %zu bytes: %s; see ulimit -l",
                      t->info->fabric_attr->prov_name, bytes, t->lib->strerror(-rc));
    return rc ? NULL : mr;
}

uint64_t pvmt_ofi_location(const struct ofi_transport *t, const void *data, const void *at)
{
    bool by_address = t->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    return by_address ? (uintptr_t)at : (uint64_t)((const uint8_t *)at - (const uint8_t *)data);
}
