/* descriptors.c - see descriptors.h. */
#include "descriptors.h"
#include "arrivals.h"
#include "call.h"
#include "carrier.h"
#include "compat.h"
#include "link.h"
#include "perror.h"
#include "task.h"

void pvmi_descriptors_settle(void)
{
    if (pvmi_link_is_up())
        pvmi_carrier_ring(pvmi_arrivals_count || pvmi_link_arm());
}

void pvmi_descriptors_forget(void)
{
    __atomic_fetch_and(&pvmi_call_watch, ~(unsigned)PVMI_WATCH_DESCRIPTORS, __ATOMIC_RELAXED);
}

static int list_descriptors(int **fds)
{
    static _Thread_local int descriptors[1];
    int rc = pvmi_task_need();
    if (rc)
        return rc;
    __atomic_fetch_or(&pvmi_call_watch, PVMI_WATCH_DESCRIPTORS, __ATOMIC_RELAXED);
    pvmi_descriptors_settle(); /* when this call began it was not watched */
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
