/* clock.c - see clock.h. */
#include "clock.h"
#include <stddef.h>

int64_t (*pvmi_clock_source)(void);
