/* outbox.c - see outbox.h. */
#include "outbox.h"
#include <string.h>
#include "core/clock.h"
#include "core/error.h"
#include "endpoint.h"

int dpi_outbox_add(struct dpi_endpoint *e, struct dpi_sendbuf *buf, size_t length)
{
    struct dpi_outbox *o = &e->outbox;
    int rc = o->count == DPI_OUTBOX_FRAMES ? dpi_outbox_flush(e) : 0;
    if (rc)
        return rc;
    o->frames[o->count] = (struct iovec){buf->frame, length};
    o->bufs[o->count++] = buf;
    buf->waiting++;
    return 0;
}

/* Removes the first n. */
static void drop(struct dpi_outbox *o, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        o->bufs[i]->waiting--;
    o->count -= n;
    memmove(o->frames, o->frames + n, o->count * sizeof *o->frames);
    memmove(o->bufs, o->bufs + n, o->count * sizeof *o->bufs);
}

int dpi_outbox_flush(struct dpi_endpoint *e)
{
    struct dpi_outbox *o = &e->outbox;
    bool many = o->count > 1;
    while (o->count) {
        int n = dpi_port_put_many(&e->port, o->frames, o->count);
        e->down = n == PVMC_EDOWN;
        if (n == PVMC_EAGAIN)
            return n;
        drop(o, n < 0 ? o->count : (unsigned)n);
        if (n < 0)
            return n;
    }
    if (many)
        o->flushed_us = pvmc_clock_us();
    return 0;
}

void dpi_outbox_forget(struct dpi_endpoint *e, const struct dpi_sendbuf *buf)
{
    struct dpi_outbox *o = &e->outbox;
    unsigned kept = 0;
    for (unsigned i = 0; i < o->count; i++) {
        if (o->bufs[i] == buf)
            continue;
        o->frames[kept] = o->frames[i];
        o->bufs[kept++] = o->bufs[i];
    }
    o->count = kept;
}
