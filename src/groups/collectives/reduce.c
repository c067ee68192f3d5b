/*
 * reduce.c - pvm_reduce(): combines the members' data element by element into the root's. The other members' data stays
 * unchanged, and so does the root's when the call fails.
 */
#include <string.h>
#include "libpvm/base/call.h"
#include "collect.h"
#include "handover.h"
#include "pvm3.h"

typedef void combine(int *type, void *x, void *y, int *n, int *info);

/* Whether it is ours, and calls nothing. A program's own function may call anything, or jump. */
static bool is_ours(combine *func)
{
    return func == PvmSum || func == PvmMax || func == PvmMin || func == PvmProduct;
}

static int reduce(combine *func, void *data, int n, int type, int tag, const char *group, int root)
{
    struct pvmg_collective c;
    struct pvmg_collect k = {.c = &c, .reduce = func};
    int code = pvmg_collective_begin(&c, PVMG_REDUCE, group, n, type, tag, root);

    if (code >= 0 && (!func || !data))
        code = PvmBadParam;
    if (code >= 0)
        code = pvmg_collect_run(&k, data);
    if (code >= 0 && c.tree.mine == 0)
        memcpy(data, k.pieces->data, k.pieces->bytes);
    pvmg_collect_free(&k);
    return pvmg_collective_end(&c, code);
}

int pvm_reduce(void (*func)(int *type, void *x, void *y, int *n, int *info), void *data, int n, int type, int tag,
               char *group, int root)
{
    PVMI_BEGIN(TEV_REDUCE, PVMI_STRING(GN, group), PVMI_INT(MC, tag));
    int code = PvmOk;
    if (!is_ours(func) || !pvmg_handover_collect(func, NULL, data, n, type, tag, group, root))
        code = reduce(func, data, n, type, tag, group, root);
    PVMI_END(TEV_REDUCE, PVMI_INT(CC, code));
    return code;
}
