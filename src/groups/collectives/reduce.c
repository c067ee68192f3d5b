/*
 * reduce.c - pvm_reduce: combines the members' data, element by element, into the root's. The other members' data stay
 * as they are; so do the root's when it fails.
 */
#include <string.h>
#include "../libpvm/call.h"
#include "collect.h"
#include "pvm3.h"

int pvm_reduce(void (*func)(int *type, void *x, void *y, int *n, int *info), void *data, int n, int type, int tag,
               char *group, int root)
{
    struct pvmi_collective c;
    struct pvmi_collect k = {.c = &c, .reduce = func};

    PVMI_BEGIN(TEV_REDUCE, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = pvmi_collective_begin(&c, PVMI_REDUCE, group, n, type, tag, root);

    if (code >= 0 && (!func || !data))
        code = PvmBadParam;
    if (code >= 0)
        code = pvmi_collect_run(&k, data);
    if (code >= 0 && c.tree.mine == 0)
        memcpy(data, k.pieces->data, k.pieces->bytes);
    pvmi_collect_free(&k);
    code = pvmi_collective_end(&c, code);
    PVMI_END(TEV_REDUCE, PVMI_INT(CC, code));
    return code;
}
