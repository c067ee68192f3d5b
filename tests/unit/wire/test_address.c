/* test_address.c - addresses: conversion from and to text, kinds, lists. */
#include "wire/address.h"
#include <arpa/inet.h>
#include "core/error.h"
#include "wire/interfaces.h"
#include "tests/unit/unit.h"

static union pvmw_address a;
static struct pvmw_addresses list;

START_TEST(texts_come_through)
{
    char ip[PVMW_ADDRESS_TEXT], text[PVMW_ADDRESS_TEXT];
    ck_assert_int_eq(pvmw_address_parse("10.1.2.3", 4000, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "10.1.2.3:4000");
    ck_assert_uint_eq(pvmw_address_port(&a), 4000);
    ck_assert_int_eq(pvmw_address_parse("fd00:0::1", 65535, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "[fd00::1]:65535");
    pvmw_address_ip(&a, ip, sizeof ip);
    ck_assert_str_eq(ip, "fd00::1");
    ck_assert_int_eq(pvmw_address_parse("10.1.2.3", 0, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "10.1.2.3");
    ck_assert_int_eq(pvmw_address_parse("fd00::1%7", 9, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "[fd00::1%7]:9");
    ck_assert_int_eq(pvmw_address_parse("fe80::1%lo", 0, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "fe80::1%lo");
    ck_assert_int_eq(pvmw_address_parse("10.1.2.3 x", 1, &a), PVMC_EFORMAT);
    ck_assert_int_eq(pvmw_address_parse("fe80::1%", 1, &a), PVMC_EFORMAT);
    ck_assert_int_eq(pvmw_address_parse("fe80::1%nosuchif", 1, &a), PVMC_EFORMAT);
    ck_assert_int_eq(pvmw_address_parse("localhost", 1, &a), PVMC_EFORMAT);
    ck_assert_int_eq(pvmw_address_parse("", 1, &a), PVMC_EFORMAT);
}
END_TEST

START_TEST(ipv4_in_ipv6_is_ipv4)
{
    char text[PVMW_ADDRESS_TEXT];
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = htons(7)};
    inet_pton(AF_INET6, "::ffff:10.0.0.9", &mapped.sin6_addr);
    ck_assert_int_eq(pvmw_address_from((struct sockaddr *)&mapped, &a), 0);
    ck_assert_str_eq(pvmw_address_text(&a, text), "10.0.0.9:7");
}
END_TEST

static bool loopback(const char *ip)
{
    ck_assert_int_eq(pvmw_address_parse(ip, 0, &a), 0);
    return pvmw_address_is_loopback(&a);
}

static bool link_local(const char *ip)
{
    ck_assert_int_eq(pvmw_address_parse(ip, 0, &a), 0);
    return pvmw_address_is_link_local(&a);
}

START_TEST(kinds_are_known)
{
    ck_assert(loopback("127.0.0.1") && loopback("127.0.1.1") && loopback("127.255.0.2") && loopback("::1"));
    ck_assert(!loopback("128.0.0.1") && !loopback("10.0.0.1") && !loopback("fd00::1"));
    ck_assert(link_local("169.254.1.1") && link_local("fe80::1"));
    ck_assert(!link_local("169.253.1.1") && !link_local("fd00::1"));
    ck_assert(pvmw_ip_is_loopback("127.0.0.5") && !pvmw_ip_is_loopback("") && !pvmw_ip_is_loopback("hostb"));
}
END_TEST

static bool same(const char *x, const char *y, unsigned prefix)
{
    union pvmw_address b;
    ck_assert_int_eq(pvmw_address_parse(x, 1, &a), 0);
    ck_assert_int_eq(pvmw_address_parse(y, 2, &b), 0);
    return prefix ? pvmw_address_shares(&a, &b, prefix) : pvmw_address_same(&a, &b);
}

START_TEST(prefixes_are_compared)
{
    ck_assert(same("10.1.2.3", "10.1.2.3", 0) && !same("10.1.2.3", "10.1.2.2", 0));
    ck_assert(same("fd00::1", "fd00::1", 0) && !same("fd00::1", "10.1.2.3", 0));
    ck_assert(same("10.1.2.3", "10.1.3.255", 23) && !same("10.1.2.3", "10.1.4.0", 23));
    ck_assert(same("fd00::1", "fd12::1", 8) && !same("fd00::1", "10.1.2.3", 8));
}
END_TEST

START_TEST(interfaces_are_listed)
{
    struct pvmw_interface own[PVMW_INTERFACES_MAX];
    ck_assert_int_gt(pvmw_interfaces("", own), 0);
    ck_assert_int_eq(pvmw_interfaces("nosuchif,127.0.0.1", own), 1);
    ck_assert_str_eq(own[0].name, "lo");
    ck_assert_uint_eq(own[0].prefix, 8);
    ck_assert_int_eq(pvmw_address_parse("127.9.9.9", 1, &a), 0);
    ck_assert(pvmw_interface_reaches(&own[0], &a));
    ck_assert_int_eq(pvmw_interfaces("nosuchif", own), PVMC_ENOTFOUND);
}
END_TEST

START_TEST(lists_come_through_without_doubles)
{
    char text[200];
    ck_assert_int_eq(pvmw_addresses_parse("10.0.0.1:5,[fd00::1]:5,10.0.0.1:5,10.0.0.1:6", &list), 0);
    ck_assert_uint_eq(list.count, 3);
    pvmw_addresses_format(&list, text, sizeof text);
    ck_assert_str_eq(text, "10.0.0.1:5,[fd00::1]:5,10.0.0.1:6");
    pvmw_addresses_format(&list, text, 12);
    ck_assert_str_eq(text, "10.0.0.1:5");
}
END_TEST

START_TEST(malformed_lists_are_refused)
{
    static const char *const texts[] = {
        "",          ",", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "x:5", "10.0.0.1:5,,10.0.0.2:5",
        "[fd00::1:5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(pvmw_addresses_parse(texts[i], &list) == PVMC_EFORMAT, "%s", texts[i]);
}
END_TEST

START_TEST(lists_are_bounded)
{
    list.count = 0;
    for (uint16_t port = 1; port < 100; port++) {
        pvmw_address_parse("10.0.0.1", port, &a);
        pvmw_addresses_add(&list, &a);
    }
    ck_assert_uint_eq(list.count, PVMW_ADDRESS_MAX);
    pvmw_addresses_add_own(&list, 1);
    ck_assert_uint_eq(list.count, PVMW_ADDRESS_MAX);
}
END_TEST

UNIT_MAIN("address", texts_come_through, ipv4_in_ipv6_is_ipv4, kinds_are_known, prefixes_are_compared,
          interfaces_are_listed, lists_come_through_without_doubles, malformed_lists_are_refused, lists_are_bounded)
