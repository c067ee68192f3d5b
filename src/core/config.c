/* config.c - reads settings from the environment and reports malformed ones. */
#include "config.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "error.h"
#include "guess.h"
#include "log.h"
#include "place/job.h"

#define NAME_MAX_BYTES 128
#define MILLION        INT64_C(1000000)

extern char **environ;

const struct pvmc_setting_row pvmc_setting_table[PVMC_SETTING_COUNT] = {
#define X(id, name, kind, fallback, minimum, maximum, help) {name, PVMC_KIND_##kind, fallback, minimum, maximum, help},
    PVMC_SETTINGS(X)
#undef X
};

const enum pvmc_setting pvmc_setting_carried[PVMC_CARRIED_COUNT] = {
#define X(id, ...) PVMC_SETTING_##id,
    PVMC_CARRIED_SETTINGS(X)
#undef X
};

/* ---- parsing: each function returns 0 or PVMC_EPARAM ---- */

static int parse_bool(const char *text, int64_t *value)
{
    static const char *const words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strcasecmp(text, words[i])) {
            *value = i & 1;
            return 0;
        }
    }
    return PVMC_EPARAM;
}

static int parse_level(const char *text, int64_t *value)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strcasecmp(text, words[i])) {
            *value = (int64_t)i;
            return 0;
        }
    }
    return PVMC_EPARAM;
}

/* The number that text starts with; *rest is what follows it. */
static int parse_number(const char *text, int base, int64_t *value, const char **rest)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, base);
    if (errno || end == text || isspace((unsigned char)*text))
        return PVMC_EPARAM;
    *value = number;
    *rest = end;
    return 0;
}

static int parse_integer(const char *text, int64_t *value)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *rest;
    int status = parse_number(text, hexadecimal ? 16 : 10, value, &rest);
    return status || *rest ? PVMC_EPARAM : 0;
}

static int parse_bytes(const char *text, int64_t *value)
{
    static const char suffixes[] = "kmg";
    const char *rest;
    if (!isdigit((unsigned char)*text) || parse_number(text, 10, value, &rest))
        return PVMC_EPARAM;
    if (!*rest)
        return 0;
    const char *suffix = strchr(suffixes, tolower((unsigned char)*rest));
    if (!suffix || rest[1])
        return PVMC_EPARAM;
    int shift = 10 * (int)(suffix - suffixes + 1);
    if (*value > INT64_MAX >> shift)
        return PVMC_EPARAM;
    *value <<= shift;
    return 0;
}

/* Up to six digits after the decimal point, in millionths; further digits are skipped. */
static int64_t parse_fraction(const char **text)
{
    int64_t millionths = 0, digit_worth = 100000;
    for (; isdigit((unsigned char)**text); ++*text, digit_worth /= 10)
        millionths += (**text - '0') * digit_worth;
    return millionths;
}

/* Digits, perhaps with a point and more digits. *rest is what follows. */
static int parse_decimal(const char *text, int64_t *value, int64_t *millionths, const char **rest)
{
    *millionths = 0;
    if (!isdigit((unsigned char)*text) || parse_number(text, 10, value, rest))
        return PVMC_EPARAM;
    if (**rest == '.') {
        ++*rest;
        *millionths = parse_fraction(rest);
    }
    return 0;
}

static int parse_factor(const char *text, int64_t *value)
{
    const char *rest;
    int64_t millionths;
    if (parse_decimal(text, value, &millionths, &rest) || *rest || *value >= INT64_MAX / MILLION)
        return PVMC_EPARAM;
    *value = *value * MILLION + millionths;
    return 0;
}

static int parse_seconds(const char *text, int64_t *value)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"", 1000000}, {"s", 1000000}, {"ms", 1000}, {"us", 1}};
    const char *rest;
    int64_t millionths;
    if (parse_decimal(text, value, &millionths, &rest))
        return PVMC_EPARAM;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].name))
            continue;
        if (*value >= INT64_MAX / units[i].us)
            return PVMC_EPARAM;
        *value = *value * units[i].us + millionths * units[i].us / MILLION;
        return 0;
    }
    return PVMC_EPARAM;
}

