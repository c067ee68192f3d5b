/* delivery.c - see delivery.h. */
#include "delivery.h"
#include <stdlib.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/message/proto.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/stats.h"
#include "pvmd/frames/hold.h"
#include "pvmd/frames/reassembly.h"
#include "pvmd/frames/relay.h"
#include "pvmd/net/link.h"
#include "pvmd/net/rpc.h"
#include "pvmd/spawn/output.h"
#include "pvmd/tasks/multicast.h"
#include "pvmd/tasks/overrun.h"
#include "pvmd/tasks/service.h"
#include "pvmd/tasks/tasks.h"

/* ---- messages from other daemons to this one ---- */

struct sender {
    unsigned key;
    struct pvmd_reassembly message;
    UT_hash_handle hh;
};

static struct sender *senders;

/* Counts that come through the master overtake other messages of the same host. */
static unsigned key_of(unsigned host, bool through_master)
{
    return 2 * host + through_master;
}

static struct sender *sender_of(unsigned key)
{
    struct sender *s;
    HASH_FIND_INT(senders, &key, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->key = key;
    if (!PVMC_HASH_ADD(hh, senders, key, s)) {
        free(s);
        return NULL;
    }
    return s;
}

static void drop(struct sender *s)
{
    HASH_DEL(senders, s);
    pvmd_reassembly_clear(&s->message);
    free(s);
}

static void receive_question(const struct pvmc_frame *f, unsigned from_host)
{
    unsigned host = pvmc_tid_host_index(f->h.src);
    struct sender *s = sender_of(key_of(host, host != from_host));
    struct pvmc_message *whole = NULL;
    int rc = s ? pvmd_reassembly_add(&s->message, f, &whole) : PVMC_ENOMEM;
    if (rc) {
        pvmc_log(PVMC_LOG_ERROR, "dropped message %#x from host %u: %s", (unsigned)f->h.tag, from_host,
                 pvmc_error_text(rc));
        return;
    }
    if (whole)
        pvmd_rpc_receive(from_host, whole);
    pvmc_message_unref(whole);
}

/* This daemon itself holds back its tasks' output, because it sends the output. */
static void receive_hold(const struct pvmc_frame *f)
{
    struct pvmc_buf body;
    pvmc_buf_view(&body, f->piece_count ? f->pieces[0].iov_base : NULL, f->piece_count ? f->pieces[0].iov_len : 0);
    pvmc_tid receiver = pvmc_buf_get_u32(&body);
    if (pvmc_buf_end(&body))
        pvmc_log(PVMC_LOG_WARNING, "ignored a malformed HOLD or RELEASE from t%x", f->h.src);
    else
        pvmd_output_hold(receiver, f->h.tag == (int32_t)PVMC_TC_HOLD);
}

static void to_self(const struct pvmc_frame *f, unsigned from_host)
{
    if (pvmd_hold_is(&f->h))
        receive_hold(f);
    else if (from_host && f->h.ctx == PVMC_CTX_DM)
        receive_question(f, from_host);
    else if (from_host && pvmd_service_is(&f->h))
        pvmd_service_frame(f);
    else
        pvmd_stats.dropped++;
}

/* ---- all others ---- */

/*
 * Drops frames of a host that is leaving: our tasks already know that its tasks are gone, and have forgotten the next
 * frame numbers.
 */
static void to_task(struct pvmc_frame *f, unsigned from_host)
{
    bool gone = from_host && !pvmd_host_by_index(pvmc_tid_host_index(f->h.src));
    struct pvmd_task *task = gone ? NULL : pvmd_task_by_tid(f->h.dst);
    if (task && pvmd_hold_is(&f->h))
        pvmd_overrun_told(task, f);
    if (task)
        pvmd_task_send(task, f);
    else
        pvmd_stats.dropped++;
}

static void to_host(struct pvmc_frame *f, unsigned index)
{
    struct pvmd_host *host = pvmd_host_by_index(index);
    if (host)
        pvmd_link_send(host, f);
    else
        pvmd_stats.dropped++;
}

void pvmd_delivery_start(void)
{
    static const struct pvmd_exits exits = {
        .to_task = to_task,
        .to_host = to_host,
        .to_many = pvmd_multicast_relay,
        .to_self = to_self,
        .lost = pvmd_task_cut,
    };
    pvmd_relay_start(&exits);
}

/* ---- hosts that leave ---- */

static void tell_gone(struct pvmd_task *task, pvmc_tid host)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, host);
    pvmd_task_tell(task, PVMC_CTX_TC, (int32_t)PVMC_TC_GONE, 0, &body);
    pvmc_buf_free(&body);
}

void pvmd_delivery_host_left(unsigned index)
{
    for (int through_master = 0; through_master < 2; through_master++) {
        unsigned key = key_of(index, through_master);
        struct sender *s;
        HASH_FIND_INT(senders, &key, s);
        if (s)
            drop(s);
    }
    pvmd_multicast_host_left(index);
    pvmd_overrun_host_left(index);
    struct pvmd_task *task, *next;
    HASH_ITER (hh, pvmd_tasks, task, next)
        tell_gone(task, pvmc_tid_of_host_index(index));
}

void pvmd_delivery_stop(void)
{
    struct sender *s, *next;
    HASH_ITER (hh, senders, s, next)
        drop(s);
    pvmd_multicast_stop();
}
