/*
 * table.h - which descriptors are endpoints. In a child of fork() there are none: they are closed, since a ring cannot
 * be read by two.
 */
#ifndef PVMI_DP_TABLE_H
#define PVMI_DP_TABLE_H

struct pvmi_endpoint;

#define PVMI_TABLE_MAX 65536 /* descriptors from here on cannot be endpoints */

/* Enters it under its descriptor: 0 or PVMI_ELIMIT. */
int pvmi_table_put(struct pvmi_endpoint *e);

/* Takes it out; NULL if it is not there. */
struct pvmi_endpoint *pvmi_table_take(int fd);

#endif
