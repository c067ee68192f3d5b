/* events.c - see events.h. */
#include "events.h"

static const struct pvmd_listeners *listeners;

void pvmd_events_listen(const struct pvmd_listeners *all)
{
    listeners = all;
}

/* Calls the listeners of an event, in order, with the arguments of the function that it stands in. */
#define TELL(event, ...)                                                                                               \
    for (size_t i = 0; listeners && listeners->event[i]; i++)                                                          \
    listeners->event[i](__VA_ARGS__)

void pvmd_tell_daemon_ends(void)
{
    TELL(daemon_ends);
}

void pvmd_tell_host_joined(const struct pvmd_host *host)
{
    TELL(host_joined, host);
}

void pvmd_tell_host_left(unsigned index)
{
    TELL(host_left, index);
}

void pvmd_tell_master_changed(void)
{
    TELL(master_changed);
}

void pvmd_tell_tables_committed(uint32_t seq)
{
    TELL(tables_committed, seq);
}

void pvmd_tell_link_up(unsigned host_index)
{
    TELL(link_up, host_index);
}

void pvmd_tell_link_lost(unsigned host_index, const char *why)
{
    TELL(link_lost, host_index, why);
}

void pvmd_tell_link_out(unsigned host_index)
{
    TELL(link_out, host_index);
}

void pvmd_tell_link_count(unsigned host_index, uint32_t received, enum pvmd_count kind)
{
    TELL(link_count, host_index, received, kind);
}

void pvmd_tell_sender_charged(pvmc_tid sender, pvmc_tid receiver, size_t bytes)
{
    TELL(sender_charged, sender, receiver, bytes);
}

void pvmd_tell_sender_ended(pvmc_tid sender)
{
    TELL(sender_ended, sender);
}

void pvmd_tell_client_gone(pid_t pid)
{
    TELL(client_gone, pid);
}

void pvmd_tell_task_enrolled(struct pvmd_task *task)
{
    TELL(task_enrolled, task);
}

void pvmd_tell_task_left(const struct pvmd_task *task)
{
    TELL(task_left, task);
}

void pvmd_tell_task_ends(const struct pvmd_task *task)
{
    TELL(task_ends, task);
}

void pvmd_tell_task_ended(const struct pvmd_task *task)
{
    TELL(task_ended, task);
}
