/* token.c - see token.h. */
#include "token.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "core/error.h"

static const char prefix[] = "pvm1-";

/* FNV-1a: only against mistakes in copying. */
static uint32_t check_of(const struct pvmc_token *t)
{
    const uint8_t *bytes = (const uint8_t *)t;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof *t; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

_Static_assert(sizeof(struct pvmc_token) == PVMC_TOKEN_ID_BYTES + PVMC_TOKEN_SECRET_BYTES, "a token has padding");

int pvmc_token_draw(struct pvmc_token *t)
{
    return getrandom(t, sizeof *t, 0) == (ssize_t)sizeof *t ? 0 : PVMC_ESYSTEM;
}

static char *put_hex(char *to, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to += sprintf(to, "%02x", bytes[i]);
    return to;
}

void pvmc_token_format_id(const uint8_t id[PVMC_TOKEN_ID_BYTES], char text[PVMC_TOKEN_ID_TEXT])
{
    put_hex(text, id, PVMC_TOKEN_ID_BYTES);
}

void pvmc_token_format(const struct pvmc_token *t, char text[PVMC_TOKEN_TEXT])
{
    char *at = text + sprintf(text, "%s", prefix);
    at = put_hex(at, t->id, sizeof t->id);
    *at++ = '-';
    at = put_hex(at, t->secret, sizeof t->secret);
    sprintf(at, "-%08x", check_of(t));
}

/* Reads `count` bytes in hexadecimal. Returns what follows them, or NULL. */
static const char *get_hex(const char *from, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++, from += 2) {
        unsigned byte;
        if (!isxdigit((unsigned char)from[0]) || !isxdigit((unsigned char)from[1]) || sscanf(from, "%2x", &byte) != 1)
            return NULL;
        bytes[i] = (uint8_t)byte;
    }
    return from;
}

int pvmc_token_parse_id(const char *text, uint8_t id[PVMC_TOKEN_ID_BYTES])
{
    const char *end = get_hex(text, id, PVMC_TOKEN_ID_BYTES);
    return end && !*end ? 0 : PVMC_EFORMAT;
}

int pvmc_token_parse(const char *text, struct pvmc_token *t, const char **why)
{
    uint8_t check[4];
    text += strspn(text, " \t\r\n");
    *why = "it does not begin with pvm1-";
    if (strncmp(text, prefix, sizeof prefix - 1))
        return PVMC_EFORMAT;
    *why = "it is damaged or incomplete";
    const char *at = get_hex(text + sizeof prefix - 1, t->id, sizeof t->id);
    at = at && *at == '-' ? get_hex(at + 1, t->secret, sizeof t->secret) : NULL;
    at = at && *at == '-' ? get_hex(at + 1, check, sizeof check) : NULL;
    if (!at || at[strspn(at, " \t\r\n")])
        return PVMC_EFORMAT;
    uint32_t told = (uint32_t)check[0] << 24 | (uint32_t)check[1] << 16 | (uint32_t)check[2] << 8 | check[3];
    *why = "a character of it has changed";
    return told == check_of(t) ? 0 : PVMC_EFORMAT;
}
