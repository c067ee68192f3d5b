/* linked.c - see linked.h. */
#include "linked.h"
#include <string.h>
#include "core/message/tid.h"

static unsigned list[PVMC_HOST_INDEX_MAX];
static unsigned count;
static unsigned place[PVMC_HOST_INDEX_MAX + 1]; /* of each host in the list, plus 1; 0: not in it */

void pvmd_linked_add(unsigned host_index)
{
    if (place[host_index])
        return;
    list[count++] = host_index;
    place[host_index] = count;
}

void pvmd_linked_remove(unsigned host_index)
{
    unsigned at = place[host_index];
    if (!at)
        return;
    unsigned last = list[--count];
    list[at - 1] = last;
    place[last] = at;
    place[host_index] = 0;
}

unsigned pvmd_linked_list(unsigned *indices)
{
    memcpy(indices, list, count * sizeof *indices);
    return count;
}
