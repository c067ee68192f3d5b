/* star.h - the network of `--profile`: hosts of one kind on one switch, as a topology in the text format. */
#ifndef PVMA_STAR_H
#define PVMA_STAR_H

#include <stdio.h>

struct pvma_star {
    const char *profile; /* of all hosts h1, h2, ...; NULL: no star */
    unsigned hosts;
    const char *model; /* of the switch */
    const char *rate;  /* of the links */
    const char *loss;  /* of cells on each link */
};

/* Writes the topology. Its words are not checked: the reader of topologies does that. */
void pvma_star_write(const struct pvma_star *star, FILE *out);

#endif
