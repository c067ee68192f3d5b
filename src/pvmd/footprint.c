/* footprint.c - gives resident code back. */
#include "footprint.h"
#include <ev.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include "daemon.h"

#define SETTLE_S 0.2

static ev_timer timer;

/* Segments that nothing writes to are the page cache's: dropping them costs a minor fault for each page used again. */
static int drop_object(struct dl_phdr_info *object, size_t size, void *page_bytes)
{
    uintptr_t page = *(const uintptr_t *)page_bytes;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & -page;
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

static void drop(struct ev_loop *loop, ev_timer *w, int events)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)loop, (void)w, (void)events;
    dl_iterate_phdr(drop_object, &page);
}

void pvmd_footprint_settle(void)
{
    ev_timer_stop(pvmd.loop, &timer);
    ev_timer_init(&timer, drop, SETTLE_S, 0.);
    ev_timer_start(pvmd.loop, &timer);
}

void pvmd_footprint_stop(void)
{
    ev_timer_stop(pvmd.loop, &timer);
}
