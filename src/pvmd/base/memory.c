/*
 * memory.c - see memory.h. Besides freed memory: pages of code. Setting up TLS touches most of libcrypto once, which
 * would stay resident in every daemon of a large machine; what is needed again comes back from the page cache.
 */
#include "memory.h"
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../core/mem.h"

/* Only what is never written to, so that its pages are those of the file. */
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

void pvmd_memory_trim(void)
{
    pvmi_mem_trim();
    malloc_trim(0);
    dl_iterate_phdr(drop_code, NULL);
}
