/* application.c - see application.h. */
#include "application.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "core/visible.h"
#include "pvmd/hosts/hostfile.h"

/* Reads HOST:PORT, where HOST may be an IPv6 address in brackets. */
static bool read_target(char *text, struct pvmd_targets *targets)
{
    char *colon = strrchr(text, ':'), *end;
    char *host = text, *last = colon ? colon - 1 : text;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || colon == text || *end || !port || port > UINT16_MAX || targets->count == PVMD_TARGETS_MAX)
        return false;
    *colon = '\0';
    if (*host == '[' && *last == ']') {
        host++;
        *last = '\0';
    }
    int n = snprintf(targets->list[targets->count].name, PVMD_TARGET_BYTES, "%s", host);
    targets->list[targets->count++].port = (uint16_t)port;
    return n > 0 && n < PVMD_TARGET_BYTES;
}

int pvmd_application_targets(const struct pvmd_application *a, struct pvmd_targets *targets)
{
    char copy[PVMD_TARGETS_MAX * PVMD_TARGET_BYTES], *rest;
    int n = snprintf(copy, sizeof copy, "%s", a->address);
    bool is_sound = n < (int)sizeof copy;
    targets->count = 0;
    for (char *word = strtok_r(copy, ", ", &rest); is_sound && word; word = strtok_r(NULL, ", ", &rest))
        is_sound = read_target(word, targets);
    if (is_sound && targets->count)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "--join takes HOST:PORT[,HOST:PORT...], as \"pvm token\" prints it, not \"%s\"",
             PVMC_VISIBLE(a->address));
    return PVMC_EFORMAT;
}

/* The file of the token; "" if none is given. */
static const char *token_file(const struct pvmd_application *a, char *path, size_t size)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    if (a->token_file)
        return a->token_file;
    snprintf(path, size, "%s/pvm-token", folder ? folder : "");
    return folder ? path : "";
}

int pvmd_application_token(const struct pvmd_application *a, struct pvmc_token *token)
{
    char path[4096], text[2 * PVMC_TOKEN_TEXT] = "";
    const char *file = token_file(a, path, sizeof path), *why;
    FILE *f = !*file ? NULL : strcmp(file, "-") ? fopen(file, "re") : stdin;
    if (!*file)
        pvmc_log(PVMC_LOG_ERROR, "no token: give --token-file FILE, or - for standard input");
    else if (!f)
        pvmc_log(PVMC_LOG_ERROR, "cannot read the token in %s: %s", file, strerror(errno));
    if (!f)
        return PVMC_ESYSTEM;
    size_t length = fread(text, 1, sizeof text - 1, f);
    text[length] = '\0';
    if (f != stdin)
        fclose(f);
    int rc = pvmc_token_parse(text, token, &why);
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "%s does not hold a token: %s", strcmp(file, "-") ? file : "standard input", why);
    OPENSSL_cleanse(text, sizeof text);
    return rc;
}

int pvmd_application_name(const struct pvmd_application *a, char name[PVMD_HOST_NAME_MAX + 1])
{
    if (a->name)
        snprintf(name, PVMD_HOST_NAME_MAX + 1, "%s", a->name);
    else if (gethostname(name, PVMD_HOST_NAME_MAX))
        return PVMC_ESYSTEM;
    if (pvmd_host_name_is_valid(name))
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "\"%s\" cannot be a host's name: give another one (-n)", PVMC_VISIBLE(name));
    return PVMC_EFORMAT;
}
