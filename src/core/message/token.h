/*
 * token.h - the text of a token, with which a daemon joins a machine by itself: pvm1-ID-SECRET-CHECK, all hexadecimal.
 * The id names the token and is no secret; the check finds mistakes in copying.
 */
#ifndef PVMC_TOKEN_H
#define PVMC_TOKEN_H

#include <stdint.h>

#define PVMC_TOKEN_ID_BYTES     8
#define PVMC_TOKEN_SECRET_BYTES 32
#define PVMC_TOKEN_ID_TEXT      17 /* bytes of an id as text, NUL included */
#define PVMC_TOKEN_TEXT         96 /* bytes of a token as text, NUL included */
#define PVMC_TOKEN_USES_MAX     1000000
#define PVMC_TOKEN_SECONDS_MAX  (366 * 24 * 3600)

struct pvmc_token {
    uint8_t id[PVMC_TOKEN_ID_BYTES];
    uint8_t secret[PVMC_TOKEN_SECRET_BYTES];
};

/* What a token is good for at present. */
enum pvmc_token_state { PVMC_TOKEN_GOOD, PVMC_TOKEN_EXPIRED, PVMC_TOKEN_USED_UP, PVMC_TOKEN_REVOKED };

/* Draws a new one: 0 or PVMC_ESYSTEM. */
int pvmc_token_draw(struct pvmc_token *t);

void pvmc_token_format(const struct pvmc_token *t, char text[PVMC_TOKEN_TEXT]);
void pvmc_token_format_id(const uint8_t id[PVMC_TOKEN_ID_BYTES], char text[PVMC_TOKEN_ID_TEXT]);

/* Reads a text, which may have blanks around it: 0, or PVMC_EFORMAT with the reason in *why. */
int pvmc_token_parse(const char *text, struct pvmc_token *t, const char **why);

/* Reads an id: 0 or PVMC_EFORMAT. */
int pvmc_token_parse_id(const char *text, uint8_t id[PVMC_TOKEN_ID_BYTES]);

#endif
