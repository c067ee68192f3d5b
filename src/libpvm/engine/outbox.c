/* outbox.c - see outbox.h. */
#include "outbox.h"
#include <string.h>
#include <unistd.h>
#include "../core/error.h"
#include "../core/log.h"
#include "link.h"
#include "peer.h"
#include "task.h"

#define WAITING_MAX 1024

static struct {
    struct pvmi_frame *frames[WAITING_MAX]; /* a ring */
    unsigned first, count;
    bool resends; /* peers have frames to be sent again */
    bool held;
} box;

/* Whether the daemon's link takes a frame. */
static bool goes_out(struct pvmi_frame *f)
{
    return pvmi_link_is_ready(&pvmi_daemon_link) && pvmi_link_send(&pvmi_daemon_link, f) != PVMI_EAGAIN;
}

static struct pvmi_frame *make_frame(pvmi_tid dst, uint32_t ctx, int32_t tag, const struct pvmi_buf *body, int fd)
{
    struct pvmi_frame_header h = {.flags = fd >= 0 ? PVMI_FRAME_FD : 0,
                                  .length = (uint32_t)body->length,
                                  .body_length = body->length,
                                  .src = pvmi_task.tid,
                                  .dst = dst,
                                  .ctx = ctx,
                                  .tag = tag};
    struct pvmi_frame *f = pvmi_buf_error(body) ? NULL : pvmi_frame_alloc(&h);
    if (!f)
        return NULL;
    if (body->length)
        memcpy(f->mem->data, body->data, body->length);
    f->fd = fd;
    return f;
}

int pvmi_outbox_put(pvmi_tid dst, uint32_t ctx, int32_t tag, struct pvmi_buf *body, int fd)
{
    struct pvmi_frame *f = box.count < WAITING_MAX ? make_frame(dst, ctx, tag, body, fd) : NULL;
    pvmi_buf_free(body);
    if (!f) {
        pvmi_log(PVMI_LOG_WARNING, "no room for a control message to t%x", dst);
        if (fd >= 0)
            close(fd);
        return PVMI_ELIMIT;
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
        pvmi_frame_unref(box.frames[box.first]);
        box.first = (box.first + 1) % WAITING_MAX;
        box.count--;
        n++;
    }
    return n;
}

/* Frames to peers that are not held. */
static int flush_again(void)
{
    int n = 0;
    bool left = false;
    for (struct pvmi_peer *p = pvmi_peer_first(); p; p = p->hh.next) {
        struct pvmi_frame *f;
        while ((f = pvmi_replay_first(&p->again)) && !pvmi_peer_is_held(p->tid) && goes_out(f)) {
            p->daemon.tx_frames++;
            p->daemon.tx_bytes += f->h.length;
            pvmi_replay_drop_first(&p->again);
            n++;
        }
        left = left || p->again.count;
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
        pvmi_frame_unref(box.frames[box.first]);
        box.first = (box.first + 1) % WAITING_MAX;
    }
    box.resends = box.held = false;
}
