/* plan.c - the grammar of PVM_FAULT. */
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/guess.h"

#define VALUE_MAX    31       /* characters */
#define POINT_MAX    127      /* characters of a failpoint with its host */
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
    *millionths = (uint32_t)(percent * PVMC_FAULT_CERTAIN / 100 + 0.5);
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

/* ---- failpoints ---- */

/* Adds ", NAME" or "NAME" to a list. */
static void list_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/* Names with few edits; if there are none, those of the same part. */
static void list_near(const char *name, char *list, size_t size)
{
    size_t part = strcspn(name, ".") + 1;
    for (int i = 0; i < PVMC_FAILPOINT_COUNT; i++)
        if (pvmc_guess_distance(name, pvmc_failpoint_table[i].name) <= PVMC_GUESS_DISTANCE)
            list_name(list, size, pvmc_failpoint_table[i].name);
    bool none = !*list;
    for (int i = 0; none && i < PVMC_FAILPOINT_COUNT; i++)
        if (!strncmp(name, pvmc_failpoint_table[i].name, part))
            list_name(list, size, pvmc_failpoint_table[i].name);
}

static int find_step(struct pvmc_fault_point *p, const char *name, char *why, size_t size)
{
    char near[256] = "";
    for (int i = 0; i < PVMC_FAILPOINT_COUNT; i++) {
        if (strcmp(name, pvmc_failpoint_table[i].name))
            continue;
        p->which = (enum pvmc_failpoint)i;
        return 0;
    }
    list_near(name, near, sizeof near);
    if (*near)
        snprintf(why, size, "\"%s\" is not a failpoint; near it are %s", name, near);
    else
        snprintf(why, size, "\"%s\" is not a failpoint; pvm-info --failpoints lists them", name);
    return PVMC_EPARAM;
}

/* STEP[.done][@HOST]; changes the text. */
static int read_point(struct pvmc_fault_point *p, char *name, char *why, size_t size)
{
    char *host = strchr(name, '@'), *end = name + strcspn(name, "@");
    *end = '\0';
    if (host && (!host[1] || strlen(host + 1) > PVMC_FAULT_HOST_MAX)) {
        snprintf(why, size, "%s@: a host's name of at most %d characters belongs behind the @", name,
                 PVMC_FAULT_HOST_MAX);
        return PVMC_EPARAM;
    }
    if (host)
        strcpy(p->host, host + 1);
    size_t suffix = strlen(PVMC_FAILPOINT_DONE);
    p->done = (size_t)(end - name) > suffix && !strcmp(end - suffix, PVMC_FAILPOINT_DONE);
    if (p->done)
        end[-(ptrdiff_t)suffix] = '\0';
    int rc = find_step(p, name, why, size);
    if (!rc && *p->host && !strncmp(name, "group.", 6)) {
        snprintf(why, size, "%s@%s: a machine has one group server; leave out the host", name, p->host);
        rc = PVMC_EPARAM;
    }
    return rc;
}

static int read_when(struct pvmc_fault_point *p, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (text[digits] == '%' || text[digits] == '.')
        return read_percentage(text, &p->millionths) || !p->millionths ? PVMC_EPARAM : 0;
    bool open = text[digits] == '+' && !text[digits + 1];
    if (!digits || digits > 18 || (text[digits] && !open))
        return PVMC_EPARAM;
    p->first = strtoull(text, NULL, 10);
    p->last = open ? 0 : p->first;
    return p->first ? 0 : PVMC_EPARAM;
}

/* ACTION[/WHEN]; changes the text. */
static int read_action(struct pvmc_fault_point *p, char *text)
{
    char *when = strchr(text, '/');
    int rc = 0;
    if (when)
        *when = '\0';
    p->first = 1;
    if (!strcmp(text, "crash"))
        p->action = PVMC_FAULT_CRASH;
    else if (!strcmp(text, "error"))
        p->action = PVMC_FAULT_ERROR;
    else if (!strncmp(text, "delay:", 6))
        p->action = PVMC_FAULT_DELAY, rc = read_time(text + 6, &p->delay_us);
    else
        rc = PVMC_EPARAM;
    if (!rc && when)
        rc = read_when(p, when + 1);
    if (when)
        *when = '/';
    return rc;
}

static int add_point(struct pvmc_fault_plan *plan, char *name, char *value, char *why, size_t size)
{
    struct pvmc_fault_point p = {0};
    int rc = read_point(&p, name, why, size);
    if (rc)
        return rc;
    const char *step = pvmc_failpoint_table[p.which].name;
    if (read_action(&p, value)) {
        snprintf(why, size, "%s=%s: set it to crash, error or delay:TIME, and /3, /3+ or /5%% behind that if you like",
                 step, value);
        return PVMC_EPARAM;
    }
    if (p.action == PVMC_FAULT_ERROR && (p.done || !pvmc_failpoint_table[p.which].can_fail)) {
        snprintf(why, size, "%s%s=%s: it cannot fail there; choose crash or delay:TIME", step,
                 p.done ? PVMC_FAILPOINT_DONE : "", value);
        return PVMC_EPARAM;
    }
    if (plan->point_count == PVMC_FAULT_POINTS_MAX) {
        snprintf(why, size, "more than %d failpoints", PVMC_FAULT_POINTS_MAX);
        return PVMC_EPARAM;
    }
    plan->points[plan->point_count++] = p;
    return 0;
}

/* ---- items ---- */

static int read_item(struct pvmc_fault_plan *plan, const char *name, const char *value, char *why, size_t size)
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
        snprintf(why, size,
                 "\"%s\" is not a fault; choose from seed, drop, cut, refuse, nojoin, delay, "
                 "or a failpoint (pvm-info --failpoints)",
                 name);
    else if (rc)
        snprintf(why, size, "%s=%s: set it to %s", name, value, right);
    return right ? rc : PVMC_EPARAM;
}

/* Names of links' faults are words, those of failpoints have a dot. Moves *text behind the item. */
static int read_one(struct pvmc_fault_plan *plan, const char **text, char *why, size_t size)
{
    char name[POINT_MAX + 1] = "", value[VALUE_MAX + 1] = "";
    const char *item = *text;
    int length = 0;
    if (sscanf(item, "%127[a-zA-Z0-9._@:-]=%31[^,]%n", name, value, &length) != 2 ||
        (item[length] && item[length] != ',') || (item[length] && !item[length + 1])) {
        snprintf(why, size, "\"%.40s\" is not of the form name=value,name=value", item);
        return PVMC_EPARAM;
    }
    *text = item + length + (item[length] == ',');
    return strchr(name, '.') ? add_point(plan, name, value, why, size) : read_item(plan, name, value, why, size);
}

int pvmc_fault_plan_read(struct pvmc_fault_plan *plan, const char *text, char *why, size_t size)
{
    *plan = (struct pvmc_fault_plan){.seed = 1};
    int rc = 0;
    while (*text && !rc)
        rc = read_one(plan, &text, why, size);
    return rc;
}

bool pvmc_fault_plan_has_links(const struct pvmc_fault_plan *plan)
{
    return plan->drop || plan->cut || plan->refuse || plan->nojoin || plan->delay_us;
}

uint64_t pvmc_fault_random_start(uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    return state + !state;
}

uint32_t pvmc_fault_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}
