/* open.h - the life of an endpoint. */
#ifndef PVMI_DP_OPEN_H
#define PVMI_DP_OPEN_H

struct pvmi_endpoint;

/* Gives back all that it has. A descriptor of -1 is not closed. */
void pvmi_open_undo(struct pvmi_endpoint *e);

/* In a child of fork(): lets go of descriptors and mappings; calls nothing but what a signal handler may. */
void pvmi_open_abandon(const struct pvmi_endpoint *e);

#endif
