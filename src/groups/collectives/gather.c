/*
 * gather.c - pvm_gather: brings the members' data together at the root, in the order of their instances.
 */
#include <string.h>
#include <utlist.h>
#include "../libpvm/call.h"
#include "collect.h"
#include "pvm3.h"

/* Puts all parts where they belong. */
static void place(const struct pvmi_collect *k, char *result)
{
    const struct pvmi_parcel *p;

    DL_FOREACH (k->pieces, p)
        memcpy(result + (size_t)k->c->tree.ranks[p->start] * p->bytes, p->data, p->bytes);
}

int pvm_gather(void *result, void *data, int n, int type, int tag, char *group, int root)
{
    struct pvmi_collective c;
    struct pvmi_collect k = {.c = &c};

    PVMI_BEGIN(TEV_GATHER, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = pvmi_collective_begin(&c, PVMI_GATHER, group, n, type, tag, root);

    if (code >= 0 && (!data || (c.tree.mine == 0 && !result)))
        code = PvmBadParam;
    if (code >= 0)
        code = pvmi_collect_run(&k, data);
    if (code >= 0 && c.tree.mine == 0)
        place(&k, result);
    pvmi_collect_free(&k);
    code = pvmi_collective_end(&c, code);
    PVMI_END(TEV_GATHER, PVMI_INT(CC, code));
    return code;
}
