/* test_tcp_impostor.c - direct TCP links: a process without the ticket gets no payload, on either side. */
#include <poll.h>
#include <sys/socket.h>
#include "tests/unit/tcp_pair.h"
#include "suite.h"

#define PAYLOAD_BYTES 1000

static bool has_ended(const struct impostor_process *p)
{
    return poll(&(struct pollfd){.fd = p->result, .events = POLLIN}, 1, 0) == 1;
}

static void set_up(void)
{
    setenv("PVM_TCP_TLS", "1", 1);
    setup();
    ck_assert_ptr_null(pvmw_tls_start()); /* for the impostor's recordings */
    offer();
}

/* The joining task is given an impostor's address. */
START_TEST(an_impostor_that_is_called)
{
    struct impostor i = called_as(_i);
    uint8_t hello[PVMT_TCP_HELLO_BYTES], welcome[PVMT_TCP_WELCOME_BYTES];
    uint16_t port = 0;
    set_up();
    struct pvmt_tcp_offer o = read_offer();
    int listening = listener("127.0.0.1", &port);
    o.addresses[0] = address("127.0.0.1", port);
    o.count = 1;
    i.key = o.ticket;
    pvmt_tcp_welcome_encode(&o.ticket, true, welcome);
    i.greeting = welcome;
    i.greeting_bytes = sizeof welcome;
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    ck_assert_int_eq(send_frame(&joining, 0, PAYLOAD_BYTES), 0);
    DRIVE_UNTIL(poll(&(struct pollfd){.fd = listening, .events = POLLIN}, 1, 0) == 1);
    int fd = accept(listening, NULL, NULL);
    DRIVE_UNTIL(recv(fd, hello, sizeof hello, MSG_PEEK | MSG_DONTWAIT) == sizeof hello);
    ck_assert_int_eq(recv(fd, hello, sizeof hello, 0), sizeof hello);
    struct impostor_process p = impostor_start(&i, fd, false);
    DRIVE_UNTIL(joining.down == 1 || has_ended(&p));
    ck_assert_uint_eq(impostor_payload(&p), 0);
    DRIVE_UNTIL(joining.down == 1);
    ck_assert_int_eq(joining.reason, PVMC_EDENIED);
    printf("%s is called, proof %d: %s\n", impostor_names[i.kind], i.proof, unit_log.line);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "no direct TCP link"));
    if (i.proof != RELAYED_PROOF)
        ck_assert_ptr_nonnull(strstr(unit_log.line, "the called side does not have the key"));
    close(listening);
    teardown();
    pvmw_tls_stop();
}
END_TEST

/* An impostor that has read an offer's id from the network joins first; then the right task joins. */
START_TEST(an_impostor_that_calls)
{
    struct impostor i = {.kind = _i};
    uint8_t hello[PVMT_TCP_HELLO_BYTES];
    set_up();
    struct pvmt_tcp_offer o = read_offer();
    i.key = o.ticket;
    pvmt_tcp_hello_encode(&o.ticket, true, hello);
    int fd = stranger();
    ck_assert_int_eq(send(fd, hello, sizeof hello, 0), sizeof hello);
    struct impostor_process p = impostor_start(&i, fd, true);
    DRIVE_UNTIL(has_ended(&p));
    ck_assert_uint_eq(impostor_payload(&p), 0);
    ck_assert_int_eq(offering.ready, 0);
    DRIVE_UNTIL(strstr(unit_log.line, "direct TCP link refused"));
    printf("%s calls: %s\n", impostor_names[i.kind], unit_log.line);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    exchange(3, PAYLOAD_BYTES);
    teardown();
    pvmw_tls_stop();
}
END_TEST

int main(void)
{
    const struct impostor_test tests[] = {{an_impostor_that_is_called, IMPOSTORS_THAT_ARE_CALLED},
                                          {an_impostor_that_calls, IMPOSTORS_THAT_CALL},

                                          {NULL, 0}};
    return impostor_suite("impostor.tcp", tests);
}
