/* channel.c - see channel.h. */
#include "channel.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include "core/clock.h"

#define HANDSHAKE_US 5000000 /* for the other side to prove that it has the key */

bool pvmd_channel_wait(int fd, short events, int64_t deadline_us)
{
    int64_t left_us = deadline_us - pvmc_clock_us();
    struct pollfd p = {.fd = fd, .events = events};
    return left_us > 0 && poll(&p, 1, (int)(left_us / 1000) + 1) > 0;
}

void pvmd_channel_close(struct pvmd_channel *c)
{
    pvmw_tls_end(c->tls, true);
    close(c->fd);
}

const char *pvmd_channel_open(struct pvmd_channel *c, int fd, const struct pvmw_tls_key *key)
{
    static char why[200];
    int64_t deadline_us = pvmc_clock_us() + HANDSHAKE_US;
    *c = (struct pvmd_channel){.fd = fd, .tls = pvmw_tls_new(fd, PVMW_TLS_CALLER, key)};
    int rc = c->tls ? 0 : -1;
    while (!rc && !(rc = pvmw_tls_handshake(c->tls)))
        if (!pvmd_channel_wait(fd, POLLIN, deadline_us))
            rc = -1;
    if (rc > 0)
        return NULL;
    const char *error = c->tls ? pvmw_tls_error(c->tls) : "no memory";
    snprintf(why, sizeof why, "%s", error ? error : "does not answer");
    pvmd_channel_close(c);
    return why;
}

/* Writes everything; fd may be blocking or not. */
static bool write_all(int fd, const uint8_t *data, size_t length)
{
    while (length) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool put_all(struct pvmd_channel *c, const uint8_t *data, size_t length)
{
    bool all = false;
    while (!all && !pvmw_tls_error(c->tls)) {
        size_t taken = pvmw_tls_put(c->tls, data, length);
        data += taken;
        length -= taken;
        all = pvmw_tls_flush(c->tls) && !length;
        if (pvmw_tls_is_blocked(c->tls))
            poll(&(struct pollfd){.fd = c->fd, .events = POLLOUT}, 1, -1);
    }
    return all;
}

/* Carries bytes from this host to the other side. False at the end of either. */
static bool pass_out(struct pvmd_channel *c, int in)
{
    uint8_t data[PVMW_TLS_RECORD_BYTES];
    ssize_t n = read(in, data, sizeof data);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    bool passed = n > 0 && put_all(c, data, (size_t)n);
    OPENSSL_cleanse(data, sizeof data);
    return passed;
}

/* Passes on everything received. */
static bool pass_in(struct pvmd_channel *c, int out)
{
    uint8_t data[PVMW_TLS_RECORD_BYTES];
    ssize_t n;
    while ((n = pvmw_tls_read(c->tls, data, sizeof data)) > 0)
        if (!write_all(out, data, (size_t)n))
            return false;
    return n == 0;
}

void pvmd_channel_carry(struct pvmd_channel *c, int in, int out)
{
    struct pollfd p[] = {{.fd = c->fd, .events = POLLIN}, {.fd = in, .events = POLLIN}};
    bool on = pass_in(c, out); /* data may have come with the end of the handshake */
    while (on) {
        int n = poll(p, 2, -1);
        if (n < 0 && errno == EINTR)
            continue;
        on = n > 0;
        if (on && p[0].revents)
            on = pass_in(c, out);
        if (on && p[1].revents)
            on = pass_out(c, in);
    }
    pvmd_channel_close(c);
}
