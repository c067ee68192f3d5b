/* test_dp_offer.c - the offers of dp links: their bytes, and what is refused. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "transports/dp/offer.h"
#include "tests/unit/unit.h"

static struct pvmt_dp_offer offer = {.ethertype = 0x88b5,
                                     .node = 3,
                                     .host = {1, 2, 3},
                                     .incarnation = 0x01020304,
                                     .count = 2,
                                     .places = {{.hardware = {2, 0, 0, 0, 0, 1}, .point = 77, .room = 1488},
                                                {.point = 78, .room = 16372, .loopback = true}}};

START_TEST(golden_bytes)
{
    static const uint8_t expected[] = {1, 2, 0xb5, 0x88, 3, 0, 0, 0, 4, 3, 2, 1, 1, 2, 3};
    static const uint8_t places[] = {2, 0, 0, 0, 0, 1, 77, 0, 0xd0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 78, 0, 0xf4, 0x3f, 1, 0};
    uint8_t blob[PVMT_OFFER_MAX];
    ck_assert_int_eq(pvmt_dp_offer_encode(&offer, blob), 12 + PVMW_HOST_IDENTITY_BYTES + 2 * 12);
    ck_assert_mem_eq(blob, expected, sizeof expected);
    ck_assert_mem_eq(blob + 12 + PVMW_HOST_IDENTITY_BYTES, places, sizeof places);
    struct pvmt_dp_offer back;
    ck_assert_int_eq(pvmt_dp_offer_decode(blob, 60, &back), 0);
    ck_assert_mem_eq(&back, &offer, sizeof back);
}
END_TEST

static int decode_with(size_t at, uint8_t byte)
{
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_dp_offer back;
    int length = pvmt_dp_offer_encode(&offer, blob);
    blob[at] = byte;
    return pvmt_dp_offer_decode(blob, (size_t)length, &back);
}

START_TEST(what_makes_no_sense_is_refused)
{
    uint8_t blob[PVMT_OFFER_MAX];
    struct pvmt_dp_offer back, nobody = offer;
    int length = pvmt_dp_offer_encode(&offer, blob);
    for (int n = 0; n < length; n++)
        ck_assert_int_eq(pvmt_dp_offer_decode(blob, (size_t)n, &back), PVMC_EFORMAT);
    ck_assert_int_eq(pvmt_dp_offer_decode(blob, (size_t)length + 1, &back), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(0, 2), PVMC_EVERSION);
    ck_assert_int_eq(decode_with(1, 0), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(1, PVMT_DP_PLACES_MAX + 1), PVMC_EFORMAT);
    ck_assert_int_eq(decode_with(4, 0), PVMC_EFORMAT);     /* node */
    ck_assert_int_eq(decode_with(36, 3), PVMC_EFORMAT);    /* a group's address */
    ck_assert_int_eq(decode_with(42, 0), PVMC_EFORMAT);    /* point */
    ck_assert_int_eq(decode_with(45, 0), PVMC_EFORMAT);    /* room */
    ck_assert_int_eq(decode_with(46, 0x80), PVMC_EFORMAT); /* flags */
    nobody.incarnation = 0;
    length = pvmt_dp_offer_encode(&nobody, blob);
    ck_assert_int_eq(pvmt_dp_offer_decode(blob, (size_t)length, &back), PVMC_EFORMAT);
}
END_TEST

UNIT_MAIN("dp_offer", golden_bytes, what_makes_no_sense_is_refused)
