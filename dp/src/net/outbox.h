/*
 * outbox.h - gathers frames of reliable channels to send them with one system call, which costs about as much as all
 * other work for a frame. Frames wait only while a program does nothing but write (dp_write()); every other call sends
 * them. Frames keep their order.
 */
#ifndef DPI_DP_OUTBOX_H
#define DPI_DP_OUTBOX_H

#include <stddef.h>
#include <sys/uio.h>

#define DPI_OUTBOX_FRAMES 64

struct dpi_endpoint;
struct dpi_sendbuf;

struct dpi_outbox {
    unsigned count;
    struct iovec frames[DPI_OUTBOX_FRAMES];
    struct dpi_sendbuf *bufs[DPI_OUTBOX_FRAMES]; /* they belong to */
    int64_t flushed_us;                          /* end of the last flush of several frames */
};

/*
 * Adds the first `length` bytes of the buffer's frame, which must not change until it is sent or forgotten. 0, or why
 * the frames before it cannot be sent: PVMC_EAGAIN, PVMC_EDOWN (those are lost).
 */
int dpi_outbox_add(struct dpi_endpoint *e, struct dpi_sendbuf *buf, size_t length);

/* Sends all frames, and notes whether the interface is down. 0; PVMC_EAGAIN: some still wait; else they are lost. */
int dpi_outbox_flush(struct dpi_endpoint *e);

/* The buffer is about to be freed: removes its frames. */
void dpi_outbox_forget(struct dpi_endpoint *e, const struct dpi_sendbuf *buf);

#endif
