/*
 * interfaces.h - this host's interfaces and their addresses, and the user's choice among them.
 */
#ifndef PVMW_INTERFACES_H
#define PVMW_INTERFACES_H

#include <net/if.h>
#include "address.h"

#define PVMW_INTERFACES_MAX 64 /* limit of addresses of this host */

/* An address of an interface that is up. */
struct pvmw_interface {
    union pvmw_address address; /* port 0 */
    unsigned prefix;            /* length of the subnet's prefix in bits; 0: unknown */
    char name[IF_NAMESIZE];
};

/*
 * Fills in this host's addresses that `choice` allows: names of interfaces and addresses, separated by commas; "": all.
 * Returns their number or a PVMC_E code: PVMC_ENOTFOUND when there are addresses but the choice allows none of them.
 */
int pvmw_interfaces(const char *choice, struct pvmw_interface out[PVMW_INTERFACES_MAX]);

/* Whether the address lies in the interface's subnet. */
bool pvmw_interface_reaches(const struct pvmw_interface *own, const union pvmw_address *a);

#endif
