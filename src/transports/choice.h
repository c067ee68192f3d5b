/*
 * choice.h - PVM_TRANSPORT: which transports a task may use for direct links to other tasks, and in which order.
 *
 *   auto          all that are usable here, ordered by their attributes, except those used by name only
 *   daemon        none: all messages take the daemons
 *   shm,tcp       these, in this order; "auto" in a list stands for all others, "daemon" ends it
 *   ^tcp          all but this one; also in a list
 */
#ifndef PVMT_CHOICE_H
#define PVMT_CHOICE_H

#include "transport.h"

#define PVMT_CHOICE_MAX 16

struct pvmt_choice {
    const struct pvmt_transport_ops *ops[PVMT_CHOICE_MAX]; /* best first */
    unsigned count;
};

/*
 * Whether a transport can be a route between tasks here: 0, or a PVMC_E code with the reason in why[size]. For the list
 * of pvm-info, too.
 */
int pvmt_choice_usable(const struct pvmt_transport_row *row, char *why, size_t size);

/*
 * Parses PVM_TRANSPORT. 0; why is then "", or says which of the named transports are left out because they are not
 * usable here. PVMC_EPARAM: an unknown name or a senseless order; why says how to correct it.
 */
int pvmt_choice_parse(const char *text, struct pvmt_choice *out, char *why, size_t size);

/*
 * The same for a process that opens no links, such as the daemon: no transport is asked, and no device is looked for.
 * 0, or PVMC_EPARAM with the reason in why[size].
 */
int pvmt_choice_check(const char *text, char *why, size_t size);

#endif
