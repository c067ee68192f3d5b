/* leaver.c - see leaver.h. It is a task for so long, without libpvm, which a daemon does not have. */
#include "leaver.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include "core/buf.h"
#include "core/error.h"
#include "core/message/dsig.h"
#include "core/message/message.h"
#include "core/message/proto.h"
#include "core/place/address.h"
#include "pvm3.h"
#include "pvmd/base/hosts.h"
#include "transports/unix/unix.h"

#define ANSWER_S    30   /* the daemon tells us something each second */
#define END_MS      5000 /* for its process to end when it has left */
#define PAYLOAD_MAX 4096 /* bytes of an answer */
#define REPEAT_S    5    /* between lines that tell nothing but the time */
#define RETRY_US    50000
#define RETRIES     200

static struct {
    int fd;
    int process; /* a descriptor of the daemon, or -1 */
    pvmc_tid tid;
    int32_t wid;
} daemon_link = {.fd = -1, .process = -1};

/* How it goes, as TM_LEAVE tells. */
struct state {
    enum pvmc_leave_stage stage;
    unsigned tasks, left_ms;
    char host[PVMD_HOST_NAME_MAX + 1];
};

/* ---- the connection ---- */

static int complain(const char *why)
{
    fprintf(stderr, "pvmd3: %s\n", why);
    return 1;
}

static int open_link(const char *path)
{
    struct ucred who = {0};
    socklen_t length = sizeof who;
    int fd = PVMC_EAGAIN;
    for (int i = 0; fd == PVMC_EAGAIN && i < RETRIES; i++) {
        fd = pvmt_unix_path_connect(path);
        if (fd == PVMC_EAGAIN)
            usleep(RETRY_US);
    }
    if (fd < 0)
        return fd;
    fcntl(fd, F_SETFL, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = ANSWER_S}, sizeof(struct timeval));
    if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) && who.pid > 0)
        daemon_link.process = (int)syscall(SYS_pidfd_open, who.pid, 0);
    daemon_link.fd = fd;
    return 0;
}

static int send_request(int32_t tag, const struct pvmc_buf *body)
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES + PAYLOAD_MAX];
    struct pvmc_frame_header h = {.length = (uint32_t)body->length, .body_length = body->length};
    h.dst = PVMC_TID_DAEMON;
    h.src = daemon_link.tid;
    h.ctx = PVMC_CTX_TM;
    h.tag = tag;
    h.wid = ++daemon_link.wid;
    h.enc = PVMC_ENC_DEFAULT;
    h.dsig = pvmc_dsig_own();
    if (pvmc_buf_error(body) || body->length > PAYLOAD_MAX)
        return PVMC_ENOMEM;
    pvmc_frame_encode(&h, wire);
    memcpy(wire + PVMC_FRAME_HEADER_BYTES, body->data, body->length);
    ssize_t all = PVMC_FRAME_HEADER_BYTES + (ssize_t)body->length;
    return send(daemon_link.fd, wire, (size_t)all, MSG_NOSIGNAL) == all ? 0 : PVMC_EDOWN;
}

static int read_all(void *data, size_t length)
{
    ssize_t n = length ? recv(daemon_link.fd, data, length, MSG_WAITALL) : 0;
    if (n == (ssize_t)length)
        return 0;
    return n < 0 && errno == EAGAIN ? PVMC_ETIMEOUT : PVMC_EDOWN;
}

/* Reads the next frame; of a payload that is too long for an answer, only the end. */
static int read_frame(struct pvmc_frame_header *h, uint8_t payload[PAYLOAD_MAX])
{
    uint8_t wire[PVMC_FRAME_HEADER_BYTES];
    int rc = read_all(wire, sizeof wire);
    rc = rc ? rc : pvmc_frame_decode(wire, h);
    for (uint32_t left = rc ? 0 : h->length; !rc && left;) {
        uint32_t piece = left < PAYLOAD_MAX ? left : PAYLOAD_MAX;
        rc = read_all(payload, piece);
        left -= piece;
    }
    return rc;
}

/* Waits for the next answer to the latest request, and views it. Returns its code, or a PVMC_E code. */
static int await(struct pvmc_buf *answer)
{
    static uint8_t payload[PAYLOAD_MAX];
    struct pvmc_frame_header h = {0};
    int rc;
    do
        rc = read_frame(&h, payload);
    while (!rc && (h.ctx != PVMC_CTX_TM || h.wid != daemon_link.wid || h.body_length > PAYLOAD_MAX));
    pvmc_buf_view(answer, payload, rc ? 0 : h.length);
    if (rc)
        return rc;
    rc = pvmc_buf_get_i32(answer);
    return pvmc_buf_error(answer) ? PVMC_EFORMAT : rc;
}

