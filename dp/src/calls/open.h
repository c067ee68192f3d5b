/* open.h - creating and closing endpoints. */
#ifndef DPI_DP_OPEN_H
#define DPI_DP_OPEN_H

struct dpi_endpoint;

/* Frees everything that the endpoint owns. A descriptor of -1 is not closed. */
void dpi_open_undo(struct dpi_endpoint *e);

/* In a child of fork(): closes descriptors and unmaps memory; async-signal-safe. */
void dpi_open_abandon(const struct dpi_endpoint *e);

#endif
