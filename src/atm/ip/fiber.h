/*
 * fiber.h - a simulated process as straight-line code: it runs on a stack of its own, and pauses where a real one would
 * block. Everything happens in one thread; a fiber runs only from its resume to its next pause, in no virtual time.
 */
#ifndef PVMA_FIBER_H
#define PVMA_FIBER_H

#include <stdbool.h>

struct pvma_fiber;

/* A process's program. When it returns, the fiber has ended; its memory stays until pvma_fiber_free(). */
typedef void pvma_fiber_main(void *arg);

/* A fiber that begins with its first resume; NULL: out of memory. The caller frees it. */
struct pvma_fiber *pvma_fiber_new(pvma_fiber_main *main, void *arg);

/* Frees it whether or not it has ended; what a paused program owns by then is lost. Not from the fiber itself. */
void pvma_fiber_free(struct pvma_fiber *f);

/* The fiber that runs now; NULL in the event loop. */
struct pvma_fiber *pvma_fiber_current(void);

/* Gives the processor back until somebody resumes us. Called by a fiber only. */
void pvma_fiber_pause(void);

/* Runs the fiber until it pauses or ends. From an event, never from a fiber; one that has ended is left alone. */
void pvma_fiber_resume(struct pvma_fiber *f);

bool pvma_fiber_ended(const struct pvma_fiber *f);

#endif
