/* launchers.h - the table of launchers, and the choice among them. */
#ifndef PVMD_LAUNCHERS_H
#define PVMD_LAUNCHERS_H

#include <stdbool.h>
#include "launcher.h"

/* The table, in order of preference: the first that serves a host starts its daemon. */
#define PVMD_LAUNCHERS(X) X(join) X(hoster) X(local) X(rsh) X(password) X(ssh) X(manual)

#define X(name) extern const struct pvmd_launcher pvmd_launch_##name;
PVMD_LAUNCHERS(X)
#undef X

/* Fills in w->named, and returns the launcher for the host. NULL: PVM_LAUNCHER names none. */
const struct pvmd_launcher *pvmd_launcher_choose(struct pvmd_launch_wish *w);

/* Whether so=`text` is understood. */
bool pvmd_launcher_is_option(const char *text);

/* For messages: the names that PVM_LAUNCHER may have, or the words of so= and what they mean. Static storage. */
const char *pvmd_launcher_names(void);
const char *pvmd_launcher_options(void);

#endif
