/* sealed.c - see sealed.h. */
#include "sealed.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FIRST_MAX  (3 * PVMW_SEALED_RECORD_BYTES)
#define SEALED_MAX (4 * PVMW_SEALED_RECORD_BYTES) /* so that the peer decrypts while we encrypt the next batch */

static struct {
    bool in_burst; /* its first batch has left */
    size_t length;
    uint8_t bytes[SEALED_MAX];
} sealed;

static BIO_METHOD *method;

/* ---- OpenSSL's side ---- */

static int sealed_write(BIO *bio, const char *data, int length)
{
    (void)bio;
    if (length < 0 || (size_t)length > SEALED_MAX - sealed.length)
        return -1;
    memcpy(sealed.bytes + sealed.length, data, (size_t)length);
    sealed.length += (size_t)length;
    return length;
}

static long sealed_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

bool pvmw_sealed_start(void)
{
    method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "dpvm sealed");
    return method && BIO_meth_set_write(method, sealed_write) && BIO_meth_set_ctrl(method, sealed_control);
}

void pvmw_sealed_stop(void)
{
    BIO_meth_free(method);
    method = NULL;
}

BIO *pvmw_sealed_bio(void)
{
    BIO *bio = BIO_new(method);
    if (bio)
        BIO_set_init(bio, 1);
    return bio;
}

bool pvmw_sealed_is_full(void)
{
    return sealed.length + 2 * PVMW_SEALED_RECORD_BYTES > (sealed.in_burst ? SEALED_MAX : FIRST_MAX);
}

/* ---- the socket's side ---- */

/* 0 or an errno; *sent is how much the socket took. */
static int to_socket(int fd, const uint8_t *bytes, size_t length, size_t *sent)
{
    ssize_t n;
    do
        n = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    *sent = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : errno;
}

static int add_backlog(struct pvmw_backlog *b, const uint8_t *bytes, size_t length)
{
    size_t left = b->length - b->done;
    uint8_t *grown = malloc(left + length);
    if (!grown)
        return ENOMEM;
    if (left)
        memcpy(grown, b->bytes + b->done, left);
    memcpy(grown + left, bytes, length);
    free(b->bytes);
    *b = (struct pvmw_backlog){.bytes = grown, .length = left + length};
    return 0;
}

int pvmw_sealed_send(int fd, struct pvmw_backlog *b, bool last)
{
    size_t length = sealed.length, sent = 0;
    sealed.length = 0;
    sealed.in_burst = !last;
    if (!length)
        return 0;
    int error = b->bytes ? 0 : to_socket(fd, sealed.bytes, length, &sent);
    return error || sent == length ? error : add_backlog(b, sealed.bytes + sent, length - sent);
}

void pvmw_sealed_drop(void)
{
    sealed.length = 0;
    sealed.in_burst = false;
}

int pvmw_backlog_send(int fd, struct pvmw_backlog *b)
{
    size_t sent;
    if (!b->bytes)
        return 0;
    int error = to_socket(fd, b->bytes + b->done, b->length - b->done, &sent);
    b->done += sent;
    if (b->done == b->length)
        pvmw_backlog_free(b);
    return error;
}

void pvmw_backlog_free(struct pvmw_backlog *b)
{
    free(b->bytes);
    *b = (struct pvmw_backlog){0};
}
