/* test_tls.c - TLS between two ends in one process: bytes, full sockets, separate connections, and detected changes. */
#include "wire/tls.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tests/unit/unit.h"

static const struct pvmw_tls_key key = {"the key's name", "what both ends know"};

/* Two connected ends. */
struct pair {
    int fds[2];
    struct pvmw_tls *caller, *called;
};

static void meet(struct pair *p)
{
    int rc = 0;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p->fds), 0);
    p->caller = pvmw_tls_new(p->fds[0], PVMW_TLS_CALLER, &key);
    p->called = pvmw_tls_new(p->fds[1], PVMW_TLS_CALLED, &key);
    ck_assert(p->caller && p->called);
    for (int i = 0; i < 10 && rc < 2; i++)
        rc = (pvmw_tls_handshake(p->caller) == 1) + (pvmw_tls_handshake(p->called) == 1);
    ck_assert_int_eq(rc, 2);
}

static void part(struct pair *p)
{
    pvmw_tls_end(p->caller, false);
    pvmw_tls_end(p->called, false);
    close(p->fds[0]);
    close(p->fds[1]);
}

static void says(struct pvmw_tls *s, const char *text)
{
    ck_assert_uint_eq(pvmw_tls_put(s, text, strlen(text)), strlen(text));
    ck_assert(pvmw_tls_flush(s));
}

static void hears(struct pvmw_tls *s, const char *text)
{
    char got[100] = "";
    ck_assert_int_eq(pvmw_tls_read(s, got, sizeof got - 1), (ssize_t)strlen(text));
    ck_assert_str_eq(got, text);
}

START_TEST(bytes_go_both_ways)
{
    struct pair p;
    char none;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&p);
    says(p.caller, "hello");
    hears(p.called, "hello");
    says(p.called, "welcome");
    hears(p.caller, "welcome");
    ck_assert_int_eq(pvmw_tls_read(p.caller, &none, 1), 0);
    ck_assert_ptr_null(pvmw_tls_error(p.caller));
    part(&p);
    pvmw_tls_stop();
}
END_TEST

/* A connection that ends between put and flush: its bytes leave neither in plain text nor over the next connection. */
START_TEST(what_was_not_flushed_never_leaves_by_another)
{
    static char much[100000];
    struct pair a, b;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&a);
    meet(&b);
    ck_assert_uint_eq(pvmw_tls_put(a.caller, "for a alone", 11), 11);
    part(&a);
    says(b.caller, "for b");
    hears(b.called, "for b");
    meet(&a);
    pvmw_tls_put(a.caller, much, sizeof much); /* some of it is already encrypted */
    part(&a);
    says(b.caller, "for b again");
    hears(b.called, "for b again");
    part(&b);
    pvmw_tls_stop();
}
END_TEST

START_TEST(a_full_socket_takes_the_rest_later)
{
    enum { TOTAL = 3 << 20 };
    static uint8_t out[TOTAL], in[TOTAL];
    struct pair p;
    size_t sent = 0, received = 0;
    unsigned blocked = 0;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&p);
    for (size_t i = 0; i < TOTAL; i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    while (received < TOTAL) {
        sent += pvmw_tls_put(p.caller, out + sent, TOTAL - sent);
        pvmw_tls_flush(p.caller);
        blocked += pvmw_tls_is_blocked(p.caller);
        ssize_t n = pvmw_tls_read(p.called, in + received, TOTAL - received);
        ck_assert_int_ge(n, 0);
        received += (size_t)n;
    }
    ck_assert_uint_gt(blocked, 0);
    ck_assert_int_eq(memcmp(in, out, TOTAL), 0);
    part(&p);
    pvmw_tls_stop();
}
END_TEST

/* Records that have arrived at this end and were not read. */
static int arrived(int fd)
{
    int bytes;
    ck_assert_int_eq(ioctl(fd, FIONREAD, &bytes), 0);
    return bytes / PVMW_TLS_RECORD_BYTES;
}

/* The first two records of a burst leave before the third, so that the peer can decrypt; then three at a time. */
START_TEST(a_burst_begins_with_two_records)
{
    enum { RECORD = PVMW_TLS_RECORD_BYTES };
    static uint8_t much[6 * RECORD];
    struct pair p;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&p);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(pvmw_tls_put(p.caller, much, 2 * RECORD), 2 * RECORD);
        ck_assert_int_eq(arrived(p.fds[1]), 0);
        ck_assert_uint_eq(pvmw_tls_put(p.caller, much, RECORD), RECORD);
        ck_assert_int_eq(arrived(p.fds[1]), 2);
        ck_assert_uint_eq(pvmw_tls_put(p.caller, much, 3 * RECORD), 3 * RECORD);
        ck_assert_int_eq(arrived(p.fds[1]), 5);
        ck_assert(pvmw_tls_flush(p.caller));
        ck_assert_int_eq(arrived(p.fds[1]), 6);
        for (int k = 0; k < 6; k++)
            ck_assert_int_eq(pvmw_tls_read(p.called, much, RECORD), RECORD);
    }
    part(&p);
    pvmw_tls_stop();
}
END_TEST

START_TEST(an_end_is_told_from_a_break)
{
    struct pair p;
    char none;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&p);
    pvmw_tls_end(p.caller, true);
    p.caller = NULL;
    ck_assert_int_eq(pvmw_tls_read(p.called, &none, 1), -1);
    part(&p);
    meet(&p);
    pvmw_tls_end(p.caller, false);
    p.caller = NULL;
    shutdown(p.fds[0], SHUT_RDWR);
    ck_assert_int_eq(pvmw_tls_read(p.called, &none, 1), -2);
    ck_assert_ptr_nonnull(pvmw_tls_error(p.called));
    part(&p);
    pvmw_tls_stop();
}
END_TEST

/* A changed byte is detected. */
START_TEST(damage_is_noticed)
{
    struct pair p;
    uint8_t record[200];
    char none;
    ck_assert_ptr_null(pvmw_tls_start());
    meet(&p);
    says(p.caller, "hello");
    ssize_t n = recv(p.fds[1], record, sizeof record, 0);
    ck_assert_int_gt(n, 0);
    record[n - 1] ^= 1;
    ck_assert_int_eq(send(p.fds[0], record, (size_t)n, 0), n);
    ck_assert_int_eq(pvmw_tls_read(p.called, &none, 1), -2);
    part(&p);
    pvmw_tls_stop();
}
END_TEST

UNIT_MAIN("tls", bytes_go_both_ways, what_was_not_flushed_never_leaves_by_another, a_full_socket_takes_the_rest_later,
          a_burst_begins_with_two_records, an_end_is_told_from_a_break, damage_is_noticed)
