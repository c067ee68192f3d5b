/* page.c - the metrics themselves. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/memory/mem.h"
#include "core/version.h"
#include "metrics.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"
#include "pvmd/base/stats.h"
#include "pvmd/net/link.h"
#include "pvmd/tasks/gauges.h"
#include "pvmd/tasks/tasks.h"
#include "writer.h"
#include "pvm3.h"

#define MICROSECOND 1e-6

/* ---- how long processes take until they enrol ---- */

static const double enrol_limits_s[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
#define ENROL_LIMITS (sizeof enrol_limits_s / sizeof *enrol_limits_s)
static uint64_t enrol_counts[ENROL_LIMITS + 1];
static double enrol_sum_s;

void pvmd_metrics_task_enrolled(struct pvmd_task *task)
{
    if (!task->started_us)
        return;
    double took_s = (double)(pvmc_clock_us() - task->started_us) * MICROSECOND;
    unsigned i = 0;
    while (i < ENROL_LIMITS && took_s > enrol_limits_s[i])
        i++;
    enrol_counts[i]++;
    enrol_sum_s += took_s;
    task->started_us = 0; /* it may leave, and enrol again */
}

/* ---- families ---- */

static void put_counter(const struct pvmd_metrics_writer *w, const char *name, const char *help, double count)
{
    pvmd_metrics_family(w, name, PVMD_METRICS_COUNTER, help);
    pvmd_metrics_counter(w, name, NULL, NULL, count);
}

static void put_gauge(const struct pvmd_metrics_writer *w, const char *name, const char *help, double level)
{
    pvmd_metrics_family(w, name, PVMD_METRICS_GAUGE, help);
    pvmd_metrics_gauge(w, name, NULL, NULL, level);
}

static void put_machine(const struct pvmd_metrics_writer *w)
{
    size_t hosts;
    pvmd_host_list(&hosts);
    pvmd_metrics_family(w, "dpvm_build_info", PVMD_METRICS_GAUGE, "Always 1; the label is the version of dpvm.");
    pvmd_metrics_gauge(w, "dpvm_build_info", "version", pvmc_version, 1);
    put_gauge(w, "dpvm_hosts", "Hosts of the virtual machine, as this daemon knows them.", (double)hosts);
    put_gauge(w, "dpvm_master", "1 if this daemon is the master, else 0.", pvmd_is_master());
}

static void put_tasks(const struct pvmd_metrics_writer *w)
{
    size_t bytes = 0, held = 0, senders_held = 0;
    for (const struct pvmd_task *task = pvmd_tasks; task; task = task->hh.next) {
        bytes += task->queue.bytes;
        held += task->queue.held_count > 0;
        senders_held += task->queue.held_count;
    }
    put_gauge(w, "dpvm_tasks", "Tasks on this host.", HASH_COUNT(pvmd_tasks));
    put_counter(w, "dpvm_processes_started", "Processes that this daemon has started.", (double)pvmd_stats.spawned);
    put_counter(w, "dpvm_tasks_ended", "Tasks of this host that have ended.", (double)pvmd_stats.ended);
    pvmd_metrics_family(w, "dpvm_enrol_seconds", PVMD_METRICS_HISTOGRAM,
                        "Time from the start of a process by this daemon to its first PVM call.");
    pvmd_metrics_distribution(
        w, "dpvm_enrol_seconds",
        &(struct pvmd_metrics_histogram){enrol_limits_s, enrol_counts, ENROL_LIMITS, enrol_sum_s});
    put_gauge(w, "dpvm_task_queue_bytes", "Bytes queued for tasks that do not receive fast enough.", (double)bytes);
    put_gauge(w, "dpvm_tasks_slow", "Tasks of this host for which senders hold.", (double)held);
    put_gauge(w, "dpvm_senders_held", "Senders that hold for a task of this host.", (double)senders_held);
    put_counter(w, "dpvm_requests", "Requests of tasks to this daemon.", (double)pvmd_stats.requests);
}

static void put_relay(const struct pvmd_metrics_writer *w)
{
    const struct pvmd_stats *s = &pvmd_stats;
    pvmd_metrics_family(w, "dpvm_relayed_frames", PVMD_METRICS_COUNTER,
                        "Frames that this daemon has relayed, to its own host or to others.");
    pvmd_metrics_counter(w, "dpvm_relayed_frames", "to", "here", (double)(s->frames - s->host_frames));
    pvmd_metrics_counter(w, "dpvm_relayed_frames", "to", "hosts", (double)s->host_frames);
    pvmd_metrics_family(w, "dpvm_relayed_bytes", PVMD_METRICS_COUNTER, "Payload bytes of these frames.");
    pvmd_metrics_counter(w, "dpvm_relayed_bytes", "to", "here", (double)(s->bytes - s->host_bytes));
    pvmd_metrics_counter(w, "dpvm_relayed_bytes", "to", "hosts", (double)s->host_bytes);
    put_counter(w, "dpvm_queued_frames", "Frames that had to wait for their receiving task.", (double)s->queued);
    put_counter(w, "dpvm_dropped_frames", "Frames for receivers that do not exist.", (double)s->dropped);
    put_counter(w, "dpvm_multicasts", "Multicasts.", (double)s->multicasts);
    put_counter(w, "dpvm_holds", "Times that a sender was told to hold.", (double)s->holds);
    put_counter(w, "dpvm_overruns", "Senders that went on when told to hold, and were paused.", (double)s->overruns);
    put_counter(w, "dpvm_refused_connections", "Connections refused, or closed for bad behaviour.", (double)s->refused);
}

/* A counter with a sample for each transport that tasks link directly. */
static void put_direct(const struct pvmd_metrics_writer *w, const char *name, const char *help,
                       const struct pvmc_gauges_route *sums, size_t field)
{
    pvmd_metrics_family(w, name, PVMD_METRICS_COUNTER, help);
    for (unsigned i = PVMC_GAUGES_daemon + 1; i < PVMC_GAUGES_ROUTE_COUNT; i++)
        pvmd_metrics_counter(w, name, "transport", pvmc_gauges_route_names[i],
                             (double)*(const uint64_t *)((const char *)&sums[i] + field));
}

/* Messages that pass no daemon, as the tasks of this host count them. */
static void put_direct_links(const struct pvmd_metrics_writer *w)
{
    struct pvmc_gauges_route sums[PVMC_GAUGES_ROUTE_COUNT];
    for (unsigned i = 0; i < PVMC_GAUGES_ROUTE_COUNT; i++)
        sums[i] = pvmd_gauges_sum((enum pvmc_gauges_route_index)i);
#define FIELD(name) offsetof(struct pvmc_gauges_route, name)
    put_direct(w, "dpvm_direct_sent_messages", "Messages that tasks of this host have sent by direct links.", sums,
               FIELD(tx_messages));
    put_direct(w, "dpvm_direct_sent_bytes", "Payload bytes of these messages.", sums, FIELD(tx_bytes));
    put_direct(w, "dpvm_direct_received_messages", "Messages that tasks of this host have received by direct links.",
               sums, FIELD(rx_messages));
    put_direct(w, "dpvm_direct_received_bytes", "Payload bytes of these messages.", sums, FIELD(rx_bytes));
#undef FIELD
}

/* A gauge with a sample for each other host to which there is a link. */
static void put_links_of(const struct pvmd_metrics_writer *w, const char *name, const char *help,
                         double (*level)(const struct pvmd_link_figures *f))
{
    size_t count;
    struct pvmd_host **hosts = pvmd_host_list(&count);
    pvmd_metrics_family(w, name, PVMD_METRICS_GAUGE, help);
    for (size_t i = 0; i < count; i++) {
        struct pvmd_link_figures figures;
        if (pvmd_link_look_at(hosts[i], &figures))
            pvmd_metrics_gauge(w, name, "host", hosts[i]->name, level(&figures));
    }
}

static double is_up(const struct pvmd_link_figures *f)
{
    return f->state == PVMD_LINK_UP || f->state == PVMD_LINK_RELAYED;
}

static double queue_bytes(const struct pvmd_link_figures *f)
{
    return (double)f->queue_bytes;
}

static double kept_frames(const struct pvmd_link_figures *f)
{
    return f->kept_frames;
}

static void put_links(const struct pvmd_metrics_writer *w)
{
    put_links_of(w, "dpvm_link_up", "1 if frames flow to the host's daemon, 0 while the connection is lost.", is_up);
    put_links_of(w, "dpvm_link_queue_bytes", "Bytes that wait to be sent to the host.", queue_bytes);
    put_links_of(w, "dpvm_link_unacknowledged_frames", "Frames sent to the host and not yet acknowledged.",
                 kept_frames);
    put_counter(w, "dpvm_link_losses", "Connections to other daemons that were lost.", (double)pvmd_stats.link_losses);
    put_counter(w, "dpvm_resent_frames", "Frames sent to other daemons once more.", (double)pvmd_stats.resent);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * MICROSECOND;
}

/* The names are those that Prometheus recommends for any process. */
static void put_process(const struct pvmd_metrics_writer *w)
{
    struct rusage used = {0};
    size_t in_use, cached;
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*d %ld", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    getrusage(RUSAGE_SELF, &used);
    pvmc_mem_usage(&in_use, &cached);
    put_counter(w, "process_cpu_seconds", "CPU time of this daemon.", seconds(used.ru_utime) + seconds(used.ru_stime));
    put_gauge(w, "process_resident_memory_bytes", "Memory of this daemon.",
              (double)pages * (double)sysconf(_SC_PAGESIZE));
    put_gauge(w, "dpvm_message_memory_bytes", "Memory that holds messages.", (double)in_use);
    put_gauge(w, "dpvm_longest_turn_seconds", "CPU time of the longest turn of this daemon's loop.",
              (double)pvmd_stats.longest_turn_us * MICROSECOND);
}

char *pvmd_metrics_page(bool open_metrics, size_t *length)
{
    char *page = NULL;
    struct pvmd_metrics_writer w = {open_memstream(&page, length), open_metrics};
    if (!w.to)
        return NULL;
    put_machine(&w);
    put_tasks(&w);
    put_relay(&w);
    put_direct_links(&w);
    put_links(&w);
    put_process(&w);
    pvmd_metrics_end(&w);
    bool failed = ferror(w.to);
    if (!fclose(w.to) && !failed)
        return page;
    free(page);
    return NULL;
}
