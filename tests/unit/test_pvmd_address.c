/* test_pvmd_address.c - addresses: texts to and fro, kinds, lists. */
#include "../../src/pvmd/address.h"
#include <arpa/inet.h>
#include "../../src/core/error.h"
#include "unit.h"

static struct pvmd_address a;
static struct pvmd_addresses list;

START_TEST(texts_come_through)
{
    char ip[PVMD_ADDRESS_TEXT];
    ck_assert_int_eq(pvmd_address_parse("10.1.2.3", 4000, &a), 0);
    ck_assert_str_eq(pvmd_address_text(&a), "10.1.2.3:4000");
    ck_assert_uint_eq(pvmd_address_port(&a), 4000);
    ck_assert_int_eq(pvmd_address_parse("fd00:0::1", 65535, &a), 0);
    ck_assert_str_eq(pvmd_address_text(&a), "[fd00::1]:65535");
    pvmd_address_ip(&a, ip, sizeof ip);
    ck_assert_str_eq(ip, "fd00::1");
    ck_assert_int_eq(pvmd_address_parse("localhost", 1, &a), PVMI_EFORMAT);
    ck_assert_int_eq(pvmd_address_parse("", 1, &a), PVMI_EFORMAT);
}
END_TEST

START_TEST(ipv4_in_ipv6_is_ipv4)
{
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = htons(7)};
    inet_pton(AF_INET6, "::ffff:10.0.0.9", &mapped.sin6_addr);
    ck_assert_int_eq(pvmd_address_from((struct sockaddr *)&mapped, &a), 0);
    ck_assert_str_eq(pvmd_address_text(&a), "10.0.0.9:7");
}
END_TEST

static bool loopback(const char *ip)
{
    ck_assert_int_eq(pvmd_address_parse(ip, 0, &a), 0);
    return pvmd_address_is_loopback(&a);
}

static bool link_local(const char *ip)
{
    ck_assert_int_eq(pvmd_address_parse(ip, 0, &a), 0);
    return pvmd_address_is_link_local(&a);
}

START_TEST(kinds_are_known)
{
    ck_assert(loopback("127.0.0.1") && loopback("127.0.1.1") && loopback("127.255.0.2") && loopback("::1"));
    ck_assert(!loopback("128.0.0.1") && !loopback("10.0.0.1") && !loopback("fd00::1"));
    ck_assert(link_local("169.254.1.1") && link_local("fe80::1"));
    ck_assert(!link_local("169.253.1.1") && !link_local("fd00::1"));
    ck_assert(pvmd_ip_is_loopback("127.0.0.5") && !pvmd_ip_is_loopback("") && !pvmd_ip_is_loopback("hostb"));
}
END_TEST

START_TEST(lists_come_through_without_doubles)
{
    char text[200];
    ck_assert_int_eq(pvmd_addresses_parse("10.0.0.1:5,[fd00::1]:5,10.0.0.1:5,10.0.0.1:6", &list), 0);
    ck_assert_uint_eq(list.count, 3);
    pvmd_addresses_format(&list, text, sizeof text);
    ck_assert_str_eq(text, "10.0.0.1:5,[fd00::1]:5,10.0.0.1:6");
    pvmd_addresses_format(&list, text, 12);
    ck_assert_str_eq(text, "10.0.0.1:5");
}
END_TEST

START_TEST(malformed_lists_are_refused)
{
    static const char *const texts[] = {
        "",          ",", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "x:5", "10.0.0.1:5,,10.0.0.2:5",
        "[fd00::1:5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(pvmd_addresses_parse(texts[i], &list) == PVMI_EFORMAT, "%s", texts[i]);
}
END_TEST

START_TEST(lists_are_bounded)
{
    list.count = 0;
    for (uint16_t port = 1; port < 100; port++) {
        pvmd_address_parse("10.0.0.1", port, &a);
        pvmd_addresses_add(&list, &a);
    }
    ck_assert_uint_eq(list.count, PVMD_ADDRESS_MAX);
    pvmd_addresses_add_own(&list, 1);
    ck_assert_uint_eq(list.count, PVMD_ADDRESS_MAX);
}
END_TEST

UNIT_MAIN("pvmd_address", texts_come_through, ipv4_in_ipv6_is_ipv4, kinds_are_known, lists_come_through_without_doubles,
          malformed_lists_are_refused, lists_are_bounded)
