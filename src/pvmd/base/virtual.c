/* virtual.c - see virtual.h. */
#include "virtual.h"
#include <stddef.h>

static const struct pvmd_virtual *virtual;

void pvmd_virtual_set(const struct pvmd_virtual *v)
{
    virtual = v;
}

bool pvmd_virtual_is_watched(void)
{
    return virtual && virtual->is_watched();
}

void pvmd_virtual_tell(void)
{
    if (virtual)
        virtual->tell();
}

void pvmd_virtual_expect(pid_t pid)
{
    if (virtual)
        virtual->expect(pid);
}

void pvmd_virtual_hold(void)
{
    if (virtual)
        virtual->hold();
}

void pvmd_virtual_release(void)
{
    if (virtual)
        virtual->release();
}
