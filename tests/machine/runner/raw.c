/* raw.c - see raw.h. */
#include "raw.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "check.h"

enum { PROTOCOL = 1, PAYLOAD_MAX = 1 << 20 };

_Static_assert(sizeof(struct raw_header) == 64, "the header has padding");

/* ---- bodies ---- */

void raw_put_bytes(struct raw_body *b, const void *data, size_t length)
{
    while (b->length + length > b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 256;
        b->data = realloc(b->data, b->capacity);
        CHECK(b->data);
    }
    if (length)
        memcpy(b->data + b->length, data, length);
    b->length += length;
}

void raw_put_u8(struct raw_body *b, uint8_t value)
{
    raw_put_bytes(b, &value, sizeof value);
}

void raw_put_u32(struct raw_body *b, uint32_t value)
{
    raw_put_bytes(b, &value, sizeof value);
}

void raw_put_string(struct raw_body *b, const char *text)
{
    raw_put_u32(b, (uint32_t)strlen(text));
    raw_put_bytes(b, text, strlen(text));
}

void raw_free(struct raw_body *b)
{
    free(b->data);
    *b = (struct raw_body){0};
}

/* ---- bytes ---- */

static bool write_all(const struct raw_task *t, const void *data, size_t length)
{
    const char *at = data;
    while (length) {
        struct pollfd p = {.fd = t->fd, .events = POLLOUT};
        ssize_t n = send(t->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN && poll(&p, 1, t->patience_ms) == 1)
            continue;
        if (n < 0)
            return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static void read_all(int fd, void *data, size_t length)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (char *at = data; length;) {
        CHECK_EQ(poll(&p, 1, check_limit_s() * 1000), 1);
        ssize_t n = read(fd, at, length);
        CHECK(n > 0);
        at += n;
        length -= (size_t)n;
    }
}

/* ---- frames ---- */

struct raw_header raw_header(const struct raw_task *t, uint32_t dst, uint32_t seq, uint32_t length)
{
    return (struct raw_header){.magic = 0x5644,
                               .version = 1,
                               .length = length,
                               .dst = dst,
                               .src = t->tid,
                               .seq = seq,
                               .enc = 0x10000000,
                               .body_length = length};
}

bool raw_send(struct raw_task *t, const struct raw_header *h, const void *payload)
{
    static const uint8_t zeros[PAYLOAD_MAX];
    return write_all(t, h, sizeof *h) && write_all(t, payload ? payload : zeros, h->length);
}

int32_t raw_request(struct raw_task *t, uint32_t tag, const struct raw_body *body)
{
    struct raw_header h = raw_header(t, RAW_DAEMON, 0, 0);
    h.tag = (int32_t)tag;
    h.ctx = RAW_CTX_TM;
    h.wid = ++t->wid;
    h.body_length = body->length;
    do {
        size_t left = body->length - h.offset;
        h.length = left < PAYLOAD_MAX ? (uint32_t)left : PAYLOAD_MAX;
        CHECK(raw_send(t, &h, body->data + h.offset));
        h.offset += h.length;
    } while (h.offset < body->length);
    return h.wid;
}

static bool is_answer(const struct raw_header *h, int32_t wid)
{
    return h->ctx == RAW_CTX_TM && h->wid == wid && !h->offset;
}

int32_t raw_answer(struct raw_task *t, int32_t wid)
{
    static uint8_t payload[PAYLOAD_MAX];
    struct raw_header h;
    int32_t code;
    do {
        read_all(t->fd, &h, sizeof h);
        CHECK(h.length <= PAYLOAD_MAX);
        read_all(t->fd, payload, h.length);
    } while (!is_answer(&h, wid));
    CHECK(h.length >= sizeof code);
    memcpy(&code, payload, sizeof code);
    if (h.tag == (int32_t)RAW_CONNECT && code == PvmOk)
        memcpy(&t->tid, payload + sizeof code, sizeof t->tid);
    return code;
}

int32_t raw_ask(struct raw_task *t, uint32_t tag, const struct raw_body *body)
{
    return raw_answer(t, raw_request(t, tag, body));
}

/* ---- connections ---- */

static void socket_path(char *path, size_t size)
{
    char name[256];
    const char *given = getenv("PVMSOCK");
    if (given) {
        snprintf(path, size, "%s", given);
        return;
    }
    snprintf(name, sizeof name, "%s/pvmd.%u", getenv("PVM_TMP"), (unsigned)getuid());
    FILE *f = fopen(name, "r");
    CHECK(f && fgets(path, (int)size, f));
    fclose(f);
    path[strcspn(path, "\n")] = '\0';
}

void raw_connect(struct raw_task *t)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct raw_body body = {0};
    socket_path(address.sun_path, sizeof address.sun_path);
    *t = (struct raw_task){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .patience_ms = check_limit_s() * 1000};
    CHECK_EQ(connect(t->fd, (struct sockaddr *)&address, sizeof address), 0);
    raw_put_u32(&body, PROTOCOL);
    raw_put_u32(&body, (uint32_t)getpid());
    raw_put_u32(&body, 0);
    raw_put_u32(&body, 0x00408c41); /* LINUX64 */
    raw_put_string(&body, "raw");
    CHECK_EQ(raw_ask(t, RAW_CONNECT, &body), PvmOk);
    raw_free(&body);
}

void raw_close(struct raw_task *t)
{
    close(t->fd);
    t->fd = -1;
}
