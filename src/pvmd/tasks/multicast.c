/* multicast.c - see multicast.h. A multicast lives from its announcement to its last frame. */
#include "multicast.h"
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/link.h"
#include "pvmd/net/rpc.h"
#include "pvmd/base/stats.h"

#define OPEN_MAX 64 /* unfinished multicasts of one task */

struct receiver {
    pvmc_tid tid;
    uint32_t seq; /* of the next frame */
};

struct name {
    pvmc_tid src, group;
};

struct multicast {
    struct name name;
    bool begun;         /* frames have been sent to our receivers */
    unsigned from_host; /* 0: the sender is here */
    unsigned *hosts;    /* where to forward frames */
    size_t host_count;
    struct receiver *receivers; /* of this host */
    size_t receiver_count;
    UT_hash_handle hh;
};

static struct multicast *multicasts;

static struct multicast *find(pvmc_tid src, pvmc_tid group)
{
    struct name name = {src, group};
    struct multicast *m;
    HASH_FIND(hh, multicasts, &name, sizeof name, m);
    return m;
}

static void release(struct multicast *m)
{
    free(m->hosts);
    free(m->receivers);
    free(m);
}

static void forget(struct multicast *m)
{
    HASH_DEL(multicasts, m);
    release(m);
}

static struct multicast *add(pvmc_tid src, pvmc_tid group, unsigned from_host, size_t receivers, size_t hosts)
{
    struct multicast *m = find(src, group);
    if (m)
        forget(m);
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->receivers = calloc(receivers ? receivers : 1, sizeof *m->receivers);
    m->hosts = calloc(hosts ? hosts : 1, sizeof *m->hosts);
    m->name = (struct name){src, group};
    m->from_host = from_host;
    if (!m->receivers || !m->hosts || !PVMC_HASH_ADD(hh, multicasts, name, m)) {
        release(m);
        return NULL;
    }
    pvmd_stats.multicasts++;
    return m;
}

/* ---- announcing ---- */

static int compare_receivers(const void *a, const void *b)
{
    pvmc_tid x = ((const struct receiver *)a)->tid, y = ((const struct receiver *)b)->tid;
    return x < y ? -1 : x > y;
}

/* Sorts receivers by host and drops duplicates. Returns how many are left. */
static size_t sort(struct receiver *all, size_t count)
{
    size_t n = 0;
    qsort(all, count, sizeof *all, compare_receivers);
    for (size_t i = 0; i < count; i++)
        if (!n || all[n - 1].tid != all[i].tid)
            all[n++] = all[i];
    return n;
}

/* How many receivers from the first on are on the same host. */
static size_t same_host(const struct receiver *all, size_t count)
{
    size_t n = 1;
    while (n < count && pvmc_tid_host(all[n].tid) == pvmc_tid_host(all[0].tid))
        n++;
    return n;
}

static void put_receivers(struct pvmc_buf *b, const struct receiver *all, size_t count)
{
    pvmc_buf_put_u32(b, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pvmc_buf_put_u32(b, all[i].tid);
        pvmc_buf_put_u32(b, all[i].seq);
    }
}

/* Reads the list, for the caller to free. NULL: an error, or an empty list. */
static struct receiver *get_receivers(struct pvmc_buf *b, size_t *count)
{
    *count = pvmc_buf_get_u32(b);
    if (!*count || *count > pvmc_buf_left(b) / 8)
        return NULL;
    struct receiver *all = calloc(*count, sizeof *all);
    for (size_t i = 0; all && i < *count; i++) {
        all[i].tid = pvmc_buf_get_u32(b);
        all[i].seq = pvmc_buf_get_u32(b);
    }
    return all;
}

static void tell_host(const struct multicast *m, unsigned host, const struct receiver *all, size_t count)
{
    struct pvmc_buf b;
    pvmc_buf_init(&b);
    pvmc_buf_put_u32(&b, m->name.src);
    pvmc_buf_put_u32(&b, m->name.group);
    put_receivers(&b, all, count);
    pvmd_ask(host, PVMD_DM_MULTICAST, &b, NULL, NULL);
    pvmc_buf_free(&b);
}

static void announce(struct multicast *m, struct receiver *all, size_t count)
{
    count = sort(all, count);
    for (size_t i = 0, n; i < count; i += n) {
        n = same_host(all + i, count - i);
        unsigned host = pvmc_tid_host_index(all[i].tid);
        if (host == pvmd.host_index) {
            memcpy(m->receivers, all + i, n * sizeof *all);
            m->receiver_count = n;
        } else if (pvmd_host_by_index(host)) {
            tell_host(m, host, all + i, n);
            m->hosts[m->host_count++] = host;
        }
    }
}

