/*
 * clock.h - times of events: this host's clock, and the offsets of other hosts' clocks.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* Since 1970. */
int64_t clock_now_us(void);

/* Offset of our clock from another host's, by asking its daemon eight times; 0 if it does not answer. */
int64_t clock_offset_us(int host);

#endif
