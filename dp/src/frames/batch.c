/* batch.c - see batch.h. */
#include "batch.h"
#include <errno.h>
#include <string.h>
#include "core/error.h"

#define TRIES 4

int dpi_batch_add(struct dpi_batch *b, struct dpi_port *p, const struct dpi_message *m, const uint8_t hardware[6],
                  const struct iovec *pieces, unsigned count)
{
    uint8_t *flat = b->flat[b->count];
    struct iovec *parts = b->parts[b->count];
    bool copied = DPI_HEADERS_BYTES + (size_t)m->length <= DPI_BATCH_FLAT;
    if (m->length > dpi_port_room(p) || count + 1 > DPI_BATCH_PARTS)
        return PVMC_ELIMIT;
    dpi_message_encode(m, p->ethertype, hardware, p->interface.hardware, flat);
    size_t at = DPI_HEADERS_BYTES;
    unsigned i = 0, n = 1;
    for (; i < count && (copied || !i); i++) {
        memcpy(flat + at, pieces[i].iov_base, pieces[i].iov_len);
        at += pieces[i].iov_len;
    }
    parts[0] = (struct iovec){flat, at};
    for (; i < count; i++)
        parts[n++] = pieces[i];
    b->messages[b->count++].msg_hdr = (struct msghdr){.msg_iov = parts, .msg_iovlen = n};
    b->port = p;
    return 0;
}

static bool is_over(int number)
{
    return number == ENETDOWN || number == ENXIO || number == ENODEV;
}

/* Like sendmmsg(), but sends a single flat frame by send(), which is faster. */
static int send_from(struct dpi_batch *b, unsigned first)
{
    const struct msghdr *m = &b->messages[first].msg_hdr;
    if (b->count - first == 1 && m->msg_iovlen == 1)
        return send(b->port->fd, m->msg_iov->iov_base, m->msg_iov->iov_len, MSG_DONTWAIT) < 0 ? -1 : 1;
    return sendmmsg(b->port->fd, b->messages + first, b->count - first, MSG_DONTWAIT);
}

int dpi_batch_flush(struct dpi_batch *b)
{
    int rc = 0;
    for (unsigned done = 0, tries = 0; done < b->count && !rc && tries < TRIES;) {
        int n = send_from(b, done);
        if (n > 0) {
            done += (unsigned)n;
            tries = 0;
        } else if (is_over(errno)) {
            rc = PVMC_EDOWN;
        } else if (errno == EAGAIN || errno == ENOBUFS) {
            tries++;
        } else {
            done++; /* this one cannot be sent */
        }
    }
    b->count = 0;
    return rc;
}
