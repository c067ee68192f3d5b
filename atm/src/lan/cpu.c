/* cpu.c - see cpu.h. */
#include <stdlib.h>
#include "cpu.h"
#include "fiber.h"

struct pvma_cpu_work {
    struct pvma_cpu_work *next;
    pvma_ps left;
    pvma_cpu_done *done;
    void *arg;
};

static void start_next(struct pvma_cpu *cpu);

static struct pvma_cpu_work *take_first(struct pvma_cpu *cpu, enum pvma_cpu_level level)
{
    struct pvma_cpu_work *work = cpu->first[level];

    cpu->first[level] = work->next;
    if (!work->next)
        cpu->last[level] = &cpu->first[level];
    return work;
}

static void finished(struct pvma_event *event)
{
    struct pvma_cpu *cpu = PVMA_OF(event, struct pvma_cpu, finish);
    struct pvma_cpu_work *work = cpu->running;

    cpu->busy[cpu->level] += work->left;
    cpu->running = NULL;
    start_next(cpu); /* before done(), so that new work queues behind the next item */
    work->done(work->arg);
    free(work);
}

static void start_next(struct pvma_cpu *cpu)
{
    enum pvma_cpu_level level = cpu->first[PVMA_CPU_INTERRUPT] ? PVMA_CPU_INTERRUPT : PVMA_CPU_PROCESS;

    if (!cpu->first[level])
        return;
    cpu->running = take_first(cpu, level);
    cpu->level = level;
    cpu->since = pvma_sim_now(cpu->sim);
    pvma_sim_after(cpu->sim, &cpu->finish, cpu->running->left);
}

/* Returns the running process to the front of its queue, with the rest of its work. */
static void suspend(struct pvma_cpu *cpu)
{
    struct pvma_cpu_work *work = cpu->running;
    pvma_ps done = pvma_sim_now(cpu->sim) - cpu->since;

    pvma_sim_cancel(cpu->sim, &cpu->finish);
    work->left -= done;
    cpu->busy[PVMA_CPU_PROCESS] += done;
    work->next = cpu->first[PVMA_CPU_PROCESS];
    if (!work->next)
        cpu->last[PVMA_CPU_PROCESS] = &work->next;
    cpu->first[PVMA_CPU_PROCESS] = work;
    cpu->running = NULL;
}

void pvma_cpu_init(struct pvma_cpu *cpu, struct pvma_sim *sim)
{
    *cpu = (struct pvma_cpu){.sim = sim};
    for (int level = 0; level < PVMA_CPU_LEVELS; level++)
        cpu->last[level] = &cpu->first[level];
    pvma_event_init(&cpu->finish, PVMA_EVENT_USER, finished);
}

void pvma_cpu_clear(struct pvma_cpu *cpu)
{
    for (int level = 0; level < PVMA_CPU_LEVELS; level++)
        while (cpu->first[level])
            free(take_first(cpu, level));
    free(cpu->running);
    cpu->running = NULL;
    pvma_sim_cancel(cpu->sim, &cpu->finish);
}

void pvma_cpu_run(struct pvma_cpu *cpu, enum pvma_cpu_level level, pvma_ps cost, pvma_cpu_done *done, void *arg)
{
    struct pvma_cpu_work *work = pvma_new(sizeof *work);

    *work = (struct pvma_cpu_work){NULL, cost, done, arg};
    *cpu->last[level] = work;
    cpu->last[level] = &work->next;
    if (cpu->running && cpu->level == PVMA_CPU_PROCESS && level == PVMA_CPU_INTERRUPT)
        suspend(cpu);
    if (!cpu->running)
        start_next(cpu);
}

static void resume(void *arg)
{
    pvma_fiber_resume(arg);
}

void pvma_cpu_use(struct pvma_cpu *cpu, pvma_ps cost)
{
    pvma_cpu_run(cpu, PVMA_CPU_PROCESS, cost, resume, pvma_fiber_current());
    pvma_fiber_pause();
}
