/* view.h - a sample as lines of text: which rows, in which order, and how they look. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include "sample.h"

enum { VIEW_LINE = 512, VIEW_FILTER = 64 };

struct view {
    int key; /* index of the column that is sorted by */
    bool reverse;
    bool hosts;                /* show a line for each host */
    char filter[VIEW_FILTER];  /* "" or what a row's host, tid, name, route or doing must contain */
    struct sample_task **rows; /* those that are shown, in order */
    int count;
};

/* The column with that name, or -1. */
int view_key(const char *name);

/* The name of a column; NULL after the last. */
const char *view_key_name(int key);

/* Chooses and sorts the rows of a sample, which must outlive them. */
void view_choose(struct view *v, const struct sample *s);
void view_free(struct view *v);

/* Lines without a newline, safe to print. */
void view_summary(const struct sample *s, char line[VIEW_LINE]);
void view_host_heading(char line[VIEW_LINE]);
void view_host(const struct sample_host *h, char line[VIEW_LINE]);
void view_heading(char line[VIEW_LINE]);
void view_task(const struct sample_task *t, char line[VIEW_LINE]);

#endif
