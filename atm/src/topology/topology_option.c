/* topology_option.c - values of key=value options. */
#include "topology_option.h"
#include <stdio.h>
#include <string.h>
#include "core/error.h"
#include "cells/aal.h"
#include "base/quantity.h"

static char message[256];

static const char *say_kind(const struct pvma_option *o, int error)
{
    const char *range = error == PVMC_ELIMIT ? " in range" : "";
    switch (o->type) {
    case PVMA_OPTION_TIME:
        snprintf(message, sizeof message, "give a time%s, such as 10us or 2.5ms, up to 1000000s", range);
        break;
    case PVMA_OPTION_RATE:
        snprintf(message, sizeof message, "give a rate%s, such as 149.76M, oc3, taxi100 or oc12", range);
        break;
    case PVMA_OPTION_COUNT:
        snprintf(message, sizeof message, "give a number from %lld to %lld", (long long)o->min, (long long)o->max);
        break;
    case PVMA_OPTION_CHANCE:
        snprintf(message, sizeof message, "give a probability from 0 to 1, such as 0.01 or 1e-6");
        break;
    case PVMA_OPTION_AAL:
        snprintf(message, sizeof message, "give 5, 3/4 or raw");
        break;
    case PVMA_OPTION_CHOICE:
    case PVMA_OPTION_FLAG:
        snprintf(message, sizeof message, "give one of %s", o->choices ? o->choices : "no|yes");
        break;
    }
    return message;
}

/* Index of a word in "one|two|three"; -1 when it is not in the list. */
static int place_of(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (int place = 0; length && choices; place++) {
        const char *end = strchrnul(choices, '|');
        if ((size_t)(end - choices) == length && !memcmp(choices, word, length))
            return place;
        choices = *end ? end + 1 : NULL;
    }
    return -1;
}

static int set_count(const struct pvma_option *o, const char *value, uint32_t *to)
{
    int64_t count;
    int error = pvma_count_parse(value, o->max, &count);
    if (error)
        return error;
    if (count < o->min)
        return PVMC_ELIMIT;
    *to = (uint32_t)count;
    return 0;
}

static int set_choice(const char *choices, const char *value, int *to)
{
    int place = place_of(choices, value);
    if (place < 0)
        return PVMC_EFORMAT;
    *to = place;
    return 0;
}

static int set(const struct pvma_option *o, const char *value, void *to)
{
    int flag = 0, error = 0;
    switch (o->type) {
    case PVMA_OPTION_TIME:
        return pvma_time_parse(value, 1000000 * PVMA_S, to);
    case PVMA_OPTION_RATE:
        return pvma_rate_parse(value, to);
    case PVMA_OPTION_COUNT:
        return set_count(o, value, to);
    case PVMA_OPTION_CHANCE:
        return pvma_probability_parse(value, to);
    case PVMA_OPTION_AAL:
        return pvma_aal_parse(value, to) ? 0 : PVMC_EFORMAT;
    case PVMA_OPTION_CHOICE:
        return set_choice(o->choices, value, to);
    case PVMA_OPTION_FLAG:
        error = set_choice("no|yes", value, &flag);
        *(bool *)to = flag;
        break;
    }
    return error;
}

const char *pvma_option_set(const struct pvma_option *options, const char *key, const char *value, void *target)
{
    for (const struct pvma_option *o = options; o->key; o++) {
        if (strcmp(o->key, key))
            continue;
        int error = set(o, value, (char *)target + o->offset);
        return error ? say_kind(o, error) : NULL;
    }
    snprintf(message, sizeof message, "there is no such option here%s%s", options->key ? "; there are" : "",
             pvma_option_keys(options));
    return message;
}

const char *pvma_option_keys(const struct pvma_option *options)
{
    static char keys[200];
    size_t used = 0;
    keys[0] = 0;
    for (const struct pvma_option *o = options; o->key && used < sizeof keys; o++)
        used += (size_t)snprintf(keys + used, sizeof keys - used, " %s", o->key);
    return keys;
}
