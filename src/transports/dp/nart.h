/*
 * nart.h - the node address resolution table: which hardware address a node id has.
 *
 * Rows come from a file, which has the last word, or are learned from what nodes send, and are then forgotten when they
 * have not been confirmed for a while. The file, one node in a line:
 *
 *     # NID  hardware address   interface there (any, if left out)
 *     1      02:00:00:00:00:01
 *     2      02:00:00:00:00:02  eth1
 */
#ifndef PVMI_DP_NART_H
#define PVMI_DP_NART_H

#include <stdint.h>

#define PVMI_NART_FILE   "/etc/dpvm/nart" /* read if it is there; another one by DP_NART, which must be there */
#define PVMI_NART_AGE_US 300000000        /* after which a learned row is forgotten */
#define PVMI_NART_MAX    4096             /* rows */

struct pvmi_nart;

/*
 * An empty table, filled from `path` if that is not NULL. PVMI_ENOTFOUND: there is no such file; PVMI_EFORMAT: a line
 * is wrong (which one, and why, is logged); PVMI_ELIMIT, PVMI_ENOMEM.
 */
int pvmi_nart_open(const char *path, struct pvmi_nart **out);
void pvmi_nart_close(struct pvmi_nart *t); /* NULL is allowed */

/* The address of a node: 0, or PVMI_ENOTFOUND. now_us as of pvmi_clock_us(). */
int pvmi_nart_find(struct pvmi_nart *t, uint16_t node, int64_t now_us, uint8_t hardware[6]);

/* A frame of this node came from that address. What the file says stays; a full table forgets the oldest learned row.
 */
void pvmi_nart_learn(struct pvmi_nart *t, uint16_t node, const uint8_t hardware[6], int64_t now_us);

/* The node with this address, as the file says; 0: none. */
uint16_t pvmi_nart_node_of(const struct pvmi_nart *t, const uint8_t hardware[6], const char *interface);

#endif
