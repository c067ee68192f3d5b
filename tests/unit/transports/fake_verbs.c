/* fake_verbs.c - see fake_verbs.h: the device, its memory and its events. */
#include "fake_verbs_state.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

struct fake_device fake_device;
struct fake_plan fake_plan;
unsigned fake_uses[FAKE_CALL_COUNT], fake_completions, fake_all_calls, fake_works;

unsigned fake_objects;
struct fake_mr *fake_mrs;
struct fake_qp *fake_qps;
struct fake_context *fake_contexts;
uint32_t fake_next_number = 1;

static struct ibv_device the_device = {.name = "fake0", .node_type = IBV_NODE_CA};
static size_t registered;
static uint32_t next_key = 1;

void fake_violation(const char *what)
{
    fprintf(stderr, "fake verbs: %s\n", what);
    abort();
}

/* ---- faults ---- */

bool fake_fails(enum fake_call call)
{
    unsigned n = ++fake_uses[call];
    if (++fake_all_calls == fake_plan.event_at)
        fake_verbs_event(fake_plan.event);
    bool due = fake_plan.fail_at && call == fake_plan.call &&
               (n == fake_plan.fail_at || (fake_plan.for_ever && n > fake_plan.fail_at));
    if (due)
        errno = ENOMEM;
    return due;
}

void fake_verbs_event(enum ibv_event_type type)
{
    struct fake_context *c;
    DL_FOREACH (fake_contexts, c)
        if (write(c->event_pipe[1], &type, sizeof type) != sizeof type)
            fake_violation("the pipe of events is full");
}

void fake_verbs_reset(void)
{
    fake_device = (struct fake_device){.gids = 3, .inline_max = 256};
    fake_plan = (struct fake_plan){0};
    memset(fake_uses, 0, sizeof fake_uses);
    fake_completions = fake_all_calls = fake_works = 0;
    if (fake_objects)
        fake_violation("objects are left from before");
    fake_next_number = 1;
}

unsigned fake_verbs_objects(void)
{
    return fake_objects;
}

size_t fake_verbs_registered(void)
{
    return registered;
}

/* ---- the device ---- */

static int fork_init(void)
{
    return 0;
}

static struct ibv_device **get_device_list(int *count)
{
    if (fake_fails(FAKE_get_device_list))
        return NULL;
    struct ibv_device **list = calloc(2, sizeof *list);
    list[0] = fake_device.absent ? NULL : &the_device;
    *count = fake_device.absent ? 0 : 1;
    fake_objects++;
    return list;
}

static void free_device_list(struct ibv_device **list)
{
    free(list);
    fake_objects--;
}

static const char *get_device_name(struct ibv_device *d)
{
    return d->name;
}

static struct ibv_context *open_device(struct ibv_device *d)
{
    struct fake_context *c = fake_fails(FAKE_open_device) ? NULL : calloc(1, sizeof *c);
    if (!c)
        return NULL;
    if (pipe2(c->event_pipe, O_CLOEXEC | O_NONBLOCK)) {
        free(c);
        return NULL;
    }
    c->base.device = d;
    c->base.async_fd = c->event_pipe[0];
    DL_APPEND(fake_contexts, c);
    fake_objects++;
    return &c->base;
}

static int close_device(struct ibv_context *base)
{
    struct fake_context *c = (struct fake_context *)base;
    DL_DELETE(fake_contexts, c);
    close(c->event_pipe[0]);
    close(c->event_pipe[1]);
    free(c);
    fake_objects--;
    return 0;
}

static int query_device(struct ibv_context *c, struct ibv_device_attr *attr)
{
    (void)c;
    if (fake_fails(FAKE_query_device))
        return ENOMEM;
    *attr = (struct ibv_device_attr){.vendor_id = fake_device.soft ? 0xffffff : 0x1234,
                                     .phys_port_cnt = 1,
                                     .max_cqe = fake_device.max_cqe ? fake_device.max_cqe : 1 << 20,
                                     .max_srq = fake_device.no_shared ? 0 : 16,
                                     .max_srq_wr = 1 << 15,
                                     .max_qp_rd_atom = 16,
                                     .max_qp_init_rd_atom = 16};
    return 0;
}

static int query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr)
{
    (void)c;
    if (fake_fails(FAKE_query_port))
        return ENOMEM;
    *attr = (struct ibv_port_attr){.state = fake_device.port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
                                   .active_mtu = IBV_MTU_4096,
                                   .lid = fake_device.infiniband ? 7 : 0,
                                   .link_layer =
                                       fake_device.infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET};
    return port == 1 ? 0 : EINVAL;
}

