/*
 * loop.h - the memory of the daemon's event loop. libev ends the process when one of its tables cannot grow. So its
 * tables get address space of their own before the loop is made: each grows in place, and needs no memory of malloc().
 */
#ifndef PVMD_LOOP_H
#define PVMD_LOOP_H

#include <ev.h>

#define PVMD_DESCRIPTORS_MAX (1 << 18) /* of this process: bounds the tables that libev keeps by descriptor */

/*
 * The loop, with tables for as many descriptors as the process may have (RLIMIT_NOFILE, which must not be raised
 * afterwards) and 32768 timers besides. NULL: there is no address space, or no loop. Called once, by daemon.c;
 * ev_loop_destroy() ends the loop, the address space stays.
 */
struct ev_loop *pvmd_loop_new(void);

#endif
