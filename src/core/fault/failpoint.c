/* failpoint.c - see failpoint.h. */
#include "failpoint.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "plan.h"

const struct pvmc_failpoint_row pvmc_failpoint_table[PVMC_FAILPOINT_COUNT] = {
#define X(id, name, can_fail, help) {name, can_fail, help},
    PVMC_FAILPOINTS(X)
#undef X
};

bool pvmc_failpoint_any;

static struct pvmc_fault_plan plan;
static uint64_t passes[PVMC_FAILPOINT_COUNT][2]; /* before the step, and after it */
static uint64_t random_state;
static bool busy; /* in pvmc_failpoint_pass(): what it logs passes no failpoint */

/* Those of the daemons have no place in the group server, and the other way round. */
static bool is_ours(const struct pvmc_fault_point *p, const char *host)
{
    bool of_groups = !strncmp(pvmc_failpoint_table[p->which].name, "group.", 6);
    return of_groups == !host && (!*p->host || (host && !strcasecmp(p->host, host)));
}

void pvmc_failpoint_stop(void)
{
    pvmc_failpoint_any = false;
    memset(passes, 0, sizeof passes);
}

void pvmc_failpoint_start(const char *host)
{
    char why[PVMC_FAULT_WHY];
    const char *text = pvmc_config_text(PVMC_SETTING_FAULT);
    pvmc_failpoint_stop();
    if (pvmc_fault_plan_read(&plan, text, why, sizeof why)) {
        pvmc_log(PVMC_LOG_ERROR, "PVM_FAULT is not usable and ignored: %s", why);
        return;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < plan.point_count; i++)
        if (is_ours(&plan.points[i], host))
            plan.points[kept++] = plan.points[i];
    plan.point_count = kept;
    pvmc_failpoint_any = kept;
    random_state = pvmc_fault_random_start(plan.seed);
    if (kept)
        pvmc_log(PVMC_LOG_WARNING, "steps fail on purpose: PVM_FAULT=%s", text);
}

static bool is_due(const struct pvmc_fault_point *p, uint64_t pass)
{
    if (p->millionths)
        return pvmc_fault_random(&random_state) % PVMC_FAULT_CERTAIN < p->millionths;
    return pass >= p->first && (!p->last || pass <= p->last);
}

static void wait_us(int64_t us)
{
    struct timespec left = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    while (nanosleep(&left, &left) && errno == EINTR)
        continue;
}

static int act(const struct pvmc_fault_point *p, uint64_t pass)
{
    static const char *const words[] = {
        [PVMC_FAULT_CRASH] = "crash", [PVMC_FAULT_ERROR] = "error", [PVMC_FAULT_DELAY] = "delay"};
    pvmc_log(PVMC_LOG_WARNING, "failpoint %s%s, pass %" PRIu64 ": %s", pvmc_failpoint_table[p->which].name,
             p->done ? PVMC_FAILPOINT_DONE : "", pass, words[p->action]);
    if (p->action == PVMC_FAULT_CRASH)
        raise(SIGKILL); /* as when the machine loses power: no handler, no last words */
    if (p->action == PVMC_FAULT_DELAY)
        wait_us(p->delay_us);
    if (p->action != PVMC_FAULT_ERROR)
        return 0;
    errno = EIO;
    return PVMC_ESYSTEM;
}

int pvmc_failpoint_pass(enum pvmc_failpoint which, bool done)
{
    int rc = 0, error = errno;
    if (busy)
        return 0;
    busy = true;
    uint64_t pass = ++passes[which][done];
    for (unsigned i = 0; i < plan.point_count && !rc; i++)
        if (plan.points[i].which == which && plan.points[i].done == done && is_due(&plan.points[i], pass))
            rc = act(&plan.points[i], pass);
    busy = false;
    errno = rc ? EIO : error;
    return rc;
}
