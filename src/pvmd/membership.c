/* membership.c - the one place that knows which duties hang on hosts joining and leaving. */
#include "membership.h"
#include "daemon.h"

void pvmd_host_joined(struct pvmd_host *host)
{
    pvmd_notify_host_joined(host);
    pvmd_manager_host_joined(host);
    pvmd_trim_later();
}

/* Programs see HostDelete before the TaskExit of its tasks. */
void pvmd_host_left(unsigned index)
{
    pvmd_relay_host_left(index);
    pvmd_notify_host_left(index);
    pvmd_watch_host_left(index);
    pvmd_output_host_left(index);
    pvmd_siblings_host_left(index);
    pvmd_manager_host_left(index);
}
