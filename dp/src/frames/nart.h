/*
 * nart.h - the node address resolution table: maps node ids to hardware addresses.
 *
 * Rows are read from a file or learned from what nodes send. Rows of the file are never replaced; a learned row is
 * forgotten when nothing has confirmed it for a while. The file has one node per line:
 *
 *     # NID  hardware address   local interface (optional; default: any)
 *     1      02:00:00:00:00:01
 *     2      02:00:00:00:00:02  eth1
 */
#ifndef DPI_DP_NART_H
#define DPI_DP_NART_H

#include <stdint.h>

#define DPI_NART_FILE   "/etc/dpvm/nart" /* read if it exists; DP_NART names another one, which must exist */
#define DPI_NART_AGE_US 300000000        /* after which a learned row is forgotten */
#define DPI_NART_MAX    4096             /* rows */

struct dpi_nart;

/*
 * An empty table, filled from `path` if that is not NULL. PVMC_ENOTFOUND: there is no such file; PVMC_EFORMAT: a line
 * is wrong (the log says which one, and why); PVMC_ELIMIT, PVMC_ENOMEM.
 */
int dpi_nart_open(const char *path, struct dpi_nart **out);
void dpi_nart_close(struct dpi_nart *t); /* NULL is allowed */

/* Finds the address of a node. Returns 0 or PVMC_ENOTFOUND. now_us is a time of pvmc_clock_us(). */
int dpi_nart_find(struct dpi_nart *t, uint16_t node, int64_t now_us, uint8_t hardware[6]);

/* A frame of this node came from that address. Rows of the file stay; a full table forgets the oldest learned row. */
void dpi_nart_learn(struct dpi_nart *t, uint16_t node, const uint8_t hardware[6], int64_t now_us);

/* The node with this address in the file; 0: none. */
uint16_t dpi_nart_node_of(const struct dpi_nart *t, const uint8_t hardware[6], const char *interface);

#endif