static int check_name(const char *text)
{
    size_t length = 0;
    for (; text[length]; length++)
        if (text[length] == '/' || isspace((unsigned char)text[length]) || iscntrl((unsigned char)text[length]))
            return PVMC_EPARAM;
    return length <= NAME_MAX_BYTES ? 0 : PVMC_EPARAM;
}

static bool in_range(const struct pvmc_setting_row *row, int64_t value)
{
    if (!row->minimum && !row->maximum)
        return true;
    return value >= row->minimum && (row->maximum < row->minimum || value <= row->maximum);
}

/* Parses a text by its row's kind. *value is left alone for kinds that are not numbers. */
static int parse(const struct pvmc_setting_row *row, const char *text, int64_t *value)
{
    int status = 0;
    switch (row->kind) {
    case PVMC_KIND_TEXT:
        return 0;
    case PVMC_KIND_PATH:
        return strlen(text) < PATH_MAX ? 0 : PVMC_EPARAM;
    case PVMC_KIND_NAME:
        return check_name(text);
    case PVMC_KIND_BOOL:
        return parse_bool(text, value);
    case PVMC_KIND_LEVEL:
        return parse_level(text, value);
    case PVMC_KIND_INTEGER:
        status = parse_integer(text, value);
        break;
    case PVMC_KIND_BYTES:
        status = parse_bytes(text, value);
        break;
    case PVMC_KIND_SECONDS:
        status = parse_seconds(text, value);
        break;
    case PVMC_KIND_FACTOR:
        status = parse_factor(text, value);
        break;
    }
    return !status && in_range(row, *value) ? 0 : PVMC_EPARAM;
}

/* ---- explaining malformed values ---- */

static const char *kind_text(enum pvmc_setting_kind kind)
{
    switch (kind) {
    case PVMC_KIND_TEXT:
        return "a text";
    case PVMC_KIND_PATH:
        return "a path shorter than 4096 bytes";
    case PVMC_KIND_NAME:
        return "a name of at most 128 bytes without slashes and blanks";
    case PVMC_KIND_BOOL:
        return "0 or 1 (or no, yes, off, on)";
    case PVMC_KIND_LEVEL:
        return "error, warning, info or debug";
    case PVMC_KIND_INTEGER:
        return "a whole number";
    case PVMC_KIND_BYTES:
        return "a size such as 4096, 64k, 16M or 1G";
    case PVMC_KIND_SECONDS:
        return "a time in seconds such as 15, 0.5 or 200ms";
    case PVMC_KIND_FACTOR:
        return "a number such as 3000, 12.5 or 0.1";
    }
    return "something else";
}

/* A limit in the notation that the user writes. */
static const char *limit_text(enum pvmc_setting_kind kind, int64_t limit, char *text, size_t size)
{
    if (kind == PVMC_KIND_BYTES && limit && limit % 1024 == 0)
        snprintf(text, size, "%lldk", (long long)limit / 1024);
    else if (kind == PVMC_KIND_FACTOR || (kind == PVMC_KIND_SECONDS && limit % MILLION == 0))
        snprintf(text, size, "%lld", (long long)limit / MILLION);
    else if (kind == PVMC_KIND_SECONDS)
        snprintf(text, size, "%lldms", (long long)limit / 1000);
    else
        snprintf(text, size, "%lld", (long long)limit);
    return text;
}

static void explain(const struct pvmc_setting_row *row, const char *text, char *why, size_t size)
{
    char range[64] = "", minimum[24], maximum[24];
    limit_text(row->kind, row->minimum, minimum, sizeof minimum);
    limit_text(row->kind, row->maximum, maximum, sizeof maximum);
    if (row->maximum < row->minimum)
        snprintf(range, sizeof range, ", at least %s", minimum);
    else if (row->minimum || row->maximum)
        snprintf(range, sizeof range, " from %s to %s", minimum, maximum);
    snprintf(why, size, "%s=\"%.100s\" is not usable: set it to %s%s", row->name, text, kind_text(row->kind), range);
}

int pvmc_config_check(enum pvmc_setting which, const char *text, char *why, size_t size)
{
    const struct pvmc_setting_row *row = &pvmc_setting_table[which];
    int64_t value = 0;
    if (!parse(row, text, &value))
        return 0;
    explain(row, text, why, size);
    return PVMC_EPARAM;
}

