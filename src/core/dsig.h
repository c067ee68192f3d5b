/*
 * dsig.h - data signature: byte order and sizes of a machine's C types in 32 bits.
 *
 * The layout is the one that can be read off the values PVM prints (x86-64 Linux: 0x00408c41):
 *   bits 0-1 log2 of sizeof(short), 2-4 its byte order; 5-6 int, 7-9; 10-11 long, 12-14; 15-17 float format, 18-20;
 *   21-23 double format, 24-26. Byte order 0 is little-endian, 6 big-endian. Float format 1 is IEEE single, 2 double.
 */
#ifndef PVMI_DSIG_H
#define PVMI_DSIG_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t pvmi_dsig;

/* Signature of this machine. */
pvmi_dsig pvmi_dsig_own(void);

/* Makes a signature: used by tests and by tables of other machines. Sizes in bytes. */
pvmi_dsig pvmi_dsig_make(bool big_endian, unsigned short_bytes, unsigned int_bytes, unsigned long_bytes);

/* Whether we can convert from it: known byte orders, sizes 1..8, IEEE floats. */
bool pvmi_dsig_valid(pvmi_dsig sig);

bool pvmi_dsig_big_endian(pvmi_dsig sig);
unsigned pvmi_dsig_short_bytes(pvmi_dsig sig);
unsigned pvmi_dsig_int_bytes(pvmi_dsig sig);
unsigned pvmi_dsig_long_bytes(pvmi_dsig sig);

/* PVM's architecture name of this machine, such as "LINUX64". */
const char *pvmi_arch_own(void);

#endif
