/* test_tcp_address.c - direct TCP links: unresponsive addresses, settings, and the bytes of offers. */
#include "tests/unit/tcp_pair.h"
#include <netinet/tcp.h>
#include <poll.h>

/* ---- unresponsive addresses ---- */

/* Puts an address before those of the offer. */
static void put_first(const char *text, uint16_t port)
{
    struct pvmt_tcp_offer o = read_offer();
    ck_assert_uint_lt(o.count, PVMT_TCP_OFFERED_MAX);
    memmove(o.addresses + 1, o.addresses, o.count * sizeof *o.addresses);
    o.addresses[0] = address(text, port);
    o.count++;
    write_offer(&o);
}

START_TEST(refused_addresses_are_passed_over)
{
    setup();
    offer();
    put_first("127.0.0.1", closed_port());
    int64_t start_us = pvmc_clock_us();
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    ck_assert_int_lt(pvmc_clock_us() - start_us, 90000); /* at once, not when the next address is due */
    exchange(3, 100);
    teardown();
}
END_TEST

/* Another program listens there and stays silent: as slow as a firewall that drops packets. */
START_TEST(silent_addresses_delay_little)
{
    uint16_t port = 0;
    int silent = listener("127.0.0.1", &port);
    setup();
    offer();
    put_first("127.0.0.1", port);
    int64_t start_us = pvmc_clock_us();
    ck_assert_int_eq(join(), 0);
    struct pollfd p = {.fd = ops->fd(joining.transport), .events = POLLIN};
    while (!offering.ready) { /* the joining side sleeps: the timer must wake it */
        ck_assert_int_ge(ops->progress(offering.transport), 0);
        if (!ops->progress(joining.transport) && !ops->arm(joining.transport))
            poll(&p, 1, 5);
        ck_assert_int_lt(pvmc_clock_us() - start_us, 5000000);
    }
    ck_assert_int_ge(pvmc_clock_us() - start_us, 90000);
    exchange(3, 100);
    close(silent);
    teardown();
}
END_TEST

START_TEST(giving_up_names_what_was_tried)
{
    uint16_t port = 0;
    char text[32];
    int silent = listener("127.0.0.1", &port);
    setup();
    offer();
    keep_only("127.0.0.1");
    struct pvmt_tcp_offer o = read_offer();
    pvmw_address_set_port(&o.addresses[0], port);
    write_offer(&o);
    ck_assert_int_eq(join(), 0);
    drive_for(20000);
    drop(&joining); /* the layer above has given up */
    snprintf(text, sizeof text, "127.0.0.1:%u (no welcome)", port);
    ck_assert_ptr_nonnull(strstr(unit_log.line, text));
    ck_assert_int_eq(unit_log.level, PVMC_LOG_INFO);
    ck_assert_int_eq(join(), 0);
    drop(&joining);
    ck_assert_int_eq(unit_log.level, PVMC_LOG_INFO); /* said once */
    close(silent);
    teardown();
}
END_TEST

START_TEST(other_hosts_never_try_loopback)
{
    setup();
    offer();
    struct pvmt_tcp_offer o = read_offer();
    o.host[0] ^= 1;
    write_offer(&o);
    ck_assert_int_eq(join(), PVMC_EUNREACHABLE); /* nor this host's other addresses, which are ours, too */
    ck_assert_ptr_null(joining.ep);
    teardown();
}
END_TEST

