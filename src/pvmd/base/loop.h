/*
 * loop.h - the memory of the daemon's event loop. libev aborts the process when one of its tables cannot grow, so the
 * tables get address space of their own before the loop is made: each grows in place, without malloc().
 */
#ifndef PVMD_LOOP_H
#define PVMD_LOOP_H

#include <ev.h>

#define PVMD_DESCRIPTORS_MAX (1 << 18) /* bounds the tables that libev indexes by descriptor */

/*
 * Makes the loop, with tables for as many descriptors as the process may have (RLIMIT_NOFILE, which must not be raised
 * afterwards) and 32768 more timers. Returns NULL without address space or loop. Called once, by daemon.c;
 * ev_loop_destroy() ends the loop, but the address space stays reserved.
 */
struct ev_loop *pvmd_loop_new(void);

#endif
