#include "session.h"
#include "group.h"
#include "gserver.h"
#include "name.h"
#include "pvm3.h"
#include "traffic.h"

enum { DEPTH_MAX = 8 };

static int running; /* calls, one inside the other */

int pvmi_session_depth(void)
{
    return running - 1;
}

/* All we know is of one enrolment: after pvm_exit() the task is another one. */
static int check_identity(void)
{
    static int known;
    int tid = pvm_mytid();

    if (tid < 0 || tid == known)
        return tid;
    if (known) {
        pvmi_traffic_restart();
        pvmi_group_forget_all();
        pvmi_gserver_forget();
    }
    known = tid;
    return tid;
}

int pvmi_session_begin(struct pvmi_guard *guard, const char *group, int alone)
{
    int code = pvmi_name_check(group);

    running++;
    pvmi_guard_enter(guard, PVMI_GROUP_CTX_SERVER);
    if (code >= 0 && running > (alone ? 1 : DEPTH_MAX))
        code = PvmAlready;
    if (code >= 0)
        code = check_identity();
    return code < 0 ? code : pvmi_traffic_start();
}

int pvmi_session_end(struct pvmi_guard *guard, int code)
{
    running--;
    pvmi_guard_leave(guard);
    return pvmi_guard_result(code);
}
