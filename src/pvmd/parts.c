/* parts.c - see parts.h. */
#include "parts.h"
#include <stddef.h>
#include "pvmd/base/events.h"
#include "pvmd/base/memory.h"
#include "pvmd/duties/context.h"
#include "pvmd/duties/delivery.h"
#include "pvmd/duties/info.h"
#include "pvmd/duties/mailbox.h"
#include "pvmd/duties/manager.h"
#include "pvmd/duties/notify.h"
#include "pvmd/duties/virtual_time.h"
#include "pvmd/hosts/add.h"
#include "pvmd/hosts/drain.h"
#include "pvmd/hosts/join.h"
#include "pvmd/hosts/leave.h"
#include "pvmd/hosts/membership.h"
#include "pvmd/hosts/newcomer.h"
#include "pvmd/hosts/tokens.h"
#include "pvmd/launch/delegated.h"
#include "pvmd/launch/hoster.h"
#include "pvmd/metrics/metrics.h"
#include "pvmd/quorum/petition.h"
#include "pvmd/secret/keys.h"
#include "pvmd/secret/rotation.h"
#include "pvmd/spawn/exec.h"
#include "pvmd/spawn/input.h"
#include "pvmd/spawn/output.h"
#include "pvmd/spawn/spawn.h"
#include "pvmd/spawn/tasker.h"
#include "pvmd/tasks/multicast.h"
#include "pvmd/tasks/overrun.h"
#include "pvmd/tasks/service.h"
#include "pvmd/tasks/siblings.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/tasks/trace.h"
#include "pvmd/tasks/watch.h"
#include "watchdog.h"

static void trim_memory(const struct pvmd_host *host)
{
    (void)host;
    pvmd_trim_later();
}

/* The types of the members of struct pvmd_listeners. */
typedef void (*const nothing)(void);
typedef void (*const host)(const struct pvmd_host *host);
typedef void (*const host_index)(unsigned index);
typedef void (*const host_why)(unsigned index, const char *why);
typedef void (*const host_count)(unsigned index, uint32_t count, enum pvmd_count kind);
typedef void (*const charge)(pvmc_tid sender, pvmc_tid receiver, size_t bytes);
typedef void (*const number)(uint32_t seq);
typedef void (*const tid)(pvmc_tid tid);
typedef void (*const pid)(pid_t pid);
typedef void (*const new_task)(struct pvmd_task *task);
typedef void (*const task)(const struct pvmd_task *task);

static const struct pvmd_listeners listeners = {
    .daemon_ends = (nothing[]){pvmd_watchdog_stopping, pvmd_drain_daemon_ends, pvmd_tasks_terminate, NULL},
    .host_joined = (host[]){pvmd_notify_host_joined, trim_memory, NULL},
    /* Programs see HostDelete before the TaskExit of its tasks. */
    .host_left = (host_index[]){pvmd_delivery_host_left, pvmd_notify_host_left, pvmd_watch_host_left,
                                pvmd_output_host_left, pvmd_siblings_host_left, pvmd_manager_host_left,
                                pvmd_petition_host_left, pvmd_rotation_host_left, NULL},
    .master_changed =
        (nothing[]){pvmd_membership_master_changed, pvmd_delegated_master_changed, pvmd_join_master_changed,
                    pvmd_newcomer_master_changed, pvmd_mailbox_master_changed, pvmd_petition_master_changed,
                    pvmd_rotation_master_changed, pvmd_drain_master_changed, NULL},
    .tables_committed = (number[]){pvmd_petition_committed, pvmd_membership_committed, pvmd_leave_committed,
                                   pvmd_add_committed, pvmd_tokens_committed, pvmd_rotation_committed, NULL},
    .link_up = (host_index[]){pvmd_join_link_up, NULL},
    .link_lost = (host_why[]){pvmd_delegated_link_lost, pvmd_join_link_lost, NULL},
    .link_out = (host_index[]){pvmd_join_link_out, NULL},
    .link_count = (host_count[]){pvmd_join_link_count, NULL},
    .sender_charged = (charge[]){pvmd_overrun_charge, NULL},
    .sender_ended = (tid[]){pvmd_multicast_sender_ended, NULL},
    .client_gone = (pid[]){pvmd_virtual_time_gone, NULL},
    .task_enrolled = (new_task[]){pvmd_manager_task_enrolled, pvmd_metrics_task_enrolled, NULL},
    .task_left = (task[]){pvmd_hoster_task_left, pvmd_manager_task_left, pvmd_tasker_task_left, NULL},
    .task_ends =
        (task[]){pvmd_input_task_ends, pvmd_output_task_ends, pvmd_trace_task_ends, pvmd_manager_task_ends, NULL},
    /* Those who asked are told before the host may leave. */
    .task_ended = (task[]){pvmd_virtual_time_task_ended, pvmd_notify_task_ended, pvmd_watch_task_ended,
                           pvmd_drain_task_ended, NULL},
};

void pvmd_parts_start(void)
{
    pvmd_events_listen(&listeners);
    pvmd_delivery_start();
    pvmd_info_start();
    pvmd_task_list_start();
    pvmd_usage_start();
    pvmd_tickle_start();
    pvmd_context_start();
    pvmd_watch_start();
    pvmd_notify_start();
    pvmd_mailbox_start();
    pvmd_multicast_start();
    pvmd_input_start();
    pvmd_output_start();
    pvmd_siblings_start();
    pvmd_spawn_start();
    pvmd_exec_start();
    pvmd_tasker_start();
    pvmd_hoster_start();
    pvmd_delegated_start();
    pvmd_manager_start();
    pvmd_keys_start();
    pvmd_rotation_start();
}

/* Owners of watches cancel them before watch.c stops; it frees the rest, which are the manager's. */
void pvmd_parts_stop(void)
{
    pvmd_rotation_stop();
    pvmd_keys_stop();
    pvmd_exec_stop();
    pvmd_input_stop();
    pvmd_output_stop();
    pvmd_mailbox_stop();
    pvmd_notify_stop();
    pvmd_trace_stop();
    pvmd_watch_stop();
    pvmd_context_stop();
    pvmd_tasks_stop();
    pvmd_manager_stop();
    pvmd_hoster_stop();
    pvmd_service_stop();
    pvmd_delivery_stop();
}