static int introduce(void)
{
    struct pvmc_buf body, answer;
    pvmc_buf_init(&body);
    pvmc_buf_put_u32(&body, PVMC_TASK_PROTOCOL);
    pvmc_buf_put_u32(&body, (uint32_t)getpid());
    pvmc_buf_put_u32(&body, 0);
    pvmc_buf_put_u32(&body, pvmc_dsig_own());
    pvmc_buf_put_string(&body, PVMC_LEAVER_NAME);
    int rc = send_request((int32_t)PVMC_TM_CONNECT, &body);
    pvmc_buf_free(&body);
    rc = rc ? rc : await(&answer);
    if (!rc)
        daemon_link.tid = pvmc_buf_get_u32(&answer);
    return rc;
}

/* ---- leaving ---- */

static int ask_to_leave(uint64_t grace_us)
{
    struct pvmc_buf body;
    pvmc_buf_init(&body);
    pvmc_buf_put_u64(&body, grace_us);
    int rc = send_request((int32_t)PVMC_TM_LEAVE, &body);
    pvmc_buf_free(&body);
    return rc;
}

static int await_state(struct state *s, char *why, size_t size)
{
    struct pvmc_buf answer;
    int rc = await(&answer);
    if (rc == PvmBadParam)
        pvmc_buf_get_string_to(&answer, why, size);
    if (rc)
        return rc;
    s->stage = pvmc_buf_get_u8(&answer);
    s->tasks = pvmc_buf_get_u32(&answer);
    s->left_ms = pvmc_buf_get_u32(&answer);
    pvmc_buf_get_string_to(&answer, s->host, sizeof s->host);
    return pvmc_buf_end(&answer);
}

/* Says what is new, and every few seconds that time passes. */
static void tell(const struct state *s)
{
    static struct state told;
    const char *plural = s->tasks == 1 ? "" : "s";
    unsigned left_s = (s->left_ms + 999) / 1000;
    bool is_new = s->stage != told.stage || s->tasks != told.tasks || told.left_ms >= s->left_ms + REPEAT_S * 1000;
    if (!is_new || !s->tasks)
        return;
    told = *s;
    if (s->stage == PVMC_LEAVE_WAITS)
        printf("waiting for %u task%s, %u s left\n", s->tasks, plural, left_s);
    else if (s->stage == PVMC_LEAVE_TOLD)
        printf("%u task%s did not end in time: sent SIGTERM\n", s->tasks, plural);
    else if (s->stage == PVMC_LEAVE_KILLED)
        printf("%u task%s ignored SIGTERM: killed\n", s->tasks, plural);
    fflush(stdout);
}

/* Its files are gone when its process has ended, so that another one may start. */
static int wait_for_end(const struct state *s)
{
    struct pollfd p = {.fd = daemon_link.process, .events = POLLIN};
    if (daemon_link.process >= 0 && poll(&p, 1, END_MS) != 1)
        return complain("the host has left, but its daemon does not end");
    printf("host %s has left\n", s->host);
    return 0;
}

static int follow(uint64_t grace_us)
{
    struct state s = {0};
    char why[256] = "";
    int rc = ask_to_leave(grace_us);
    while (!rc && s.stage != PVMC_LEAVE_LEFT) {
        rc = await_state(&s, why, sizeof why);
        if (!rc)
            tell(&s);
    }
    if (!rc)
        return wait_for_end(&s);
    if (*why) {
        fprintf(stderr, "pvmd3: this host cannot leave: %s\n", why);
        return 1;
    }
    return complain(rc == PVMC_EDOWN      ? "the daemon has ended before it had left: its log says why"
                    : rc == PVMC_ETIMEOUT ? "the daemon does not answer: is it stopped?"
                                          : "the daemon does not understand: it is another version");
}

int pvmd_leaver_run(uint64_t grace_us)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];
    int rc = pvmc_address_find(path, why, sizeof why);
    if (rc)
        return complain(why);
    rc = open_link(path);
    if (rc == PVMC_EUNREACHABLE)
        pvmc_address_explain_stale(path, why, sizeof why);
    else if (rc)
        snprintf(why, sizeof why, "cannot connect to the daemon on %s: %s", path, pvmc_error_text(rc));
    if (rc)
        return complain(why);
    rc = introduce();
    if (rc)
        return complain(rc == PVMC_ETIMEOUT ? "the daemon does not answer: is it stopped?"
                                            : "the daemon does not let us in: its log says why");
    return follow(grace_us);
}
