/* crc.c - checksums by table lookup. The tables are built at the first use. */
#include "crc.h"
#include <stdbool.h>

static uint8_t hec_table[256];
static uint16_t crc10_table[256];
static uint16_t crc16_table[2][256]; /* [k]: of an octet with k octets after it */
static uint32_t crc32_table[4][256]; /* [k]: of an octet with k octets after it */

static void make_tables(void)
{
    static bool made;
    if (made)
        return;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t hec = (uint8_t)i;
        uint16_t ten = (uint16_t)(i << 2), sixteen = (uint16_t)(i << 8);
        uint32_t word = (uint32_t)i << 24;
        for (int bit = 0; bit < 8; bit++) {
            hec = (uint8_t)(hec << 1 ^ (hec & 0x80 ? 0x07 : 0));
            ten = (uint16_t)((ten << 1 ^ (ten & 0x200 ? 0x233 : 0)) & 0x3ff);
            sixteen = (uint16_t)(sixteen << 1 ^ (sixteen & 0x8000 ? 0x1021 : 0));
            word = word << 1 ^ (word & UINT32_C(0x80000000) ? UINT32_C(0x04c11db7) : 0);
        }
        hec_table[i] = hec;
        crc10_table[i] = ten;
        crc16_table[0][i] = sixteen;
        crc32_table[0][i] = word;
    }
    for (unsigned k = 1; k < 4; k++)
        for (unsigned i = 0; i < 256; i++)
            crc32_table[k][i] = crc32_table[k - 1][i] << 8 ^ crc32_table[0][crc32_table[k - 1][i] >> 24];
    for (unsigned i = 0; i < 256; i++)
        crc16_table[1][i] = (uint16_t)(crc16_table[0][i] << 8 ^ crc16_table[0][crc16_table[0][i] >> 8]);
    made = true;
}

uint8_t pvma_crc_hec(const uint8_t header[4])
{
    make_tables();
    uint8_t crc = 0;
    for (int i = 0; i < 4; i++)
        crc = hec_table[crc ^ header[i]];
    return crc ^ 0x55;
}

uint16_t pvma_crc10(const uint8_t *data, size_t bits)
{
    make_tables();
    uint16_t crc = 0;
    for (size_t i = 0; i < bits / 8; i++)
        crc = (uint16_t)((crc << 8 & 0x3ff) ^ crc10_table[(crc >> 2 ^ data[i]) & 0xff]);
    for (size_t i = bits / 8 * 8; i < bits; i++) {
        unsigned bit = data[i / 8] >> (7 - i % 8) & 1;
        crc = (uint16_t)((crc << 1 & 0x3ff) ^ ((crc >> 9 ^ bit) & 1 ? 0x233 : 0));
    }
    return crc;
}

/* Processes two octets per iteration. */
uint16_t pvma_crc16(const uint8_t *data, size_t length)
{
    make_tables();
    uint16_t crc = 0xffff;
    for (; length >= 2; data += 2, length -= 2)
        crc = crc16_table[1][crc >> 8 ^ data[0]] ^ crc16_table[0][(crc & 0xff) ^ data[1]];
    if (length)
        crc = (uint16_t)(crc << 8 ^ crc16_table[0][crc >> 8 ^ *data]);
    return crc;
}

/* Processes four octets per iteration. */
uint32_t pvma_crc32(uint32_t crc, const uint8_t *data, size_t length)
{
    make_tables();
    for (; length >= 4; data += 4, length -= 4) {
        crc ^= (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
        crc = crc32_table[3][crc >> 24] ^ crc32_table[2][crc >> 16 & 0xff] ^ crc32_table[1][crc >> 8 & 0xff] ^
              crc32_table[0][crc & 0xff];
    }
    for (; length; data++, length--)
        crc = crc << 8 ^ crc32_table[0][crc >> 24 ^ *data];
    return crc;
}
