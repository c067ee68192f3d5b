/* test_serial.c - numbers that pass the largest on the wire. */
#include "unit.h"
#include "atm/src/assured/serial.h"

START_TEST(nearest)
{
    const int64_t turn = INT64_C(1) << 24;
    static const struct {
        int64_t near;
        uint32_t wire;
        int64_t number;
    } rows[] = {{0, 0, 0},
                {0, 0xffffff, -1},
                {5, 3, 3},
                {INT64_C(0xfffffe), 1, INT64_C(0x1000001)},
                {INT64_C(0x1000001), 0xfffffe, INT64_C(0xfffffe)},
                {INT64_C(0x5000000), 0x7fffff, INT64_C(0x57fffff)},
                {INT64_C(0x5000000), 0x800000, INT64_C(0x4800000)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(pvma_serial_near(rows[i].near, rows[i].wire, 24), rows[i].number);
        ck_assert_int_eq(pvma_serial_near(rows[i].near + turn, rows[i].wire, 24), rows[i].number + turn);
    }
    ck_assert_int_eq(pvma_serial_near(INT64_C(0x1ffffffff), 1, 32), INT64_C(0x200000001));
    ck_assert_int_eq(pvma_serial_near(INT64_C(0x200000001), 0xffffffff, 32), INT64_C(0x1ffffffff));
}
END_TEST

START_TEST(there_and_back)
{
    for (int64_t number = 0; number < INT64_C(1) << 40; number = 3 * number + 7)
        for (int64_t off = -8000000; off <= 8000000; off += 1999999)
            ck_assert_int_eq(pvma_serial_near(number + off, pvma_serial_wire(number, 24), 24), number);
}
END_TEST

UNIT_MAIN("serial", nearest, there_and_back)
