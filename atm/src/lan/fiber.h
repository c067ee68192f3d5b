/*
 * fiber.h - a simulated process as straight-line code on a stack of its own, which pauses where a real process would
 * block. Everything happens in one thread; from resume to pause a fiber takes no virtual time.
 */
#ifndef PVMA_FIBER_H
#define PVMA_FIBER_H

#include <stdbool.h>

struct pvma_fiber;

/* A process's program. Its return ends the fiber, whose memory remains until pvma_fiber_free(). */
typedef void pvma_fiber_main(void *arg);

/* Creates a fiber that begins with its first resume; NULL: out of memory. Free it with pvma_fiber_free(). */
struct pvma_fiber *pvma_fiber_new(pvma_fiber_main *main, void *arg);

/* Frees a fiber, ended or not; whatever a paused program owns is leaked. Not from the fiber itself. */
void pvma_fiber_free(struct pvma_fiber *f);

/* The fiber that runs now; NULL in the event loop. */
struct pvma_fiber *pvma_fiber_current(void);

/* Pauses the calling fiber until pvma_fiber_resume(). */
void pvma_fiber_pause(void);

/* Runs a fiber until it pauses or ends. From an event, never from a fiber; no effect on an ended one. */
void pvma_fiber_resume(struct pvma_fiber *f);

#endif
