/* error.c - texts of error codes, and the mapping from internal to public codes. */
#include "error.h"
#include <stddef.h>

static const struct {
    int public_code;
    const char *text;
} internal_errors[] = {
#define X(name, public_code, text) {public_code, text},
    PVMC_ERRORS(X)
#undef X
};

static const char *const public_texts[PVMC_PUBLIC_ERROR_COUNT] = {
    [0] = "Error 0",      [1] = "Error 1", [9] = "Error 9", [11] = "Error 11", [13] = "Error 13",
#define X(code, text) [-(code)] = text,
    PVMC_PUBLIC_ERRORS(X)
#undef X
};

#define INTERNAL_ERROR_COUNT (int)(sizeof internal_errors / sizeof internal_errors[0])

/* Index into internal_errors, or -1. */
static int internal_index(int code)
{
    int index = code - (PVMC_ERROR_BASE + 1);
    return index >= 0 && index < INTERNAL_ERROR_COUNT ? index : -1;
}

const char *pvmc_error_text(int code)
{
    if (code <= 0 && code > -PVMC_PUBLIC_ERROR_COUNT)
        return public_texts[-code];
    int index = code < 0 ? internal_index(code) : -1;
    return index < 0 ? "Unknown Error" : internal_errors[index].text;
}

int pvmc_error_public(int code)
{
    int index = code < 0 ? internal_index(code) : -1;
    return index < 0 ? code : internal_errors[index].public_code;
}
