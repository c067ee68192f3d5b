/*
 * cpu.h - the processor of a simulated host: protocols cost time on it. Interrupts preempt processes; within either
 * level, work is done in the order of its arrival.
 */
#ifndef PVMA_CPU_H
#define PVMA_CPU_H

#include "base/sim.h"

enum pvma_cpu_level { PVMA_CPU_INTERRUPT, PVMA_CPU_PROCESS, PVMA_CPU_LEVELS };

/* Called when the requested work is done. */
typedef void pvma_cpu_done(void *arg);

struct pvma_cpu_work;

struct pvma_cpu {
    struct pvma_sim *sim;
    struct pvma_cpu_work *first[PVMA_CPU_LEVELS], **last[PVMA_CPU_LEVELS];
    struct pvma_cpu_work *running;
    enum pvma_cpu_level level;     /* of the running work */
    pvma_ps since;                 /* when it started */
    struct pvma_event finish;      /* of the running work */
    pvma_ps busy[PVMA_CPU_LEVELS]; /* work done so far */
};

/* Initialises an idle processor. Call pvma_cpu_clear() before freeing its memory. */
void pvma_cpu_init(struct pvma_cpu *cpu, struct pvma_sim *sim);

/* Discards all unfinished work. */
void pvma_cpu_clear(struct pvma_cpu *cpu);

/* Does `cost` of work at a level, then calls done(arg), which may request more. From events and fibers. */
void pvma_cpu_run(struct pvma_cpu *cpu, enum pvma_cpu_level level, pvma_ps cost, pvma_cpu_done *done, void *arg);

/* The same for the calling fiber, which continues when the work is done. */
void pvma_cpu_use(struct pvma_cpu *cpu, pvma_ps cost);

#endif
