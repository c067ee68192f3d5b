/* store.c - an arena: blocks that are filled one after another. */
#include "store.h"
#include <err.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, ALIGNMENT = 8 };

struct block {
    struct block *next;
    size_t used, size;
    char data[];
};

void store_out_of_memory(void)
{
    errx(1, "out of memory: trace a shorter run or fewer events");
}

static void *need(void *memory)
{
    if (!memory)
        store_out_of_memory();
    return memory;
}

static struct block *new_block(struct block *next, size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct block *b = need(malloc(sizeof *b + size));
    *b = (struct block){.next = next, .size = size};
    return b;
}

void *store_take(struct store *s, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!s->blocks || s->blocks->size - s->blocks->used < bytes)
        s->blocks = new_block(s->blocks, bytes);
    void *at = s->blocks->data + s->blocks->used;
    s->blocks->used += bytes;
    return at;
}

char *store_text(struct store *s, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(store_take(s, bytes), text, bytes);
}

static void free_from(struct block *b)
{
    while (b) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
}

void store_clear(struct store *s)
{
    if (!s->blocks)
        return;
    free_from(s->blocks->next);
    s->blocks->next = NULL;
    s->blocks->used = 0;
}

void store_free(struct store *s)
{
    free_from(s->blocks);
    s->blocks = NULL;
}

void *array_grow(void *array, size_t count, size_t size)
{
    if (count & (count - 1) || (count && count < 16))
        return array; /* room is a power of two, at least 16 */
    return need(realloc(array, (count ? count * 2 : 16) * size));
}