START_TEST(candidates_are_in_order)
{
    uint8_t here[PVMT_TCP_HOST_BYTES];
    struct pvmw_interface locals[PVMW_INTERFACES_MAX];
    struct pvmt_tcp_candidates c;
    unit_log_start();
    int count = pvmw_interfaces("", locals);
    ck_assert_int_gt(count, 0);
    pvmw_host_identity(here);
    struct pvmt_tcp_offer o = {.count = 4};
    memcpy(o.host, here, sizeof here);
    o.addresses[0] = address("198.51.100.7", 1);
    o.addresses[1] = address("127.0.0.9", 2);
    o.addresses[2] = address("203.0.113.4", 3);
    o.addresses[3] = address("127.0.0.1", 4);
    union pvmw_address remembered = address("203.0.113.4", 99);
    ck_assert_int_eq(pvmt_tcp_candidates_of(&o, here, "", &remembered, &c), 0);
    const uint16_t ports[] = {3, 2, 4, 1};
    ck_assert_uint_eq(c.count, 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(pvmw_address_port(&c.list[i].address), ports[i]);
    ck_assert_int_eq(pvmt_tcp_candidates_of(&o, here, "127.0.0.1", NULL, &c), 0);
    ck_assert_uint_eq(c.count, 2); /* those that can be reached from there */
    ck_assert(c.list[0].bound);
    ck_assert_int_eq(pvmt_tcp_candidates_of(&o, here, "nosuchif", NULL, &c), PVMC_ENOTFOUND);
}
END_TEST

START_TEST(what_worked_is_remembered)
{
    setup();
    offer();
    put_first("127.0.0.9", closed_port());
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    const struct tcp_transport *t = (struct tcp_transport *)joining.transport;
    union pvmw_address worked = address("127.0.0.1", 0);
    ck_assert(pvmw_address_same(&t->remembered[0].address, &worked));
    drop(&offering);
    drop(&joining);
    uint16_t port = 0;
    int other = listener("127.0.0.9", &port);
    offer();
    put_first("127.0.0.9", port);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    struct pollfd p = {.fd = other, .events = POLLIN};
    ck_assert_msg(poll(&p, 1, 0) == 0, "the other address was tried first");
    close(other);
    teardown();
}
END_TEST

/* ---- settings ---- */

START_TEST(ports_are_of_the_range)
{
    uint16_t port = closed_port();
    char range[32], why[512];
    snprintf(range, sizeof range, "%u-%u", port, port + 1);
    setenv("PVM_TCP_PORTS", range, 1);
    setup();
    offer();
    struct pvmt_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++) {
        ck_assert_uint_ge(pvmw_address_port(&o.addresses[i]), port);
        ck_assert_uint_le(pvmw_address_port(&o.addresses[i]), port + 1);
    }
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    teardown();
    const char *bad[] = {"x", "0", "5-4", "1-70000", "4000-", "4000-4100x"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("PVM_TCP_PORTS", bad[i], 1);
        ck_assert_int_eq(ops->available(why, sizeof why), PVMC_EPARAM);
        ck_assert_ptr_nonnull(strstr(why, bad[i]));
        struct pvmt_transport *t;
        ck_assert_int_eq(ops->open(NULL, &callbacks, NULL, &t), PVMC_EPARAM);
    }
}
END_TEST

START_TEST(exhausted_ranges_are_said)
{
    uint16_t port = 0;
    char text[32];
    int v4 = listener("0.0.0.0", &port), v6 = listener("::", &port), fd;
    ck_assert_int_ge(v4, 0);
    snprintf(text, sizeof text, "%u", port);
    setenv("PVM_TCP_PORTS", text, 1);
    setup();
    unsigned before = descriptors();
    ck_assert_int_eq(ops->offer(offering.transport, &offering, blob, &fd, &offering.ep), PVMC_ELIMIT);
    snprintf(text, sizeof text, "PVM_TCP_PORTS=%u-%u", port, port);
    ck_assert_ptr_nonnull(strstr(unit_log.line, text));
    ck_assert_uint_eq(descriptors(), before);
    close(v4);
    close(v6);
    come_together(); /* when one is free again */
    teardown();
}
END_TEST

START_TEST(interfaces_can_be_chosen)
{
    char why[1024];
    setenv("PVM_TCP_IF", "lo", 1);
    setup();
    offer();
    struct pvmt_tcp_offer o = read_offer();
    for (unsigned i = 0; i < o.count; i++)
        ck_assert(pvmw_address_is_loopback(&o.addresses[i]));
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    drop(&offering);
    drop(&joining);
    teardown();
    setenv("PVM_TCP_IF", "nosuchif,127.0.0.1", 1);
    setup();
    offer();
    ck_assert_uint_eq(read_offer().count, 1);
    ck_assert_int_eq(join(), 0);
    DRIVE_UNTIL(offering.ready == 1);
    teardown();
    setenv("PVM_TCP_IF", "nosuchif", 1);
    ck_assert_int_eq(ops->available(why, sizeof why), PVMC_ENOTFOUND);
    ck_assert_ptr_nonnull(strstr(why, "PVM_TCP_IF=nosuchif"));
    ck_assert_ptr_nonnull(strstr(why, "lo 127.0.0.1"));
}
END_TEST

