/* fuzz.h - common parts of fuzz targets: a property that must hold, and a cursor over the input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Stops the fuzzer like a crash. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

struct fuzz_input {
    const uint8_t *data;
    size_t left;
};

/* The next byte of the input; 0 when it has ended. */
static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->data++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
