/* view.c - pvm_upkview and pvm_freeview: values where they lie in the message's memory. A view is a reference to that.
 */
#include "core/memory/mem.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/route/remainder.h"

void *pvm_upkview(void *view, int type, int n, void **items)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_remainder_await_items(type, n);
    struct pvmc_message *m = pvmi_receive_buffer.m;
    void *result = !rc && m && items ? pvmc_message_view(m, view, type, n, items) : NULL;
    PVMI_END(PVMI_UNTRACED);
    return result;
}

int pvm_freeview(void *view)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    pvmc_mem_unref(view);
    PVMI_END(PVMI_UNTRACED);
    return 0;
}
