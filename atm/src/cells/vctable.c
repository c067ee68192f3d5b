/* vctable.c - open addressing with linear probing, at most half full. */
#include "vctable.h"
#include <stdlib.h>
#include <string.h>
#include "cell.h"

static uint32_t key_of(uint16_t vpi, uint16_t vci)
{
    return 1 + ((uint32_t)vpi << 16 | vci);
}

static size_t home(const struct pvma_vctable *table, uint32_t key)
{
    return key * UINT32_C(2654435761) >> 7 & (table->size - 1);
}

/* The row of a key, or the free row that it would take. The table must not be empty. */
static size_t find(const struct pvma_vctable *table, uint32_t key)
{
    size_t at = home(table, key);
    while (table->rows[at].key && table->rows[at].key != key)
        at = (at + 1) & (table->size - 1);
    return at;
}

void pvma_vctable_init(struct pvma_vctable *table)
{
    memset(table, 0, sizeof *table);
}

void pvma_vctable_free(struct pvma_vctable *table)
{
    free(table->rows);
    pvma_vctable_init(table);
}

void *pvma_vctable_get(const struct pvma_vctable *table, uint16_t vpi, uint16_t vci)
{
    return table->size ? table->rows[find(table, key_of(vpi, vci))].value : NULL;
}

static void grow(struct pvma_vctable *table)
{
    struct pvma_vctable old = *table;
    table->size = old.size ? 2 * old.size : 8;
    table->rows = pvma_new(table->size * sizeof *table->rows);
    for (size_t i = 0; i < old.size; i++)
        if (old.rows[i].key)
            table->rows[find(table, old.rows[i].key)] = old.rows[i];
    free(old.rows);
}

void pvma_vctable_set(struct pvma_vctable *table, uint16_t vpi, uint16_t vci, void *value)
{
    if (2 * (table->used + 1) > table->size)
        grow(table);
    struct pvma_vctable_row *row = &table->rows[find(table, key_of(vpi, vci))];
    table->used += !row->key;
    row->key = key_of(vpi, vci);
    row->value = value;
}

void *pvma_vctable_remove(struct pvma_vctable *table, uint16_t vpi, uint16_t vci)
{
    if (!table->size)
        return NULL;
    size_t gap = find(table, key_of(vpi, vci));
    void *value = table->rows[gap].value;
    if (!table->rows[gap].key)
        return NULL;
    table->used--;
    size_t mask = table->size - 1;
    for (size_t at = (gap + 1) & mask; table->rows[at].key; at = (at + 1) & mask) {
        /* A row moves into the gap unless its home lies after the gap. */
        if (((at - home(table, table->rows[at].key)) & mask) >= ((at - gap) & mask)) {
            table->rows[gap] = table->rows[at];
            gap = at;
        }
    }
    table->rows[gap] = (struct pvma_vctable_row){0, NULL};
    return value;
}
