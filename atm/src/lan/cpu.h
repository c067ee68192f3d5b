/*
 * cpu.h - the processor of a simulated host: what protocols cost is time on it. Interrupts go before processes and
 * suspend them; within either level work is done in the order in which it came.
 */
#ifndef PVMA_CPU_H
#define PVMA_CPU_H

#include "../sim.h"

enum pvma_cpu_level { PVMA_CPU_INTERRUPT, PVMA_CPU_PROCESS, PVMA_CPU_LEVELS };

/* Called when the work that was asked for is done. */
typedef void pvma_cpu_done(void *arg);

struct pvma_cpu_work;

struct pvma_cpu {
    struct pvma_sim *sim;
    struct pvma_cpu_work *first[PVMA_CPU_LEVELS], **last[PVMA_CPU_LEVELS];
    struct pvma_cpu_work *running;
    enum pvma_cpu_level level;     /* of what runs */
    pvma_ps since;                 /* since when */
    struct pvma_event finish;      /* of what runs */
    pvma_ps busy[PVMA_CPU_LEVELS]; /* work done so far */
};

/* An idle processor in the simulation's time. pvma_cpu_clear() it before the memory goes. */
void pvma_cpu_init(struct pvma_cpu *cpu, struct pvma_sim *sim);

/* Forgets all work that is not done. */
void pvma_cpu_clear(struct pvma_cpu *cpu);

/* Does `cost` of work at that level, then calls done(arg), which may ask for more. From events and fibers. */
void pvma_cpu_run(struct pvma_cpu *cpu, enum pvma_cpu_level level, pvma_ps cost, pvma_cpu_done *done, void *arg);

/* The same for the calling fiber's own program, which goes on when the work is done. */
void pvma_cpu_use(struct pvma_cpu *cpu, pvma_ps cost);

#endif
