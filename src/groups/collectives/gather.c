/*
 * gather.c - pvm_gather(): collects the members' data at the root, in the order of their instances.
 */
#include <string.h>
#include <utlist.h>
#include "libpvm/base/call.h"
#include "collect.h"
#include "handover.h"
#include "pvm3.h"

/* Copies all parts to their places in the result. */
static void place(const struct pvmg_collect *k, char *result)
{
    const struct pvmg_packet *p;

    DL_FOREACH (k->pieces, p)
        memcpy(result + (size_t)k->c->tree.ranks[p->start] * p->bytes, p->data, p->bytes);
}

static int gather(void *result, void *data, int n, int type, int tag, const char *group, int root)
{
    struct pvmg_collective c;
    struct pvmg_collect k = {.c = &c};
    int code = pvmg_collective_begin(&c, PVMG_GATHER, group, n, type, tag, root);

    if (code >= 0 && (!data || (c.tree.mine == 0 && !result)))
        code = PvmBadParam;
    if (code >= 0)
        code = pvmg_collect_run(&k, data);
    if (code >= 0 && c.tree.mine == 0)
        place(&k, result);
    pvmg_collect_free(&k);
    return pvmg_collective_end(&c, code);
}

int pvm_gather(void *result, void *data, int n, int type, int tag, char *group, int root)
{
    PVMI_BEGIN(TEV_GATHER, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = PvmOk;
    if (!pvmg_handover_collect(NULL, result, data, n, type, tag, group, root))
        code = gather(result, data, n, type, tag, group, root);
    PVMI_END(TEV_GATHER, PVMI_INT(CC, code));
    return code;
}
