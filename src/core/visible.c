/* visible.c - see visible.h. */
#include "visible.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The length of a character by its first byte; 0 if no character starts with it. */
static size_t promised_bytes(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* The second byte decides: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
static bool is_second(uint8_t first, uint8_t second)
{
    uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= least && second <= most;
}

static bool is_control(const uint8_t *at)
{
    return (*at < ' ' && *at != '\t') || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

size_t pvmc_visible_length(const char *text, size_t left)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t n = promised_bytes(*at);
    if (!n || n > left || (n > 1 && !is_second(*at, at[1])))
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return is_control(at) ? 0 : n;
}

size_t pvmc_visible_bytes(char *out, size_t size, const char *text, size_t length)
{
    size_t used = 0;
    while (length) {
        size_t n = pvmc_visible_length(text, length), taken = n ? n : 1;
        if (used + (n ? n : PVMC_VISIBLE_GROWTH) >= size)
            break;
        if (n)
            memcpy(out + used, text, n);
        else
            snprintf(out + used, size - used, "\\x%02x", (unsigned char)*text);
        used += n ? n : PVMC_VISIBLE_GROWTH;
        text += taken;
        length -= taken;
    }
    out[used] = '\0';
    return used;
}

const char *pvmc_visible_text(char *out, const char *text)
{
    pvmc_visible_bytes(out, PVMC_VISIBLE_BYTES, text ? text : "", text ? strlen(text) : 0);
    return out;
}

void pvmc_visible_print(FILE *to, const char *lines)
{
    char shown[PVMC_VISIBLE_BYTES];
    for (const char *end;; lines = end + 1) {
        end = strchrnul(lines, '\n');
        pvmc_visible_bytes(shown, sizeof shown, lines, (size_t)(end - lines));
        fputs(shown, to);
        if (!*end)
            return;
        fputc('\n', to);
    }
}
