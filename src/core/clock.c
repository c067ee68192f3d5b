/* clock.c - see clock.h. */
#include "clock.h"

const struct pvmc_virtual_clock *pvmc_virtual_clock;
