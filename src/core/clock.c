/* clock.c - see clock.h. */
#include "clock.h"

const struct pvmi_world *pvmi_world;