/* ---- values ---- */

/* The value of the environment variable, or NULL. An empty variable counts as not set. */
static const char *user_text(enum pvmc_setting which)
{
    const char *text = getenv(pvmc_setting_table[which].name);
    if (which == PVMC_SETTING_VMID && !(text && *text))
        text = pvmc_job_name();
    return text && *text ? text : NULL;
}

static void complain_once(enum pvmc_setting which, const char *text)
{
    static bool said[PVMC_SETTING_COUNT];
    char why[512];
    if (said[which])
        return;
    said[which] = true;
    explain(&pvmc_setting_table[which], text, why, sizeof why);
    pvmc_log(PVMC_LOG_ERROR, "%s (the default is used: \"%s\")", why, pvmc_setting_table[which].fallback);
}

/* The effective text and its value. */
static const char *value_of(enum pvmc_setting which, int64_t *value)
{
    const struct pvmc_setting_row *row = &pvmc_setting_table[which];
    const char *text = user_text(which);
    if (text && !parse(row, text, value))
        return text;
    if (text)
        complain_once(which, text);
    if (*row->fallback)
        parse(row, row->fallback, value);
    return row->fallback;
}

const char *pvmc_config_text(enum pvmc_setting which)
{
    int64_t value = 0;
    return value_of(which, &value);
}

int64_t pvmc_config_integer(enum pvmc_setting which)
{
    int64_t value = 0;
    value_of(which, &value);
    return value;
}

bool pvmc_config_bool(enum pvmc_setting which)
{
    return pvmc_config_integer(which) != 0;
}

int64_t pvmc_config_us(enum pvmc_setting which)
{
    return pvmc_config_integer(which);
}

const char *pvmc_config_origin(enum pvmc_setting which)
{
    int64_t value = 0;
    const char *text = user_text(which);
    return text && !parse(&pvmc_setting_table[which], text, &value) ? "environment" : "default";
}

int pvmc_config_daemon_file(const char *stem, char *path, size_t size)
{
    char why[512];
    const char *vmid = user_text(PVMC_SETTING_VMID);
    if (vmid && pvmc_config_check(PVMC_SETTING_VMID, vmid, why, sizeof why)) {
        pvmc_log(PVMC_LOG_ERROR, "%s", why);
        return PVMC_EPARAM;
    }
    const char *folder = pvmc_config_text(PVMC_SETTING_TMP);
    int length =
        snprintf(path, size, "%s/%s.%u%s%s", folder, stem, (unsigned)getuid(), vmid ? "." : "", vmid ? vmid : "");
    if (length >= 0 && (size_t)length < size)
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "the path of %s in PVM_TMP=%s is too long: set PVM_TMP to a shorter one", stem, folder);
    return PVMC_ELIMIT;
}

/* ---- unknown variables ---- */

static const char *nearest_name(const char *name)
{
    const char *nearest = NULL;
    size_t best = PVMC_GUESS_DISTANCE + 1;
    for (int i = 0; i < PVMC_SETTING_COUNT; i++) {
        size_t distance = pvmc_guess_distance(name, pvmc_setting_table[i].name);
        if (distance < best) {
            best = distance;
            nearest = pvmc_setting_table[i].name;
        }
    }
    return nearest;
}

static bool is_known(const char *name)
{
    for (int i = 0; i < PVMC_SETTING_COUNT; i++)
        if (!strcmp(name, pvmc_setting_table[i].name))
            return true;
    return false;
}

bool pvmc_config_unknown(const char *variable, char *why, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    if (strncmp(name, "PVM_", 4) || is_known(name))
        return false;
    const char *nearest = nearest_name(name);
    if (nearest)
        snprintf(why, size, "environment variable %s is not known and ignored; did you mean %s?", name, nearest);
    else
        snprintf(why, size, "environment variable %s is not known and ignored; pvm-info -c lists all", name);
    return true;
}

void pvmc_config_warn_unknown(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    char why[256];
    for (char **variable = environ; variable && *variable; variable++)
        if (pvmc_config_unknown(*variable, why, sizeof why))
            pvmc_log(PVMC_LOG_WARNING, "%s", why);
}
