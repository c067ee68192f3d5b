/* collector.c - see collector.h. */
#include "collector.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "console.h"
#include "pvmtev.h"

enum { NAME_BYTES = 1200, TAG_DETACH = 3, LIMIT_MS = 10000, PAUSE_MS = 20 };

bool collector_wanted(void)
{
    const char *path = getenv("PVM_TRACE");

    return path != NULL && *path != '\0';
}

void collector_spare_console(void)
{
    Pvmtmask none;

    TEV_MASK_INIT(none);
    pvm_settmask(PvmTaskSelf, none);
}

void collector_trace_spawned(void)
{
    static const int options[] = {PvmTraceContext, PvmTraceCode, PvmTraceTid};
    static int usual[3];
    static bool known;

    for (int i = 0; !known && i < 3; i++)
        usual[i] = pvm_getopt(options[i]); /* of PVM_TRACE or of a registered tracer, set by libpvm at enrolment */
    known = true;
    for (int i = 0; i < 3; i++)
        pvm_setopt(options[i], usual[i]);
}

/* The collector's tid and the context of its messages; 0 when there is none. */
static int find(int *context)
{
    char entry[NAME_BYTES];
    struct pvmminfo about;

    snprintf(entry, sizeof(entry), "pvm-trace:%s", getenv("PVM_TRACE"));
    int mid = pvm_recvinfo(entry, 0, PvmMboxDefault);
    if (mid < 0 || pvm_getminfo(mid, &about) < 0 || pvm_upkint(context, 1, 1) < 0)
        return 0;
    return about.src;
}

void collector_await(void)
{
    int context, tid = collector_wanted() ? find(&context) : 0;

    if (tid <= 0)
        return;
    int old = pvm_setcontext(context);
    pvm_initsend(PvmDataDefault);
    pvm_send(tid, TAG_DETACH);
    pvm_setcontext(old);
    for (int waited_ms = 0; waited_ms < LIMIT_MS && pvm_pstat(tid) == PvmOk; waited_ms += PAUSE_MS)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
}
