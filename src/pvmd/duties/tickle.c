/* tickle.c - TM_TICKLE, the console's `tickle` of one daemon. Most of the answers go to the log. */
#include "core/error.h"
#include "core/log.h"
#include "core/memory/mem.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "info.h"
#include "pvmd/base/logfile.h"
#include "mailbox_store.h"
#include "pvmd/base/stats.h"
#include "pvmd/tasks/tasks.h"
#include "pvmd/tasks/watch.h"

#define NUMBERS_MAX 64
#define LINES_MAX   1000 /* of a list, in the log */

enum {
    DUMP_MEMORY,
    DUMP_HOSTS,
    DUMP_TASKS,
    DUMP_WAITS,
    DUMP_MAILBOX,
    GET_MASK,
    SET_MASK,
    SET_WINDOW, /* of PVM's datagram protocol, which is not ours: accepted and ignored */
    FAIL_HOST,  /* likewise */
    DUMP_STATISTICS,
};

static void dump_memory(void)
{
    size_t in_use, cached;
    pvmc_mem_usage(&in_use, &cached);
    pvmc_log(PVMC_LOG_INFO, "message memory: %zu bytes in use, %zu kept for reuse", in_use, cached);
}

static void dump_hosts(void)
{
    size_t count;
    struct pvmd_host **hosts = pvmd_host_list(&count);
    for (size_t i = 0; i < count; i++)
        pvmc_log(PVMC_LOG_INFO, "host t%x \"%s\" %s sp=%d sl=%d at %s:%u%s", pvmc_tid_of_host_index(hosts[i]->index),
                 hosts[i]->name, hosts[i]->arch, hosts[i]->speed, hosts[i]->slots, hosts[i]->address, hosts[i]->port,
                 hosts[i]->index == pvmd.master_index ? " master" : "");
}

static unsigned lines;

/* Whether a list may have one more line; logs once that it may not. */
static bool has_line(void)
{
    if (++lines == LINES_MAX + 1)
        pvmc_log(PVMC_LOG_INFO, "... and more: a list has %d lines at most", LINES_MAX);
    return lines <= LINES_MAX;
}

static void dump_tasks(void)
{
    for (const struct pvmd_task *task = pvmd_tasks; task && has_line(); task = task->hh.next)
        pvmc_log(PVMC_LOG_INFO, "task t%x parent %d (t%x) flags %#x pid %d \"%s\": %zu bytes queued, output to t%x",
                 task->tid, task->parent, (unsigned)task->parent, task->flags, (int)task->pid, task->name,
                 task->queue.bytes, task->output.tid);
}

static void dump_watch(pvmc_tid tid, unsigned count)
{
    if (has_line())
        pvmc_log(PVMC_LOG_INFO, "%u wait for the end of t%x", count, tid);
}

static void dump_mail(const char *name, const struct pvmd_mail *m)
{
    if (has_line())
        pvmc_log(PVMC_LOG_INFO, "mailbox <%s> index %d owner t%x flags %#x: %zu bytes", name, m->index, m->owner,
                 m->flags, m->length);
}

static void dump_statistics(void)
{
#define X(name, text) pvmc_log(PVMC_LOG_INFO, "%llu %s", (unsigned long long)pvmd_stats.name, text);
    PVMD_STATS(X)
#undef X
}

/* Puts the answer's numbers into b. Returns their count. */
static uint32_t tickle(const int32_t *numbers, uint32_t n, struct pvmc_buf *b)
{
    lines = 0;
    switch (numbers[0]) {
    case DUMP_MEMORY:
        dump_memory();
        return 0;
    case DUMP_HOSTS:
        dump_hosts();
        return 0;
    case DUMP_TASKS:
        dump_tasks();
        return 0;
    case DUMP_WAITS:
        pvmd_watch_list(dump_watch);
        return 0;
    case DUMP_MAILBOX:
        pvmd_mailbox_list(dump_mail);
        return 0;
    case GET_MASK:
        pvmc_buf_put_i32(b, pvmd_logfile_mask());
        return 1;
    case SET_MASK:
        pvmd_logfile_set_mask(n > 1 ? numbers[1] : 0);
        return 0;
    case FAIL_HOST:
        pvmc_buf_put_i32(b, 0);
        return 1;
    case DUMP_STATISTICS:
        dump_statistics();
        return 0;
    default:
        return 0;
    }
}

static int tickle_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    int32_t numbers[NUMBERS_MAX] = {0};
    uint32_t n = pvmc_buf_get_u32(body);
    if (n > NUMBERS_MAX)
        return PVMC_ELIMIT;
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = pvmc_buf_get_i32(body);
    int rc = pvmc_buf_end(body);
    if (rc)
        return rc;
    struct pvmc_buf values, b;
    pvmc_buf_init(&values);
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, n ? tickle(numbers, n, &values) : 0);
    pvmc_buf_put_bytes(&b, values.data, values.length);
    pvmd_request_answer(r, n ? PvmOk : PvmBadParam, n ? &b : NULL);
    pvmc_buf_free(&values);
    pvmc_buf_free(&b);
    return 0;
}

void pvmd_tickle_start(void)
{
    pvmd_tm_handle(PVMC_TM_TICKLE, tickle_request);
}
