/* local.c - what both ends of a channel use: its memory, its name, and the check of the peer's user. */
#include "local.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/error.h"
#include "core/memory/memfd.h"

#define CELLS_BYTES ((size_t)PVMW_CELL_BYTES << DPI_LOCAL_SHIFT)
#define AREA_BYTES  65536 /* a multiple of every page size */
#define SEALS       (F_SEAL_SHRINK | F_SEAL_GROW)

int dpi_local_memory(void)
{
    int fd = memfd_create("dp-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return PVMC_ESYSTEM;
    if (!ftruncate(fd, AREA_BYTES + CELLS_BYTES) && !fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL))
        return fd;
    close(fd);
    return PVMC_ESYSTEM;
}

int dpi_local_map(int fd, struct dpi_local_map *m)
{
    if (!pvmc_memfd_is_sound(fd, AREA_BYTES + CELLS_BYTES))
        return PVMC_EFORMAT;
    const int rights = PROT_READ | PROT_WRITE;
    uint8_t *all = mmap(NULL, AREA_BYTES + 2 * CELLS_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return PVMC_ENOMEM;
    *m = (struct dpi_local_map){(struct dpi_local_area *)all, all + AREA_BYTES};
    uint8_t *again = m->cells + CELLS_BYTES;
    if (mmap(all, AREA_BYTES + CELLS_BYTES, rights, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED &&
        mmap(again, CELLS_BYTES, rights, MAP_SHARED | MAP_FIXED, fd, AREA_BYTES) != MAP_FAILED)
        return 0;
    dpi_local_unmap(m);
    return PVMC_ENOMEM;
}

void dpi_local_unmap(struct dpi_local_map *m)
{
    if (m->area)
        munmap(m->area, AREA_BYTES + 2 * CELLS_BYTES);
    m->area = NULL;
}

unsigned dpi_local_name(const struct dpi_endpoint *e, struct dpi_point point, struct sockaddr_un *name)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "dp/%04x/%u/%u", e->port.ethertype, point.node,
                          point.point);
    return (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

bool dpi_local_is_trusted(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
        return false;
    return peer.uid == geteuid() || !peer.uid || !geteuid();
}
