/* endpoint.c - see endpoint.h. */
#include "endpoint.h"
#include <stdlib.h>
#include <unistd.h>

static struct pvma_fore_endpoint *all;

struct pvma_fore_endpoint *pvma_fore_endpoint_find(int fd)
{
    struct pvma_fore_endpoint *e;
    HASH_FIND_INT(all, &fd, e);
    return e;
}

struct pvma_fore_endpoint *pvma_fore_endpoint_new(int fd, uint32_t number)
{
    struct pvma_fore_endpoint *old = pvma_fore_endpoint_find(fd), *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (old) { /* the program closed it with close(2), and the descriptor was reused */
        HASH_DEL(all, old);
        free(old);
    }
    e->fd = fd;
    e->number = number;
    if (!PVMC_HASH_ADD(hh, all, fd, e)) {
        free(e);
        return NULL;
    }
    return e;
}

void pvma_fore_endpoint_free(struct pvma_fore_endpoint *e)
{
    HASH_DEL(all, e);
    close(e->fd);
    free(e);
}

void pvma_fore_endpoint_orphan_all(void)
{
    for (struct pvma_fore_endpoint *e = all; e; e = e->hh.next)
        e->orphaned = true;
}

bool pvma_fore_endpoint_any(void)
{
    return all;
}

void pvma_fore_endpoint_connected(struct pvma_fore_endpoint *e, Atm_dataflow dataflow, bool caller)
{
    e->connected = true;
    e->dataflow = dataflow;
    e->sends = caller || dataflow == duplex;
    e->receives = !caller || dataflow == duplex;
}
