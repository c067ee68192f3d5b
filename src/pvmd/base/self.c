/* self.c - see self.h. */
#include "self.h"
#include "core/log.h"
#include "events.h"

struct pvmd_daemon pvmd;

void pvmd_end(int exit_code, const char *why)
{
    if (pvmd.ending)
        return;
    pvmc_log(PVMC_LOG_INFO, "ending: %s", why);
    pvmd.ending = true;
    pvmd.exit_code = exit_code;
    pvmd_tell_daemon_ends();
    ev_break(pvmd.loop, EVBREAK_ALL);
}
