/* gauges.c - see gauges.h. */
#include "gauges.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct pvmc_gauges) <= PVMC_GAUGES_BYTES, "the gauges fit their page");

static struct pvmc_gauges unseen;
struct pvmc_gauges *pvmi_gauges = &unseen;

static struct pvmc_gauges *map(int fd)
{
    if (ftruncate(fd, PVMC_GAUGES_BYTES) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        return NULL;
    void *page = mmap(NULL, PVMC_GAUGES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

int pvmi_gauges_open(void)
{
    pvmi_gauges_close();
    int fd = memfd_create("pvm-gauges", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct pvmc_gauges *page = fd >= 0 ? map(fd) : NULL;
    if (page) {
        pvmi_gauges = page;
    } else if (fd >= 0) {
        close(fd);
        fd = -1;
    }
    pvmi_gauges->version = PVMC_GAUGES_VERSION;
    return fd;
}

void pvmi_gauges_close(void)
{
    if (pvmi_gauges != &unseen)
        munmap(pvmi_gauges, PVMC_GAUGES_BYTES);
    pvmi_gauges = &unseen;
    memset(&unseen, 0, sizeof unseen);
}

struct pvmc_gauges_route *pvmi_gauges_route(const char *transport)
{
    for (unsigned i = 0; transport && i < PVMC_GAUGES_ROUTE_COUNT; i++)
        if (!strcmp(transport, pvmc_gauges_route_names[i]))
            return &pvmi_gauges->routes[i];
    return &pvmi_gauges->routes[transport ? PVMC_GAUGES_other : PVMC_GAUGES_daemon];
}
