/* mbox.h - the mailbox, for uses inside the library. */
#ifndef PVMI_MBOX_H
#define PVMI_MBOX_H

#include "core/message/message.h"

/* Puts an entry that holds our tid: index or an error. */
int pvmi_mbox_announce(const char *name, int flags);

/* Puts an entry with the body of m, or gets one as a message with the caller's reference: index or an error. */
int pvmi_mbox_put(const char *name, int flags, const struct pvmc_message *m);
int pvmi_mbox_get(const char *name, int index, int flags, struct pvmc_message **m);

/* Removes an entry: index or an error. */
int pvmi_mbox_remove(const char *name, int index, int flags);

#endif
