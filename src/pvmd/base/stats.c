/* stats.c - see stats.h. */
#include "stats.h"

struct pvmd_stats pvmd_stats;