static ssize_t query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t most)
{
    static const char *const texts[] = {"fe80::1", "::ffff:10.0.0.1", "::ffff:10.0.0.2"};
    (void)c;
    if (fake_fails(FAKE_query_gid_table))
        return -ENOMEM;
    unsigned n = 0;
    for (; n < fake_device.gids && n < most; n++) {
        entries[n] = (struct ibv_gid_entry){.gid_index = n, .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2};
        inet_pton(AF_INET6, texts[n], entries[n].gid.raw);
    }
    return n;
}

/* ---- memory ---- */

static struct ibv_pd *alloc_pd(struct ibv_context *c)
{
    struct ibv_pd *pd = fake_fails(FAKE_alloc_pd) ? NULL : calloc(1, sizeof *pd);
    if (!pd)
        return NULL;
    pd->context = c;
    fake_objects++;
    return pd;
}

static int dealloc_pd(struct ibv_pd *pd)
{
    const struct fake_mr *m;
    DL_FOREACH (fake_mrs, m)
        if (m->base.pd == pd)
            fake_violation("a protection domain goes before its regions");
    free(pd);
    fake_objects--;
    return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *data, size_t bytes, int access)
{
    struct fake_mr *m = fake_fails(FAKE_reg_mr) ? NULL : calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->base = (struct ibv_mr){
        .context = pd->context, .pd = pd, .addr = data, .length = bytes, .lkey = next_key, .rkey = next_key};
    next_key++;
    m->access = access;
    registered += bytes;
    DL_PREPEND(fake_mrs, m);
    fake_objects++;
    return &m->base;
}

static int dereg_mr(struct ibv_mr *base)
{
    struct fake_mr *m = (struct fake_mr *)base;
    DL_DELETE(fake_mrs, m);
    registered -= base->length;
    free(m);
    fake_objects--;
    return 0;
}

struct fake_mr *fake_mr_find(uint32_t key, uint64_t at, size_t bytes, int access)
{
    struct fake_mr *m;
    DL_FOREACH (fake_mrs, m) {
        uint64_t begin = (uintptr_t)m->base.addr;
        if (m->base.lkey == key)
            return at >= begin && bytes <= m->base.length && at - begin <= m->base.length - bytes &&
                           (m->access & access) == access
                       ? m
                       : NULL;
    }
    return NULL;
}

/* ---- events ---- */

static int get_async_event(struct ibv_context *base, struct ibv_async_event *event)
{
    struct fake_context *c = (struct fake_context *)base;
    enum ibv_event_type type;
    if (fake_fails(FAKE_get_async_event) || read(c->event_pipe[0], &type, sizeof type) != sizeof type)
        return -1;
    *event = (struct ibv_async_event){.event_type = type, .element.port_num = 1};
    if (type == IBV_EVENT_QP_FATAL)
        event->element.qp = fake_qps ? &fake_qps->base : NULL;
    return 0;
}

static void ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}

/* ---- channels ---- */

static struct ibv_comp_channel *create_comp_channel(struct ibv_context *c)
{
    int ends[2];
    struct fake_channel *channel = fake_fails(FAKE_create_comp_channel) ? NULL : calloc(1, sizeof *channel);
    if (!channel || pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
        free(channel);
        return NULL;
    }
    channel->base = (struct ibv_comp_channel){.context = c, .fd = ends[0]};
    channel->write_end = ends[1];
    fake_objects++;
    return &channel->base;
}

static int destroy_comp_channel(struct ibv_comp_channel *base)
{
    struct fake_channel *channel = (struct fake_channel *)base;
    close(base->fd);
    close(channel->write_end);
    free(channel);
    fake_objects--;
    return 0;
}

const struct pvmt_verbs fake_verbs = {
    .version = PVMT_VERBS_VERSION,
    .fork_init = fork_init,
    .get_device_list = get_device_list,
    .free_device_list = free_device_list,
    .get_device_name = get_device_name,
    .open_device = open_device,
    .close_device = close_device,
    .query_device = query_device,
    .query_port = query_port,
    .query_gid_table = query_gid_table,
    .alloc_pd = alloc_pd,
    .dealloc_pd = dealloc_pd,
    .reg_mr = reg_mr,
    .dereg_mr = dereg_mr,
    .create_comp_channel = create_comp_channel,
    .destroy_comp_channel = destroy_comp_channel,
    .create_cq = fake_create_cq,
    .destroy_cq = fake_destroy_cq,
    .poll_cq = fake_poll_cq,
    .req_notify_cq = fake_req_notify_cq,
    .get_cq_event = fake_get_cq_event,
    .ack_cq_events = fake_ack_cq_events,
    .create_srq = fake_create_srq,
    .destroy_srq = fake_destroy_srq,
    .post_srq_recv = fake_post_srq_recv,
    .create_qp = fake_create_qp,
    .destroy_qp = fake_destroy_qp,
    .modify_qp = fake_modify_qp,
    .post_recv = fake_post_recv,
    .post_send = fake_post_send,
    .get_async_event = get_async_event,
    .ack_async_event = ack_async_event,
};
