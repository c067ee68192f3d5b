/* quantity.c - exact decimal figures, digit by digit. */
#include "quantity.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "nodes/link.h"

struct unit {
    const char *name;
    int64_t size;
};

static const struct unit times[] = {{"s", PVMA_S}, {"ms", PVMA_MS}, {"us", PVMA_US}, {"ns", PVMA_NS}, {"ps", 1}};
static const struct unit rates[] = {{"G", 1000000000}, {"M", 1000000}, {"k", 1000}, {"", 1}};
static const struct unit links[] = {{"taxi100", PVMA_RATE_TAXI100},
                                    {"oc3", PVMA_RATE_OC3},
                                    {"oc3line", PVMA_RATE_OC3LINE},
                                    {"an2", PVMA_RATE_AN2},
                                    {"oc12", PVMA_RATE_OC12}};

#define RATE_MAX INT64_C(1000000000000)

/* Splits "12.5us" into a figure in units of 10^-places and the rest after it. False when there is no figure. */
static bool split(const char *text, __int128 *figure, int *places, const char **rest)
{
    int digits = 0;
    *figure = 0;
    *places = 0;
    bool point = false;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (++digits > 20)
            return false;
        *figure = *figure * 10 + (*text - '0');
        *places += point;
    }
    *rest = text;
    return digits > 0;
}

static int scale(__int128 figure, int places, int64_t size, int64_t max, int64_t *value)
{
    figure *= size;
    for (; places; places--) {
        if (figure % 10)
            return PVMC_ELIMIT; /* finer than the smallest unit */
        figure /= 10;
    }
    if (figure > max)
        return PVMC_ELIMIT;
    *value = (int64_t)figure;
    return 0;
}

static const struct unit *find(const struct unit *units, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(units[i].name, name))
            return &units[i];
    return NULL;
}

int pvma_time_parse(const char *text, pvma_ps max, pvma_ps *time)
{
    __int128 figure;
    int places;
    const char *rest;
    if (!split(text, &figure, &places, &rest))
        return PVMC_EFORMAT;
    const struct unit *unit = find(times, sizeof times / sizeof times[0], *rest || figure ? rest : "s");
    return unit ? scale(figure, places, unit->size, max, time) : PVMC_EFORMAT;
}

int pvma_count_parse(const char *text, int64_t max, int64_t *count)
{
    __int128 figure;
    int places;
    const char *rest;
    if (!split(text, &figure, &places, &rest) || *rest || places)
        return PVMC_EFORMAT;
    return scale(figure, 0, 1, max, count);
}

int pvma_rate_parse(const char *text, int64_t *rate_bps)
{
    __int128 figure;
    int places;
    const char *rest;
    const struct unit *unit = find(links, sizeof links / sizeof links[0], text);
    if (unit) {
        *rate_bps = unit->size;
        return 0;
    }
    if (!split(text, &figure, &places, &rest) || !(unit = find(rates, sizeof rates / sizeof rates[0], rest)))
        return PVMC_EFORMAT;
    int error = scale(figure, places, unit->size, RATE_MAX, rate_bps);
    return error ? error : *rate_bps > 0 ? 0 : PVMC_ELIMIT;
}

int pvma_probability_parse(const char *text, double *p)
{
    char *rest;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return PVMC_EFORMAT;
    *p = strtod(text, &rest);
    if (*rest || *p != *p)
        return PVMC_EFORMAT;
    return *p <= 1 ? 0 : PVMC_ELIMIT;
}

static void format(const struct unit *unit, int64_t value, char *text, size_t size)
{
    char fraction[24];
    int digits = 0;
    for (int64_t s = unit->size; s > 1; s /= 10)
        digits++;
    snprintf(fraction, sizeof fraction, "%0*lld", digits, (long long)(value % unit->size));
    for (size_t end = strlen(fraction); end && fraction[end - 1] == '0'; end--)
        fraction[end - 1] = 0;
    snprintf(text, size, "%lld%s%s%s", (long long)(value / unit->size), *fraction && unit->size > 1 ? "." : "",
             unit->size > 1 ? fraction : "", unit->name);
}

void pvma_time_format(pvma_ps time, char *text, size_t size)
{
    const struct unit *unit = times;
    if (!time) {
        snprintf(text, size, "0");
        return;
    }
    while (unit->size > time)
        unit++;
    format(unit, time, text, size);
}

void pvma_rate_format(int64_t rate_bps, char *text, size_t size)
{
    const struct unit *unit = rates;
    while (unit->size > rate_bps && unit->size > 1)
        unit++;
    format(unit, rate_bps, text, size);
}
