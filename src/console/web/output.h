/*
 * output.h - the last lines that tasks have printed.
 */
#ifndef WEB_OUTPUT_H
#define WEB_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/hash.h"

enum { OUTPUT_LINES = 5000, OUTPUT_LINE_BYTES = 2000, OUTPUT_BYTES = 1 << 20 };

struct output_line {
    int tid;
    bool is_error; /* standard error */
    int64_t time_us;
    char *text;
    size_t bytes;
};

struct output {
    struct output_line lines[OUTPUT_LINES];
    int64_t first, count, told; /* numbers of lines; those before `first` are gone */
    size_t bytes;
    struct output_task *tasks; /* those with an incomplete line */
};

void output_take(struct output *o, int tid, bool is_error, const char *text, size_t bytes, int64_t now_us);

/* What a task has printed without a newline becomes a line: its output has ended. */
void output_end(struct output *o, int tid, int64_t now_us);

/* The same for all tasks whose beginnings are older than a second, such as prompts. */
void output_show_beginnings(struct output *o, int64_t now_us);

/* Adds the lines to an object: all that are kept, or those since the last time. */
void output_tell(struct output *o, json_t *to, bool all);

void output_free(struct output *o);

#endif
