/* memory.c - see memory.h. Setting up TLS alone touches most of libcrypto's code once. */
#include "memory.h"
#include <ev.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/memory/mem.h"
#include "self.h"

#define TRIM_AFTER_S 1.

/* Drops read-only segments: a page that is used again comes back from the page cache at a minor fault. */
static void drop_segment(const ElfW(Phdr) * segment, uintptr_t base)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (base + segment->p_vaddr) & ~(page - 1), to = base + segment->p_vaddr + segment->p_memsz;
    if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
        madvise((void *)from, to - from, MADV_DONTNEED);
}

static int drop_code(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size, (void)arg;
    if (strncmp(object->dlpi_name, "linux-vdso", 10) != 0) /* the kernel's, not a file's */
        for (int i = 0; i < object->dlpi_phnum; i++)
            drop_segment(&object->dlpi_phdr[i], object->dlpi_addr);
    return 0;
}

static void trim(EV_P_ ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(EV_A_ timer);
    pvmc_mem_trim();
    malloc_trim(0);
    dl_iterate_phdr(drop_code, NULL);
}

void pvmd_trim_later(void)
{
    static ev_timer timer;
    if (!pvmd.loop)
        return;
    if (!ev_is_active(&timer))
        ev_init(&timer, trim);
    timer.repeat = TRIM_AFTER_S;
    ev_timer_again(pvmd.loop, &timer); /* starts it again if it runs already */
}