START_TEST(unknown_congestion_controls_are_said)
{
    char why[256];
    setenv("PVM_TCP_CONGESTION", "nosuchcontrol", 1);
    ck_assert_int_eq(pvmt_transport_find("tcp")->available(why, sizeof why), PVMC_EPARAM);
    ck_assert_ptr_nonnull(strstr(why, "PVM_TCP_CONGESTION=nosuchcontrol"));
}
END_TEST

START_TEST(sockets_are_as_set)
{
    setenv("PVM_TCP_SNDBUF", "32k", 1);
    setenv("PVM_TCP_RCVBUF", "32k", 1);
    setenv("PVM_TCP_NODELAY", "0", 1);
    setenv("PVM_TCP_CONGESTION", "system", 1);
    char others[16], own[16];
    int fresh = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t name_bytes = sizeof others;
    ck_assert_int_eq(getsockopt(fresh, IPPROTO_TCP, TCP_CONGESTION, others, &name_bytes), 0);
    close(fresh);
    setup();
    come_together();
    exchange(20, 100000);
    struct side *sides[] = {&offering, &joining};
    for (unsigned i = 0; i < 2; i++) {
        int fd = ((struct tcp_link *)sides[i]->ep)->watch.fd, value;
        socklen_t size = sizeof value;
        ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &size), 0);
        ck_assert_int_eq(value, 65536); /* Linux doubles it */
        ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &size), 0);
        ck_assert_int_eq(value, 65536);
        ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
        ck_assert_int_eq(value, 0);
        name_bytes = sizeof own;
        ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, own, &name_bytes), 0);
        ck_assert_str_eq(own, others);
    }
    teardown();
}
END_TEST

/* ---- bytes ---- */

START_TEST(malformed_offers_are_refused)
{
    setup();
    offer();
    uint8_t whole[PVMT_OFFER_MAX];
    int whole_bytes = blob_bytes;
    memcpy(whole, blob, sizeof whole);
    for (blob_bytes = 0; blob_bytes < whole_bytes; blob_bytes++)
        ck_assert_int_eq(join(), PVMC_EFORMAT);
    blob_bytes = whole_bytes + 1;
    ck_assert_int_eq(join(), PVMC_EFORMAT);
    blob_bytes = whole_bytes;
    const struct {
        unsigned at;
        uint8_t value;
        int rc;
    } wrong[] = {{0, 1, PVMC_EVERSION}, {1, 3, PVMC_EFORMAT},  {2, 0, PVMC_EFORMAT},
                 {2, 17, PVMC_EFORMAT}, {76, 5, PVMC_EFORMAT}, {77, 2, PVMC_EFORMAT}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(blob, whole, sizeof whole);
        blob[wrong[i].at] = wrong[i].value;
        ck_assert_int_eq(join(), wrong[i].rc);
    }
    teardown();
}
END_TEST

START_TEST(offers_read_as_written)
{
    struct pvmt_tcp_offer o = {.mode = PVMT_TCP_TLS_AUTO, .count = PVMT_TCP_OFFERED_MAX}, back;
    for (unsigned i = 0; i < o.count; i++)
        o.addresses[i] = address(i % 2 ? "10.1.2.3" : "2001:db8::7", (uint16_t)(4000 + i));
    o.addresses[2].v6.sin6_scope_id = 7;
    o.trusted[3] = true;
    ck_assert_int_eq(pvmt_tcp_ticket_draw(&o.ticket), 0);
    write_offer(&o);
    ck_assert_int_eq(pvmt_tcp_offer_decode(blob, (size_t)blob_bytes, &back), 0);
    ck_assert_int_eq(memcmp(&o.ticket, &back.ticket, sizeof o.ticket), 0);
    ck_assert_uint_eq(back.count, o.count);
    ck_assert_int_eq(back.mode, PVMT_TCP_TLS_AUTO);
    ck_assert(back.trusted[3] && !back.trusted[2]);
    char a[PVMW_ADDRESS_TEXT], b[PVMW_ADDRESS_TEXT];
    for (unsigned i = 0; i < o.count; i++)
        ck_assert_str_eq(pvmw_address_text(&o.addresses[i], a), pvmw_address_text(&back.addresses[i], b));
    ck_assert_str_eq(pvmw_address_text(&back.addresses[2], a), "[2001:db8::7%7]:4002");
}
END_TEST

