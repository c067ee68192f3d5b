/*
 * descriptors.c - pvm_getfds(): one descriptor for all routes, readable while a call would find something. For armed
 * links the kernel makes it so; for messages that have already come, the bell does (carrier.h).
 */
#include "libpvm/engine/arrivals.h"
#include "libpvm/base/call.h"
#include "libpvm/engine/carrier.h"
#include "libpvm/base/compat.h"
#include "libpvm/engine/link.h"
#include "libpvm/base/perror.h"
#include "enrol.h"

/* pvmi_call_settle: sets the descriptor right after a call. */
static void settle(void)
{
    if (pvmi_link_is_up())
        pvmi_carrier_ring(pvmi_arrivals_count || pvmi_link_arm());
}

static int list_descriptors(int **fds)
{
    static _Thread_local int descriptors[1];
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    pvmi_call_settle = settle;
    __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_DESCRIPTORS, __ATOMIC_RELAXED);
    settle(); /* this call was not watched when it began */
    descriptors[0] = pvmi_link_fd();
    *fds = descriptors;
    return 1;
}

int pvm_getfds(int **fds)
{
    int *list = NULL;
    PVMI_BEGIN(TEV_GETFDS);
    int rc = pvmi_return("pvm_getfds", list_descriptors(&list));
    PVMI_END(TEV_GETFDS, PVMI_INT(CC, rc), PVMI_INTS(FDS, list, list ? rc : 0));
    if (list && fds)
        *fds = list;
    return rc;
}
