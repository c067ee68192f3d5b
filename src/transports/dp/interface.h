/*
 * interface.h - the Ethernet interfaces of this host (network namespace).
 */
#ifndef PVMI_DP_INTERFACE_H
#define PVMI_DP_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

struct pvmi_dp_interface {
    char name[16];
    int index; /* 0: there is no such interface */
    uint8_t hardware[6];
    int mtu; /* bytes of a frame behind the Ethernet header */
    bool loopback;
};

/*
 * The interface of that name, NULL: the first that is Ethernet, up and not the loopback. PVMI_ENOTFOUND: there is none;
 * PVMI_EUNSUPPORTED: not Ethernet, or down; PVMI_EPARAM: no such name.
 */
int pvmi_dp_interface_find(const char *name, struct pvmi_dp_interface *out);

/*
 * All interfaces that are up, can carry our frames and are named by `names` (a list with commas; "": every one), up to
 * `most`. Returns how many. The loopback is among them: tasks of one host meet there.
 */
int pvmi_dp_interfaces(const char *names, struct pvmi_dp_interface *out, int most);

/*
 * Shows every interface of the host, and names in `names` that are none; why_not is NULL, or says in words why
 * pvmi_dp_interfaces() leaves it out.
 */
void pvmi_dp_interfaces_show(const char *names,
                             void (*show)(void *arg, const struct pvmi_dp_interface *interface, const char *why_not),
                             void *arg);

#endif