/* ---- which links are encrypted ---- */

START_TEST(links_between_hosts_are_encrypted)
{
    enum { OFF = PVMT_TCP_TLS_OFF, ALWAYS = PVMT_TCP_TLS_ALWAYS, AUTO = PVMT_TCP_TLS_AUTO };
    static const struct {
        int a, b;
        bool apart, open; /* the default between hosts, and within one host or on a network that both trust */
    } rows[] = {{AUTO, AUTO, true, false}, {OFF, OFF, false, false},   {ALWAYS, ALWAYS, true, true},
                {AUTO, OFF, true, false},  {AUTO, ALWAYS, true, true}, {OFF, ALWAYS, true, true}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(pvmt_tcp_must_encrypt(rows[i].a, rows[i].b, false), rows[i].apart);
        ck_assert_int_eq(pvmt_tcp_must_encrypt(rows[i].b, rows[i].a, false), rows[i].apart);
        ck_assert_int_eq(pvmt_tcp_must_encrypt(rows[i].a, rows[i].b, true), rows[i].open);
        ck_assert_int_eq(pvmt_tcp_must_encrypt(rows[i].b, rows[i].a, true), rows[i].open);
    }
}
END_TEST

static bool trusts(const char *networks, const char *text)
{
    struct pvmt_tcp_secrecy s;
    char why[256];
    union pvmw_address a = address(text, 0);
    setenv("PVM_TCP_PLAIN", networks, 1);
    ck_assert_int_eq(pvmt_tcp_secrecy_read(&s, why, sizeof why), 0);
    return pvmt_tcp_secrecy_trusts(&s, &a);
}

START_TEST(trusted_networks_are_those_named)
{
    ck_assert(!trusts("", "10.1.2.3"));
    ck_assert(trusts("10.1.0.0/16", "10.1.2.3"));
    ck_assert(!trusts("10.1.0.0/16", "10.2.2.3"));
    ck_assert(trusts("192.0.2.7, 10.1.2.0/23", "10.1.3.255"));
    ck_assert(!trusts("192.0.2.7, 10.1.2.0/23", "10.1.4.0"));
    ck_assert(trusts("192.0.2.7", "192.0.2.7"));
    ck_assert(!trusts("192.0.2.7", "192.0.2.6"));
    ck_assert(trusts("fd00::/8", "fd12::1"));
    ck_assert(!trusts("fd00::/8", "10.1.2.3"));
    ck_assert(!trusts("0.0.0.0/0", "fd12::1"));
    ck_assert(trusts("0.0.0.0/0", "203.0.113.1"));
}
END_TEST

START_TEST(wrong_settings_are_told)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {{"PVM_TCP_TLS", "maybe"},         {"PVM_TCP_PLAIN", "10.1.0.0/33"}, {"PVM_TCP_PLAIN", "10.1.0.0/"},
                 {"PVM_TCP_PLAIN", "10.1.0.0/-1"}, {"PVM_TCP_PLAIN", "10.1.0/16"},   {"PVM_TCP_PLAIN", "eth0"},
                 {"PVM_TCP_PLAIN", "fd00::/129"},  {"PVM_TCP_PLAIN", "10.1.0.0/16x"}};
    struct pvmt_tcp_secrecy s;
    char why[256];
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(wrong[i].name, wrong[i].text, 1);
        ck_assert_int_eq(pvmt_tcp_secrecy_read(&s, why, sizeof why), PVMC_EPARAM);
        ck_assert_ptr_nonnull(strstr(why, wrong[i].text));
        unsetenv(wrong[i].name);
    }
}
END_TEST

UNIT_MAIN("tcp_address", refused_addresses_are_passed_over, silent_addresses_delay_little,
          giving_up_names_what_was_tried, other_hosts_never_try_loopback, candidates_are_in_order,
          what_worked_is_remembered, ports_are_of_the_range, exhausted_ranges_are_said, interfaces_can_be_chosen,
          unknown_congestion_controls_are_said, sockets_are_as_set, malformed_offers_are_refused,
          offers_read_as_written, links_between_hosts_are_encrypted, trusted_networks_are_those_named,
          wrong_settings_are_told)