static size_t open_multicasts(pvmc_tid src)
{
    size_t n = 0;
    for (const struct multicast *m = multicasts; m; m = m->hh.next)
        n += m->name.src == src;
    return n;
}

static int receive_request(const struct pvmd_request *r, struct pvmc_buf *body)
{
    size_t count;
    pvmc_tid group = pvmc_buf_get_u32(body);
    struct receiver *all = get_receivers(body, &count);
    int rc = pvmc_buf_end(body);
    if (!rc && (!all || !pvmc_tid_is_multicast(group) || open_multicasts(r->tid) >= OPEN_MAX))
        rc = PVMC_EFORMAT;
    if (!rc) {
        struct multicast *m = add(r->tid, group, 0, count, count);
        if (m)
            announce(m, all, count);
        else
            rc = PVMC_ENOMEM;
    }
    free(all);
    return rc;
}

static int receive_announcement(const struct pvmd_question *q, struct pvmc_buf *body)
{
    size_t count;
    pvmc_tid src = pvmc_buf_get_u32(body), group = pvmc_buf_get_u32(body);
    struct receiver *all = get_receivers(body, &count);
    int rc = pvmc_buf_end(body);
    if (!rc && !all)
        rc = PVMC_EFORMAT;
    struct multicast *m = rc ? NULL : add(src, group, q->host_index, count, 0);
    if (m) {
        memcpy(m->receivers, all, count * sizeof *all);
        m->receiver_count = count;
    } else if (!rc) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for a multicast of t%x", src);
    }
    free(all);
    return rc;
}

/* ---- frames ---- */

static void send_copy(const struct pvmc_frame *f, struct receiver *r)
{
    uint32_t seq = r->seq++;
    struct pvmd_task *task = pvmd_task_by_tid(r->tid);
    struct pvmc_frame *copy = task ? pvmc_frame_share(f) : NULL;
    if (!copy) {
        pvmd_stats.dropped++;
        pvmd_task_cut(r->tid);
        return;
    }
    copy->h.dst = r->tid;
    copy->h.seq = seq;
    pvmd_task_send(task, copy);
    pvmc_frame_unref(copy);
}

static void pass_on(struct multicast *m, struct pvmc_frame *f)
{
    bool void_frame = f->h.flags & PVMC_FRAME_ABORT;
    for (size_t i = 0; i < m->receiver_count && (m->begun || !void_frame); i++)
        send_copy(f, &m->receivers[i]);
    m->begun = true;
    for (size_t i = 0; i < m->host_count; i++) {
        struct pvmd_host *host = pvmd_host_by_index(m->hosts[i]);
        if (host)
            pvmd_link_send(host, f);
    }
}

void pvmd_multicast_relay(struct pvmc_frame *f, unsigned from_host)
{
    struct multicast *m = find(f->h.src, f->h.dst);
    if (!m || !m->from_host != !from_host) {
        pvmd_stats.dropped++;
        return;
    }
    pass_on(m, f);
    if (pvmc_frame_is_last(&f->h) || f->h.flags & PVMC_FRAME_ABORT)
        forget(m);
}

/* ---- the end of others ---- */

static void abort_multicast(struct multicast *m)
{
    struct pvmc_frame_header h = {.flags = PVMC_FRAME_ABORT, .src = m->name.src, .dst = m->name.group};
    struct pvmc_frame *f = pvmc_frame_new(&h, NULL);
    if (f)
        pass_on(m, f);
    pvmc_frame_unref(f);
    forget(m);
}

void pvmd_multicast_sender_ended(pvmc_tid src)
{
    struct multicast *m, *next;
    HASH_ITER (hh, multicasts, m, next)
        if (m->name.src == src && !m->from_host)
            abort_multicast(m);
}

/* Receivers drop the pieces themselves when they hear that the host is gone. */
void pvmd_multicast_host_left(unsigned index)
{
    struct multicast *m, *next;
    HASH_ITER (hh, multicasts, m, next)
        if (m->from_host == index)
            forget(m);
}

void pvmd_multicast_start(void)
{
    pvmd_tm_handle(PVMC_TM_MULTICAST, receive_request);
    pvmd_dm_handle(PVMD_DM_MULTICAST, receive_announcement);
}

void pvmd_multicast_stop(void)
{
    struct multicast *m, *next;
    HASH_ITER (hh, multicasts, m, next)
        forget(m);
}
