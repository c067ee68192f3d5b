/*
 * store.h - arena memory: data read from a trace stays until the whole store is freed.
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

/* Allocates `bytes` of memory, 8-byte aligned. Ends the program with a message when out of memory. */
void *store_take(struct store *s, size_t bytes);

char *store_text(struct store *s, const char *text);

/* Frees everything except one block, which is reused. */
void store_clear(struct store *s);

void store_free(struct store *s);

/*
 * Makes room for one more element in an array of `count` elements of `size` bytes and returns the array, which may have
 * moved. Its room grows by doubling. Ends the program when out of memory.
 */
void *array_grow(void *array, size_t count, size_t size);

#endif
