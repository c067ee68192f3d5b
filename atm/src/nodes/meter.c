/* meter.c - see meter.h. */
#include "meter.h"

uint64_t pvma_meter_area(const struct pvma_meter *meter, pvma_ps now)
{
    return meter->area + (uint64_t)meter->length * (uint64_t)(now - meter->since);
}

void pvma_meter_change(struct pvma_meter *meter, pvma_ps now, int cells)
{
    meter->area = pvma_meter_area(meter, now);
    meter->since = now;
    meter->length += (uint32_t)cells;
    if (meter->length > meter->most)
        meter->most = meter->length;
}
