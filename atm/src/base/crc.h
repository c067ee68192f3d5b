/*
 * crc.h - checksums of ATM: I.432's HEC of a header, I.363's CRC-10 of a cell and CRC-32 of an AAL5 PDU; and the
 * CRC-16 of PC-AAL's cells.
 */
#ifndef PVMA_CRC_H
#define PVMA_CRC_H

#include <stddef.h>
#include <stdint.h>

/* HEC of four header octets: the remainder by x^8+x^2+x+1, plus 0x55. */
uint8_t pvma_crc_hec(const uint8_t header[4]);

/* CRC-10 of the first `bits` bits, x^10+x^9+x^5+x^4+x+1. In AAL3/4 it covers the 374 bits before it. */
uint16_t pvma_crc10(const uint8_t *data, size_t bits);

/* CRC-16 of ITU-T, x^16+x^12+x^5+1, from 0xffff. The thesis does not say which one PC-AAL has; this is our choice. */
uint16_t pvma_crc16(const uint8_t *data, size_t length);

/* CRC-32 of AAL5. Continues from `crc`, initially PVMA_CRC32_START; the complement of the result is sent. */
#define PVMA_CRC32_START UINT32_C(0xffffffff)
uint32_t pvma_crc32(uint32_t crc, const uint8_t *data, size_t length);

#endif
