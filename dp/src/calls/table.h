/*
 * table.h - maps descriptors to endpoints. A child of fork() has none: they are closed, because two processes cannot
 * read one ring.
 */
#ifndef DPI_DP_TABLE_H
#define DPI_DP_TABLE_H

struct dpi_endpoint;

#define DPI_TABLE_MAX 65536 /* descriptors from here on cannot be endpoints */

/* Adds the endpoint: 0 or PVMC_ELIMIT. */
int dpi_table_put(struct dpi_endpoint *e);

/* Removes the endpoint; NULL if there is none. */
struct dpi_endpoint *dpi_table_take(int fd);

#endif
