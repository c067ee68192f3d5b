/* outbox.c - see outbox.h. */
#include "outbox.h"
#include <string.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "link.h"
#include "peer.h"
#include "libpvm/base/shadow.h"
#include "libpvm/base/task.h"
#include "libpvm/base/virtual.h"

#define WAITING_MAX 1024

static struct {
    struct pvmc_frame *frames[WAITING_MAX]; /* a ring */
    unsigned first, count;
    bool resends; /* peers have frames to be retransmitted */
    bool held;
} box;

/* Whether the daemon's link accepts a frame. */
static bool goes_out(struct pvmc_frame *f)
{
    return pvmi_link_is_ready(&pvmi_daemon_link) && pvmi_link_send(&pvmi_daemon_link, f) != PVMC_EAGAIN;
}

static struct pvmc_frame *make_frame(const struct pvmc_envelope *to, const struct pvmc_buf *body, int fd)
{
    struct pvmc_frame_header h = {.flags = fd >= 0 ? PVMC_FRAME_FD : 0,
                                  .length = (uint32_t)body->length,
                                  .body_length = body->length,
                                  .src = pvmi_task.tid,
                                  .dst = to->dst,
                                  .ctx = to->ctx,
                                  .tag = to->tag,
                                  .wid = to->wid};
    struct pvmc_frame *f = pvmc_buf_error(body) ? NULL : pvmc_frame_alloc(&h);
    if (!f)
        return NULL;
    if (body->length)
        memcpy(f->mem->data, body->data, body->length);
    f->fd = fd;
    return f;
}

int pvmi_outbox_put(const struct pvmc_envelope *to, struct pvmc_buf *body, int fd)
{
    struct pvmc_frame *f = box.count < WAITING_MAX ? make_frame(to, body, fd) : NULL;
    pvmc_buf_free(body);
    if (!f) {
        pvmc_log(PVMC_LOG_WARNING, "no room for a control message to t%x", to->dst);
        if (fd >= 0)
            close(fd);
        return PVMC_ELIMIT;
    }
    box.frames[(box.first + box.count++) % WAITING_MAX] = f;
    pvmi_outbox_flush();
    return 0;
}

void pvmi_outbox_resend(void)
{
    box.resends = true;
}

static int flush_control(void)
{
    int n = 0;
    while (box.count && goes_out(box.frames[box.first])) {
        pvmc_frame_unref(box.frames[box.first]);
        box.first = (box.first + 1) % WAITING_MAX;
        box.count--;
        n++;
    }
    return n;
}

/* In virtual time: whether the daemon may have a frame now. Its shadow sets out. */
static bool is_carried(struct pvmc_frame *f)
{
    if (!pvmi_virtual() || f->h.flags & PVMC_FRAME_SHADOW)
        return true;
    if (pvmi_shadow_handing || !pvmi_link_is_ready(&pvmi_daemon_link))
        return false;
    if (pvmi_shadow_begin(&(struct pvmc_shadow){f->h.dst, f->h.seq}, 1, f->h.length))
        f->h.flags |= PVMC_FRAME_SHADOW;
    return true;
}

/* Retransmits frames to peers that are not held. */
static int flush_again(void)
{
    int n = 0;
    bool left = false;
    for (struct pvmi_peer *p = pvmi_peer_first(); p; p = p->hh.next) {
        struct pvmc_frame *f;
        while ((f = pvmw_window_first(&p->again)) && !pvmi_peer_is_held(p->tid) && is_carried(f) && goes_out(f)) {
            p->daemon.tx_frames++;
            p->daemon.tx_bytes += f->h.length;
            pvmw_window_drop_first(&p->again);
            n++;
        }
        left = left || pvmw_window_count(&p->again);
    }
    box.resends = left;
    return n;
}

int pvmi_outbox_flush(void)
{
    if (box.held || (!box.count && !box.resends))
        return 0;
    int n = flush_control();
    return box.count || !box.resends ? n : n + flush_again();
}

bool pvmi_outbox_is_empty(void)
{
    return !box.count && !box.resends;
}

void pvmi_outbox_hold(bool on)
{
    box.held = on;
}

bool pvmi_outbox_is_held(void)
{
    return box.held;
}

void pvmi_outbox_clear(void)
{
    for (; box.count; box.count--) {
        pvmc_frame_unref(box.frames[box.first]);
        box.first = (box.first + 1) % WAITING_MAX;
    }
    box.resends = box.held = false;
}
