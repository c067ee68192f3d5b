/*
 * store.h - memory of one life: what is read from a trace stays until the whole of it is freed.
 */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>

struct block;

struct store {
    struct block *blocks;
};

/* Ends the program with a message. */
__attribute__((noreturn)) void store_out_of_memory(void);

/* `bytes` of memory, aligned for anything. Ends the program with a message when there is none. */
void *store_take(struct store *s, size_t bytes);

char *store_text(struct store *s, const char *text);

/* Forgets all, and keeps one block for what comes next. */
void store_clear(struct store *s);

void store_free(struct store *s);

/*
 * Room for one more in an array of `count` elements of `size` bytes, whose room doubles: returns its new place. Ends
 * the program when there is no memory.
 */
void *array_grow(void *array, size_t count, size_t size);

#endif
