/* values.h - the data types of PVM, each with values that are hard to convert, and its pack and unpack functions. */
#ifndef VALUES_H
#define VALUES_H

#include <stddef.h>

enum { VALUES_MANY = 70000 }; /* items of a large message: at 16 bytes each more than one frame */

struct type {
    const char *name;
    int number;         /* PVM_BYTE ... */
    const char *format; /* for pvm_packf() and pvm_unpackf(): the count and the array */
    size_t bytes;       /* of one item here */
    const void *some;   /* values, all different; those of 64-bit types fit into 32 bits */
    int count;          /* of them */
    void *many;         /* VALUES_MANY items: the values repeated */
    int (*pack)(void *data, int n, int stride);
    int (*unpack)(void *data, int n, int stride);
};

enum { TYPES = 11 };
extern struct type types[TYPES]; /* all but strings */

/* Strings, from empty to longer than a frame of some transports. */
enum { STRINGS = 4, STRING_MAX = 5000 };
extern char strings[STRINGS][STRING_MAX];

/* Fills `many` and `strings`. */
void values_init(void);

/* Longs and ulongs. Those in the middle need 64 bits, or the full width of a shorter long. */
enum { WIDE = 4, WIDE_FITTING = 1 }; /* values, and the number of them before the first wide one */
extern long wide_longs[WIDE];
extern unsigned long wide_ulongs[WIDE];

#endif
