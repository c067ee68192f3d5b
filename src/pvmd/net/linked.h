/* linked.h - which hosts have a link, so that looking at all links does not cost a look at all hosts. */
#ifndef PVMD_LINKED_H
#define PVMD_LINKED_H

/* Called by link.c when it makes a link, and before it frees one. */
void pvmd_linked_add(unsigned host_index);
void pvmd_linked_remove(unsigned host_index);

/*
 * Copies the indices of these hosts, in no order, to `indices`, which has room for PVMC_HOST_INDEX_MAX. Returns their
 * number. A host of the copy may be gone by the time that the caller comes to it.
 */
unsigned pvmd_linked_list(unsigned *indices);

#endif
