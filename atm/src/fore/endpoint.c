/* endpoint.c - see endpoint.h. */
#include "endpoint.h"
#include <stdlib.h>
#include <unistd.h>

static struct pvmi_fore_endpoint *all;

struct pvmi_fore_endpoint *pvmi_fore_endpoint_find(int fd)
{
    struct pvmi_fore_endpoint *e;
    HASH_FIND_INT(all, &fd, e);
    return e;
}

struct pvmi_fore_endpoint *pvmi_fore_endpoint_new(int fd, uint32_t number)
{
    struct pvmi_fore_endpoint *old = pvmi_fore_endpoint_find(fd), *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (old) { /* the program closed it with close(2), and the number is used again */
        HASH_DEL(all, old);
        free(old);
    }
    e->fd = fd;
    e->number = number;
    if (!PVMI_HASH_ADD(hh, all, fd, e)) {
        free(e);
        return NULL;
    }
    return e;
}

void pvmi_fore_endpoint_free(struct pvmi_fore_endpoint *e)
{
    HASH_DEL(all, e);
    close(e->fd);
    free(e);
}

void pvmi_fore_endpoint_orphan_all(void)
{
    for (struct pvmi_fore_endpoint *e = all; e; e = e->hh.next)
        e->orphaned = true;
}

bool pvmi_fore_endpoint_any(void)
{
    return all;
}

void pvmi_fore_endpoint_connected(struct pvmi_fore_endpoint *e, Atm_dataflow dataflow, bool caller)
{
    e->connected = true;
    e->dataflow = dataflow;
    e->sends = caller || dataflow == duplex;
    e->receives = !caller || dataflow == duplex;
}
