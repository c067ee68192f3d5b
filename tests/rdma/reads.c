/*
 * reads - RDMA READs over many queue pairs at once, in plain verbs and without dpvm: do they deliver the right data?
 *
 *   reads [PAIRS [BYTES [ROUNDS [SECONDS]]]]          (64 65536 10 20)
 *
 * Uses queue pairs between the first two RDMA devices; in each round every end reads BYTES from its peer, and compares.
 * Soft-RoCE of Linux 6.1 reports READs as complete whose data the host's own receive backlog has dropped
 * (net.core.netdev_max_backlog; 64 pairs are enough for its default): the buffer is then unchanged. The transport
 * detects this; this program shows that the cause is not dpvm.
 *
 * READs not complete after SECONDS count as unfinished. Prints one line. Exit code: 0 all data right; 1 completed READs
 * delivered wrong data; 2 READs failed or are unfinished, or another error; 77 there are no two devices.
 */
#include <err.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH_MAX = 16, UNTOUCHED = 0xee };

/* One device with its ends of all pairs. */
struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_port_attr port;
    union ibv_gid gid;
    int gid_index;
    uint8_t *data; /* pairs * bytes that the peer reads, then pairs * bytes for our reads */
    struct ibv_mr *mr;
    struct ibv_qp **queue_pairs;
};

static unsigned pairs = 64, bytes = 65536, rounds = 10, limit_s = 20;
static struct side sides[2];
static unsigned posted, done, wrong, failed; /* READs */
static bool *broken;                         /* pairs: their queue pairs are in error */

/* The first GID that is an IPv4 address: RoCE v2 with the interface's own address. */
static void choose_gid(struct side *s)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    for (int i = 0; i < s->port.gid_tbl_len; i++)
        if (!ibv_query_gid(s->context, 1, i, &s->gid) && !memcmp(s->gid.raw, mapped, sizeof mapped)) {
            s->gid_index = i;
            return;
        }
    errx(2, "%s has no GID of an IPv4 address", ibv_get_device_name(s->context->device));
}

static void open_side(struct side *s, struct ibv_device *device)
{
    size_t size = (size_t)2 * pairs * bytes;
    s->context = ibv_open_device(device);
    if (!s->context || ibv_query_port(s->context, 1, &s->port))
        errx(2, "%s cannot be opened", ibv_get_device_name(device));
    choose_gid(s);
    s->data = malloc(size);
    s->pd = ibv_alloc_pd(s->context);
    s->cq = ibv_create_cq(s->context, (int)pairs, NULL, NULL, 0);
    s->queue_pairs = calloc(pairs, sizeof(struct ibv_qp *));
    if (!s->data || !s->pd || !s->cq || !s->queue_pairs)
        err(2, "no resources of %s", ibv_get_device_name(device));
    s->mr = ibv_reg_mr(s->pd, s->data, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    if (!s->mr)
        err(2, "no memory registered");
}

static struct ibv_qp *make_queue_pair(struct side *s)
{
    struct ibv_qp_init_attr attr = {.send_cq = s->cq,
                                    .recv_cq = s->cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_READ};
    struct ibv_qp *qp = ibv_create_qp(s->pd, &attr);
    if (!qp || ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        err(2, "no queue pair");
    return qp;
}

static void connect_queue_pair(struct ibv_qp *qp, const struct side *own, const struct side *peer, uint32_t peer_number)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = own->port.active_mtu,
                               .dest_qp_num = peer_number,
                               .max_dest_rd_atomic = DEPTH_MAX,
                               .min_rnr_timer = 12,
                               .ah_attr = {.is_global = 1,
                                           .port_num = 1,
                                           .grh = {.dgid = peer->gid, .sgid_index = own->gid_index, .hop_limit = 64}}};
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        err(2, "a queue pair does not connect");
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.max_rd_atomic = DEPTH_MAX;
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        err(2, "a queue pair does not become ready to send");
}

