/*
 * interface.h - the Ethernet interfaces of this host (network namespace).
 */
#ifndef DPI_DP_INTERFACE_H
#define DPI_DP_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

struct dpi_interface {
    char name[16];
    int index; /* 0: there is no such interface */
    uint8_t hardware[6];
    int mtu; /* bytes of a frame after the Ethernet header */
    bool loopback;
};

/*
 * The interface of that name, NULL: the first that is Ethernet, up, and not the loopback. PVMC_ENOTFOUND: there is
 * none; PVMC_EUNSUPPORTED: not Ethernet, or down; PVMC_EPARAM: no such name.
 */
int dpi_interface_find(const char *name, struct dpi_interface *out);

/*
 * Lists up to `most` interfaces that are up, can carry our frames and are named by `names` (separated by commas; "":
 * all). Returns their number. The loopback is included, for tasks of one host.
 */
int dpi_interfaces(const char *names, struct dpi_interface *out, int most);

/*
 * Shows every interface of the host, and each of `names` that is not an interface. why_not is NULL, or the reason why
 * dpi_interfaces() leaves it out.
 */
void dpi_interfaces_show(const char *names,
                         void (*show)(void *arg, const struct dpi_interface *interface, const char *why_not),
                         void *arg);

#endif
