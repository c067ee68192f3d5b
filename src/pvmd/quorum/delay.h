/* delay.h - how long a member waits before it asks for votes, so that one of the first mostly wins alone. */
#ifndef PVMD_DELAY_H
#define PVMD_DELAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * In seconds, for a member after `before` others, of `members` in all. At most half of `limit_s`, after which members
 * give up, and three quarters of it for one that is `leaving`: whoever is left has time to win.
 */
double pvmd_delay_s(size_t before, size_t members, double limit_s, bool leaving);

#endif