static void connect_all(void)
{
    for (unsigned i = 0; i < pairs; i++) {
        for (int k = 0; k < 2; k++)
            sides[k].queue_pairs[i] = make_queue_pair(&sides[k]);
        for (int k = 0; k < 2; k++)
            connect_queue_pair(sides[k].queue_pairs[i], &sides[k], &sides[!k], sides[!k].queue_pairs[i]->qp_num);
    }
}

static uint8_t *offered(struct side *s, unsigned pair)
{
    return s->data + (size_t)pair * bytes;
}

static uint8_t *taken(struct side *s, unsigned pair)
{
    return s->data + (size_t)(pairs + pair) * bytes;
}

static void post_read(struct side *s, struct side *peer, unsigned pair)
{
    struct ibv_sge sge = {.addr = (uintptr_t)taken(s, pair), .length = bytes, .lkey = s->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = pair,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_READ,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {.remote_addr = (uintptr_t)offered(peer, pair), .rkey = peer->mr->rkey}};
    struct ibv_send_wr *bad;
    if (ibv_post_send(s->queue_pairs[pair], &wr, &bad))
        err(2, "a READ is not taken");
}

/* Handles completions, and compares the data. */
static void take_done(struct side *s, struct side *peer)
{
    struct ibv_wc completions[16];
    int n = ibv_poll_cq(s->cq, 16, completions);
    if (n < 0)
        errx(2, "the completion queue cannot be read");
    for (int i = 0; i < n; i++) {
        unsigned pair = (unsigned)completions[i].wr_id;
        if (completions[i].status != IBV_WC_SUCCESS) {
            failed++;
            broken[pair] = true;
        } else if (memcmp(taken(s, pair), offered(peer, pair), bytes)) {
            wrong++;
        }
    }
    done += (unsigned)n;
}

static void run_round(unsigned round, time_t end)
{
    for (int k = 0; k < 2; k++)
        for (unsigned i = 0; i < pairs; i++) {
            memset(offered(&sides[k], i), (int)(round * 131 + i * 7 + (unsigned)k) % 200, bytes);
            memset(taken(&sides[k], i), UNTOUCHED, bytes);
        }
    for (unsigned i = 0; i < pairs; i++)
        for (int k = 0; k < 2 && !broken[i]; k++, posted++)
            post_read(&sides[k], &sides[!k], i);
    while (done < posted && time(NULL) < end)
        for (int k = 0; k < 2; k++)
            take_done(&sides[k], &sides[!k]);
}

static void close_side(struct side *s)
{
    for (unsigned i = 0; i < pairs; i++)
        if (ibv_destroy_qp(s->queue_pairs[i]))
            errx(2, "a queue pair does not go");
    if (ibv_dereg_mr(s->mr) || ibv_destroy_cq(s->cq) || ibv_dealloc_pd(s->pd) || ibv_close_device(s->context))
        errx(2, "what was made does not go");
    free(s->queue_pairs);
    free(s->data);
}

int main(int argc, char **argv)
{
    unsigned *const numbers[] = {&pairs, &bytes, &rounds, &limit_s};
    for (int i = 1; i < argc && i <= 4; i++)
        *numbers[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
    int count = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    if (!devices || count < 2) {
        printf("reads: needs two RDMA devices, there are %d\n", count);
        return 77;
    }
    for (int k = 0; k < 2; k++)
        open_side(&sides[k], devices[k]);
    ibv_free_device_list(devices);
    broken = calloc(pairs, sizeof *broken);
    if (!broken)
        err(2, "no memory");
    connect_all();
    time_t end = time(NULL) + limit_s;
    for (unsigned round = 0; round < rounds && done == posted; round++)
        run_round(round, end);
    for (int k = 0; k < 2; k++)
        close_side(&sides[k]);
    printf(
        "reads: %u pairs, %u bytes: of %u READs %u are unfinished, %u failed, and %u were reported as done with wrong "
        "data\n",
        pairs, bytes, posted, posted - done, failed, wrong);
    free(broken);
    return wrong ? 1 : failed || done < posted ? 2 : 0;
}
