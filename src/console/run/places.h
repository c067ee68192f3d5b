/* places.h - the hosts on which the copies of a program run, and how many on each. */
#ifndef RUN_PLACES_H
#define RUN_PLACES_H

#include <stdbool.h>

struct run_place {
    char *host; /* as for pvm_addhosts(), with options of hostfile(5) */
    int slots;  /* copies before the next host gets some */
};

struct run_places {
    struct run_place *all;
    int count;
    int slots; /* of all together */
};

/* Adds a host. NULL, or what is wrong. */
const char *run_places_add(struct run_places *p, const char *host, int slots);

/* Adds the hosts of "a,b:4". NULL, or what is wrong with it. */
const char *run_places_add_list(struct run_places *p, const char *list);

/*
 * Adds the hosts of a file: lines with a name, "slots=N" or ":N", and options of hostfile(5); "#" begins a comment.
 * NULL, or what is wrong with it; *line is then the number of the line, or 0.
 */
const char *run_places_add_file(struct run_places *p, const char *path, int *line);

/* How many of `copies` run on place i: each gets as many as it has slots, in order, and so on from the first. */
int run_places_share(const struct run_places *p, int copies, int i);

/* Length of a place's name, without its options. */
int run_place_name_length(const struct run_place *place);

/* Whether it is this host, by a name that every host has. */
bool run_place_is_here(const struct run_place *place);

void run_places_free(struct run_places *p);

#endif
