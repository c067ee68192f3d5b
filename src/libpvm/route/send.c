/* send.c - sends a message by the shortest path. */
#include "send.h"
#include "core/error.h"
#include "claim.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/engine/link.h"
#include "libpvm/engine/outbox.h"
#include "libpvm/engine/peer.h"
#include "libpvm/engine/wait.h"
#include "route.h"
#include "transfer.h"

#define COPIED_BYTES                                                                                                   \
    256 /* up to this length copying a body is cheaper than sharing it: the sender keeps its memory                    \
         */

static int send_to_self(const struct pvmc_message *m)
{
    bool inplace = pvmc_message_is_inplace(m);
    if (!inplace && m->length && m->length <= COPIED_BYTES) {
        struct pvmc_message *copy = pvmc_message_copy_small(m);
        if (copy)
            pvmi_link_deliver(copy);
        return copy ? 0 : PVMC_ENOMEM;
    }
    struct pvmc_message *twin = pvmc_message_twin(m, inplace ? m->dsig : m->enc);
    if (!twin)
        return PVMC_ENOMEM;
    int rc = 0;
    if (inplace)
        rc = pvmi_buffer_append(twin, m);
    else
        pvmc_message_share(twin, m);
    if (rc)
        pvmc_message_unref(twin);
    else
        pvmi_link_deliver(twin);
    return rc;
}

static __attribute__((noinline)) int send_one_frame(struct pvmi_link *l, struct pvmc_message *m, uint32_t seq)
{
    struct pvmc_frame *f = pvmc_message_frame(m, 0, l->frame_max, seq);
    int rc = f ? pvmi_link_send(l, f) : PVMC_ENOMEM;
    pvmc_frame_unref(f);
    return rc;
}

/* Fast path: a message of one frame over a direct link that accepts it. False: not sent. */
static inline bool send_at_once(struct pvmc_message *m, struct pvmi_peer *p)
{
    struct pvmi_link *l = pvmi_route_link(p);
    if (!l->at_once || l->refused || m->length > l->frame_max || pvmc_message_is_inplace(m) || pvmi_link_must_listen(l))
        return false;
    int rc = pvmi_link_send_whole(l, m, p->tx_seq);
    if (__builtin_expect(rc == PVMC_EUNSUPPORTED, 0))
        rc = send_one_frame(l, m, p->tx_seq);
    if (__builtin_expect(rc, 0))
        return false;
    pvmi_transfer_count(p, l, (uint32_t)m->length, true);
    return true;
}

struct pvmc_message *pvmi_send_packed(const struct pvmc_message *m)
{
    if (!pvmc_message_is_inplace(m) || pvmc_message_bytes(m) > COPIED_BYTES)
        return NULL;
    struct pvmc_message *packed = pvmc_message_twin(m, m->dsig);
    if (packed && pvmi_buffer_append(packed, m)) {
        pvmc_message_unref(packed);
        return NULL;
    }
    return packed;
}

/* `sent`: all of it, so only its end is waited for. */
static int send_to_peer(struct pvmc_message *m, struct pvmi_peer *p, bool sent)
{
    struct pvmc_message *held = pvmi_claim_message(m);
    if (!held)
        return sent ? 0 : PVMC_ENOMEM; /* the link keeps the frame, and sends it when it can */
    struct pvmi_claim c = {&p, 1};
    int rc = pvmi_claim(&c);
    if (!rc) {
        rc = sent ? pvmi_transfer_settle(held, p) : pvmi_transfer_all(held, p);
        pvmi_claim_end(&c);
    }
    pvmc_message_unref(held);
    return rc;
}

/* The same as send_at_once() over a link that may break, which keeps the frame. Mostly nothing is left to wait for. */
static __attribute__((noinline)) bool send_kept(struct pvmc_message *m, struct pvmi_peer *p, int *rc)
{
    struct pvmi_link *l = pvmi_route_link(p);
    if (!l->peer || !pvmi_link_is_ready(l) || m->length > l->frame_max || pvmc_message_is_inplace(m) ||
        pvmi_link_must_listen(l) || pvmi_virtual())
        return false;
    *rc = send_one_frame(l, m, p->tx_seq);
    if (*rc) { /* the other path finds that out, and does what is to be done */
        p->refusals += *rc == PVMC_EAGAIN;
        return false;
    }
    pvmi_transfer_count(p, l, (uint32_t)m->length, true);
    if (!pvmi_transfer_is_settled(p, l))
        *rc = send_to_peer(m, p, true);
    return true;
}

static bool is_daemon_free(void *arg)
{
    (void)arg;
    return !pvmi_outbox_is_held();
}

/* For messages without sequence numbers: questions to our daemon, and control messages. */
static int send_to_daemon(struct pvmc_message *m)
{
    int rc = pvmi_transfer_resume(NULL);
    if (!rc)
        rc = is_daemon_free(NULL) ? 0 : pvmi_wait_until(is_daemon_free, NULL, PVMI_WAIT_FOREVER);
    return rc ? rc : pvmi_transfer_all(m, NULL);
}

int pvmi_send(struct pvmc_message *m, enum pvmi_send_how how)
{
    if (m->dst == pvmi_task.tid && m->dst)
        return send_to_self(m);
    bool counts = pvmi_peer_counts(m->dst, m->ctx);
    struct pvmi_peer *p = counts ? pvmi_peer_get(m->dst) : NULL;
    if (counts && !p)
        return PVMC_ENOMEM;
    int rc = 0;
    bool direct = p && p->link && !p->claimed;
    if (direct && send_at_once(m, p))
        return 0;
    if (how == PVMI_SEND_AT_ONCE)
        return PVMC_EAGAIN;
    if (direct && !p->link->at_once && send_kept(m, p, &rc))
        return rc;
    return p ? send_to_peer(m, p, false) : send_to_daemon(m);
}
