/*
 * fuzz_dm.c - messages of other daemons about hosts: rows of the host table, and rpc's own reading. The first byte
 * chooses; see also fuzz targets of the duties' messages.
 */
#include "fuzz.h"
#include <ev.h>
#include <string.h>
#include "../../src/core/log.h"
#include "../../src/core/proto.h"
#include "../../src/pvmd/daemon.h"
#include "../../src/pvmd/hosts.h"
#include "../../src/pvmd/link.h"
#include "../../src/pvmd/relay.h"
#include "../../src/pvmd/rpc.h"
#include "../../src/pvmd/stats.h"

/* ---- what rpc.c stands on ---- */

struct pvmd_daemon pvmd;
struct pvmd_stats pvmd_stats;

void pvmd_relay_message(struct pvmi_message *m)
{
    MUST(m->ctx == PVMI_CTX_DM);
}

void pvmd_link_send(struct pvmd_host *host, struct pvmi_frame *f)
{
    (void)host, (void)f;
}

static void ignore(enum pvmi_log_level level, const char *line, void *arg)
{
    (void)level, (void)line, (void)arg;
}

static void answered(void *arg, unsigned host_index, int code, struct pvmi_buf *body)
{
    (void)arg, (void)code;
    MUST(host_index == 2);
    while (pvmi_buf_left(body) && !pvmi_buf_error(body))
        pvmi_buf_get_u8(body);
}

static int rows(const struct pvmd_question *q, struct pvmi_buf *body)
{
    struct pvmd_host *h;
    int rc = 0;
    (void)q;
    while (!rc && pvmi_buf_left(body)) {
        rc = pvmd_host_get_row(body, &h);
        MUST(rc || (h->index >= 1 && h->index <= PVMI_HOST_INDEX_MAX && h->name[0] && h == pvmd_host_any(h->index)));
    }
    return rc ? rc : pvmi_buf_end(body);
}

static void start(void)
{
    pvmi_log_to(ignore, NULL, PVMI_LOG_DEBUG);
    pvmd.loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    pvmd.host_index = pvmd.master_index = 1;
    pvmd_host_set_state(pvmd_host_new(1, 1, "a"), PVMD_HOST_UP);
    pvmd_host_set_state(pvmd_host_new(2, 2, "b"), PVMD_HOST_UP);
    pvmd_dm_handle(PVMD_DM_HOST_ADD, rows);
}

/* Bytes: sender's host, tag, wid; the rest is the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    start();
    pvmd_ask(2, PVMD_DM_PING, NULL, answered, NULL); /* wid 1 or more */
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    m->src = PVMI_TID_DAEMON | pvmi_tid_of_host_index(fuzz_byte(&in) % 4);
    m->tag = (int32_t)(PVMD_DM_ANSWER + fuzz_byte(&in) % 4);
    m->wid = fuzz_byte(&in);
    m->ctx = PVMI_CTX_DM;
    if (in.left)
        MUST(!pvmi_message_pack_bytes(m, in.data, in.left));
    pvmd_rpc_receive(2, m);
    pvmi_message_unref(m);
    ev_run(pvmd.loop, EVRUN_NOWAIT);
    pvmd_rpc_stop();
    pvmd_host_free_all();
    ev_loop_destroy(pvmd.loop);
    return 0;
}
