/* star.c - see star.h. */
#include "star.h"

enum { PORTS_MIN = 2 };

void pvma_star_write(const struct pvma_star *star, FILE *out)
{
    unsigned ports = star->hosts > PORTS_MIN ? star->hosts : PORTS_MIN;
    fprintf(out, "host h[1-%u] profile=%s\n", star->hosts, star->profile);
    fprintf(out, "switch s model=%s ports=%u\n", star->model, ports);
    fprintf(out, "link h[1-%u] s rate=%s loss=%s\n", star->hosts, star->rate, star->loss);
}
