/* peer.c - addresses of other endpoints. One stays known as long as a link or an operation needs it. */
#include <stdlib.h>
#include <sys/socket.h>
#include "core/log.h"
#include "ofi_transport.h"

/* libfabric 1.17 takes no address at all any more once it has seen one of an unknown family. */
static bool is_of_our_family(const struct ofi_transport *t, const uint8_t *address)
{
    bool ip = t->info->addr_format == FI_SOCKADDR_IN || t->info->addr_format == FI_SOCKADDR_IN6;
    return !ip || !memcmp(address, t->address, sizeof(sa_family_t));
}

static struct ofi_peer *add(struct ofi_transport *t, const uint8_t *address)
{
    struct ofi_peer *p = is_of_our_family(t, address) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    memcpy(p->address, address, sizeof p->address);
    int rc = fi_av_insert(t->av, p->address, 1, &p->number, 0, NULL);
    if (rc == 1 && PVMC_HASH_ADD(hh, t->peers, address, p))
        return p;
    if (rc == 1)
        fi_av_remove(t->av, &p->number, 1, 0);
    pvmc_log(PVMC_LOG_INFO, "ofi: %s does not take a peer's address: %s", t->info->fabric_attr->prov_name,
             t->lib->strerror(rc < 0 ? -rc : FI_EINVAL));
    free(p);
    return NULL;
}

struct ofi_peer *pvmt_ofi_peer_get(struct ofi_transport *t, const uint8_t *address, size_t length)
{
    struct ofi_peer *p;
    uint8_t padded[PVMT_OFI_ADDRESS_BYTES] = {0};
    memcpy(padded, address, length);
    HASH_FIND(hh, t->peers, padded, sizeof padded, p);
    if (!p)
        p = add(t, padded);
    if (p)
        p->uses++;
    return p;
}

void pvmt_ofi_peer_put(struct ofi_transport *t, struct ofi_peer *p)
{
    if (!p || --p->uses)
        return;
    fi_av_remove(t->av, &p->number, 1, 0);
    HASH_DEL(t->peers, p);
    free(p);
}

void pvmt_ofi_peer_leaves(struct ofi_transport *t, const uint8_t *address)
{
    struct ofi_peer *p;
    HASH_FIND(hh, t->peers, address, PVMT_OFI_ADDRESS_BYTES, p);
    if (p)
        p->gone = true;
}

void pvmt_ofi_peers_close(struct ofi_transport *t)
{
    struct ofi_peer *p, *next;
    HASH_ITER (hh, t->peers, p, next) {
        HASH_DEL(t->peers, p);
        free(p);
    }
}
