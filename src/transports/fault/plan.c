/* plan.c - the grammar of PVM_FAULT. */
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"

#define VALUE_MAX    31       /* characters */
#define DELAY_MAX_US 10000000 /* a longer delay would look like a hang */

/* Reads a decimal number without sign or exponent; *rest is the text behind it. */
static int read_decimal(const char *text, double *value, const char **rest)
{
    size_t digits = strspn(text, "0123456789");
    size_t length = text[digits] == '.' ? digits + 1 + strspn(text + digits + 1, "0123456789") : digits;
    if (!digits || text[length - 1] == '.')
        return PVMC_EPARAM;
    *value = strtod(text, NULL);
    *rest = text + length;
    return 0;
}

static int read_percentage(const char *text, uint32_t *millionths)
{
    double percent;
    const char *rest;
    if (read_decimal(text, &percent, &rest) || strcmp(rest, "%") || percent > 100)
        return PVMC_EPARAM;
    *millionths = (uint32_t)(percent * PVMT_FAULT_CERTAIN / 100 + 0.5);
    return 0;
}

static int read_time(const char *text, int64_t *us)
{
    static const struct {
        const char *name;
        double us;
    } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}};
    double value;
    const char *rest;
    if (read_decimal(text, &value, &rest))
        return PVMC_EPARAM;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].name) || value * units[i].us > DELAY_MAX_US)
            continue;
        *us = (int64_t)(value * units[i].us + 0.5);
        return 0;
    }
    return PVMC_EPARAM;
}

static int read_seed(const char *text, uint64_t *seed)
{
    if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 18)
        return PVMC_EPARAM;
    *seed = strtoull(text, NULL, 10);
    return 0;
}

static int read_item(struct pvmt_fault_plan *plan, const char *name, const char *value, char *why, size_t size)
{
    const struct {
        const char *name;
        uint32_t *millionths;
    } percentages[] = {
        {"drop", &plan->drop}, {"cut", &plan->cut}, {"refuse", &plan->refuse}, {"nojoin", &plan->nojoin}};
    const char *right = NULL;
    int rc = 0;
    if (!strcmp(name, "seed")) {
        right = "a whole number";
        rc = read_seed(value, &plan->seed);
    } else if (!strcmp(name, "delay")) {
        right = "a time up to 10s such as 2ms or 500us";
        rc = read_time(value, &plan->delay_us);
    }
    for (size_t i = 0; !right && i < sizeof percentages / sizeof *percentages; i++) {
        if (strcmp(name, percentages[i].name))
            continue;
        right = "a percentage such as 1% or 0.05%";
        rc = read_percentage(value, percentages[i].millionths);
    }
    if (!right)
        snprintf(why, size, "\"%s\" is not a fault; choose from seed, drop, cut, refuse, nojoin, delay", name);
    else if (rc)
        snprintf(why, size, "%s=%s: set it to %s", name, value, right);
    return right ? rc : PVMC_EPARAM;
}

int pvmt_fault_plan_read(struct pvmt_fault_plan *plan, const char *text, char *why, size_t size)
{
    *plan = (struct pvmt_fault_plan){.seed = 1};
    for (const char *item = text; *item;) {
        char name[VALUE_MAX + 1] = "", value[VALUE_MAX + 1] = "";
        int length = 0;
        if (sscanf(item, "%31[a-z]=%31[^,]%n", name, value, &length) != 2 || (item[length] && item[length] != ',') ||
            (item[length] && !item[length + 1])) {
            snprintf(why, size, "\"%.40s\" is not of the form name=value,name=value", item);
            return PVMC_EPARAM;
        }
        int rc = read_item(plan, name, value, why, size);
        if (rc)
            return rc;
        item += length + (item[length] == ',');
    }
    return 0;
}

bool pvmt_fault_plan_any(const struct pvmt_fault_plan *plan)
{
    return plan->drop || plan->cut || plan->refuse || plan->nojoin || plan->delay_us;
}

uint32_t pvmt_fault_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}
