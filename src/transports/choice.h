/*
 * choice.h - PVM_TRANSPORT: which transports a task may use for direct links to other tasks, and in which order.
 *
 *   auto          all that are usable here, ordered by their attributes, but for those that want to be named
 *   daemon        none: all messages take the daemons
 *   shm,tcp       these, in this order; "auto" in a list stands for all others, "daemon" ends it
 *   ^tcp          all but this one; also in a list
 */
#ifndef PVMI_CHOICE_H
#define PVMI_CHOICE_H

#include "transport.h"

#define PVMI_CHOICE_MAX 16

struct pvmi_choice {
    const struct pvmi_transport_ops *ops[PVMI_CHOICE_MAX]; /* best first */
    unsigned count;
};

/*
 * Whether a transport can be a route between tasks here: 0, or a PVMI_E code with the reason in why[size]. For the list
 * of pvm-info, too.
 */
int pvmi_choice_usable(const struct pvmi_transport_row *row, char *why, size_t size);

/*
 * Reads the text of PVM_TRANSPORT. 0; why is then "", or says which of the named ones are left out because they are not
 * usable here. PVMI_EPARAM: a name that nobody knows, or an order that makes no sense; why says what would be right.
 */
int pvmi_choice_parse(const char *text, struct pvmi_choice *out, char *why, size_t size);

#endif
