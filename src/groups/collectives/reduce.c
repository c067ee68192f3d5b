/*
 * reduce.c - pvm_reduce(): combines the members' data element by element into the root's. The other members' data stays
 * unchanged, and so does the root's when the call fails.
 */
#include <string.h>
#include "libpvm/base/call.h"
#include "collect.h"
#include "pvm3.h"

int pvm_reduce(void (*func)(int *type, void *x, void *y, int *n, int *info), void *data, int n, int type, int tag,
               char *group, int root)
{
    struct pvmg_collective c;
    struct pvmg_collect k = {.c = &c, .reduce = func};

    PVMI_BEGIN(TEV_REDUCE, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = pvmg_collective_begin(&c, PVMG_REDUCE, group, n, type, tag, root);

    if (code >= 0 && (!func || !data))
        code = PvmBadParam;
    if (code >= 0)
        code = pvmg_collect_run(&k, data);
    if (code >= 0 && c.tree.mine == 0)
        memcpy(data, k.pieces->data, k.pieces->bytes);
    pvmg_collect_free(&k);
    code = pvmg_collective_end(&c, code);
    PVMI_END(TEV_REDUCE, PVMI_INT(CC, code));
    return code;
}
