/* profile.c - units of costs, values as text, and copies. The built-in profiles are in profile_table.c. */
#include "profile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "mbuf.h"
#include "quantity.h"

static const struct {
    const char *name, *help;
    enum pvma_unit unit;
} costs[PVMA_COST_COUNT] = {
#define X(name, unit, initial, help) {#name, help, PVMA_UNIT_##unit},
    PVMA_COSTS(X)
#undef X
};

/* Costs whose values 0 and 1 are written as words. */
static const struct {
    enum pvma_cost cost;
    const char *word[2];
} words[] = {
    {PVMA_COST_sar, {"adapter", "host"}}, {PVMA_COST_send, {"block", "flood"}}, {PVMA_COST_turn, {"pdu", "cell"}}};

enum { COUNT_MAX = 1000000, BYTES_MAX = 65535 };
#define TIME_MAX (10 * PVMA_S)

const char *pvma_origin_name(enum pvma_origin origin)
{
    static const char *const names[] = {"chosen", "paper", "fitted"};
    return names[origin];
}

const char *pvma_cost_name(enum pvma_cost cost)
{
    return costs[cost].name;
}

const char *pvma_cost_help(enum pvma_cost cost)
{
    return costs[cost].help;
}

enum pvma_cost pvma_cost_find(const char *name)
{
    int cost = 0;
    while (cost < PVMA_COST_COUNT && strcmp(costs[cost].name, name))
        cost++;
    return cost;
}

static const char *const *words_of(enum pvma_cost cost)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].cost == cost)
            return words[i].word;
    return NULL;
}

void pvma_cost_format(enum pvma_cost cost, int64_t value, char *text, size_t size)
{
    if (costs[cost].unit == PVMA_UNIT_TIME)
        pvma_time_format(value, text, size);
    else if (costs[cost].unit == PVMA_UNIT_WORD)
        snprintf(text, size, "%s", words_of(cost)[value != 0]);
    else
        snprintf(text, size, "%lld", (long long)value);
}

int pvma_cost_parse(enum pvma_cost cost, const char *text, int64_t *value)
{
    const char *const *word = words_of(cost);
    switch (costs[cost].unit) {
    case PVMA_UNIT_TIME:
        return pvma_time_parse(text, TIME_MAX, value);
    case PVMA_UNIT_COUNT:
        return pvma_count_parse(text, COUNT_MAX, value);
    case PVMA_UNIT_BYTES:
        return pvma_count_parse(text, BYTES_MAX, value);
    case PVMA_UNIT_WORD:
        break;
    }
    for (int i = 0; i < 2; i++) {
        if (!strcmp(text, word[i])) {
            *value = i;
            return 0;
        }
    }
    return PVMC_EFORMAT;
}

pvma_ps pvma_profile_cell_latency(const struct pvma_profile *from, const struct pvma_profile *to)
{
    const int64_t *tx = from->cost, *rx = to->cost, octets = 48;
    return tx[PVMA_COST_tx_pdu] + octets * tx[PVMA_COST_tx_byte] + pvma_mbufs(octets) * tx[PVMA_COST_tx_mbuf] +
           tx[PVMA_COST_tx_cell] + tx[PVMA_COST_tx_bus] + rx[PVMA_COST_rx_cell] + rx[PVMA_COST_rx_bus] +
           rx[PVMA_COST_rx_pdu] + octets * rx[PVMA_COST_rx_byte];
}

struct pvma_profile *pvma_profile_copy(const struct pvma_profile *from, const char *name)
{
    struct pvma_profile *copy = pvma_new(sizeof *copy);
    *copy = *from;
    copy->name = pvma_copy_text(name);
    copy->about = pvma_copy_text(from->about);
    return copy;
}

void pvma_profile_free(struct pvma_profile *profile)
{
    free(profile->name);
    free(profile->about);
    free(profile);
}
