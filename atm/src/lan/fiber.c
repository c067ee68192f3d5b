/* fiber.c - see fiber.h. Stacks are mapped, so untouched pages cost nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "base/sim.h"
#include "fiber.h"

enum { STACK_BYTES = 256 << 10 };

struct pvma_fiber {
    ucontext_t own, caller;
    pvma_fiber_main *main;
    void *arg;
    void *stack;
    bool ended;
};

static struct pvma_fiber *current;

/* makecontext() passes only ints, so the new fiber is found as the current one. */
static void begin(void)
{
    struct pvma_fiber *f = current;

    f->main(f->arg);
    f->ended = true;
}

static void prepare(struct pvma_fiber *f)
{
    getcontext(&f->own);
    f->own.uc_stack.ss_sp = f->stack;
    f->own.uc_stack.ss_size = STACK_BYTES;
    f->own.uc_link = &f->caller;
    makecontext(&f->own, begin, 0);
}

struct pvma_fiber *pvma_fiber_new(pvma_fiber_main *main, void *arg)
{
    struct pvma_fiber *f = pvma_new(sizeof *f);

    f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) {
        free(f);
        return NULL;
    }
    f->main = main;
    f->arg = arg;
    prepare(f);
    return f;
}

void pvma_fiber_free(struct pvma_fiber *f)
{
    if (!f)
        return;
    munmap(f->stack, STACK_BYTES);
    free(f);
}

struct pvma_fiber *pvma_fiber_current(void)
{
    return current;
}

void pvma_fiber_pause(void)
{
    struct pvma_fiber *f = current;

    swapcontext(&f->own, &f->caller);
}

void pvma_fiber_resume(struct pvma_fiber *f)
{
    struct pvma_fiber *before = current;

    if (f->ended)
        return;
    current = f;
    swapcontext(&f->caller, &f->own);
    current = before;
}
