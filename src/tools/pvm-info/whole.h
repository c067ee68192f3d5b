/*
 * whole.h - lets a program receive messages only when they are whole. A task could else keep it waiting for ever in the
 * middle of one (pvm_initsendto(3)).
 */
#ifndef PVM_WHOLE_H
#define PVM_WHOLE_H

#include "pvm3.h"

/* The function that selects among whole messages. */
static int (*whole_selects)(int mid, int tid, int tag);

/* Match functions see whole messages only. */
static int whole_match(int mid, int tid, int tag)
{
    return whole_selects(mid, tid, tag);
}

/* From now on, or until whole_end(). Does not nest within one source file. */
static inline void whole_begin(void)
{
    whole_selects = pvm_recvf(whole_match);
}

static inline void whole_end(void)
{
    pvm_recvf(whole_selects);
}

#endif
