/* scheduler.c - see scheduler.h. */
#include "scheduler.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/commands/diagnose.h"
#include "console/console.h"
#include "core/place/job.h"
#include "core/visible.h"
#include "kinds.h"

static const struct scheduler *const kinds[] = {
    [PVMC_JOB_SLURM] = &scheduler_slurm, [PVMC_JOB_PBS] = &scheduler_pbs, [PVMC_JOB_LSF] = &scheduler_lsf};

/* The job whose hosts the machine takes. */
static struct {
    const struct scheduler *kind; /* NULL: none */
    struct nodes nodes;
    int own;
} job;

void fault_set(struct fault *fault, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
}

int scheduler_own_by_name(const struct nodes *nodes)
{
    char name[256] = "";

    gethostname(name, sizeof(name) - 1);
    for (int i = 0; i < nodes->count; i++)
        if (node_is(nodes->all[i].name, name))
            return i;
    return -1;
}

/* ---- with the daemons' own launchers ---- */

/* "name sl=4 so=rsh" for each node but our own. NULL: out of memory. */
static char **host_lines(const struct nodes *nodes, int own, const char *options)
{
    char **lines = calloc((size_t)nodes->count + 1, sizeof(*lines));
    int n = 0;

    for (int i = 0; i < nodes->count && lines != NULL; i++)
        if (i != own && asprintf(&lines[n++], "%s sl=%d %s", nodes->all[i].name, nodes->all[i].slots, options) < 0)
            lines[--n] = NULL;
    return lines;
}

bool scheduler_add_hosts(const struct nodes *nodes, int own, const char *options)
{
    char **lines = host_lines(nodes, own, options);
    int n = nodes->count - (own >= 0);
    int *status = calloc((size_t)n + 1, sizeof(*status));
    bool good = lines != NULL && status != NULL && (n == 0 || lines[n - 1] != NULL);

    if (!good)
        advise("pvm: out of memory");
    if (good && n > 0) {
        struct log_mark *mark = diagnose_begin();
        int done = diagnose_addhosts(lines, n, status);
        for (int i = 0; i < n && done < 0; i++)
            status[i] = done;
        good = done == n;
        for (int i = 0; i < n; i++)
            if (status[i] < 0)
                advise("pvm: %s: %s", lines[i], error_text(status[i]));
        diagnose_failed(lines, status, n, mark);
        diagnose_end(mark);
    }
    for (int i = 0; i < n && lines != NULL; i++)
        free(lines[i]);
    free(lines);
    free(status);
    return good;
}

/* ---- the job ---- */

bool scheduler_is_there(void)
{
    return pvmc_job_kind() != PVMC_JOB_NONE;
}

/* A host that is none of the job's, such as a login node, gets no tasks unless they name it. */
static void set_slots(void)
{
    char slots[16];

    snprintf(slots, sizeof(slots), "%d", job.own < 0 ? 0 : job.nodes.all[job.own].slots);
    setenv("PVM_SLOTS", slots, 0);
    setenv("PVMDLOGMAX", "0", 0); /* a log for each job would remain on each host */
}

bool scheduler_prepare(void)
{
    struct fault fault = {""};

    if (!scheduler_is_there())
        return true;
    job.kind = kinds[pvmc_job_kind()];
    nodes_free(&job.nodes);
    if (!job.kind->read(&job.nodes, &fault)) {
        advise("pvm: cannot take the hosts of job %s: %s", pvmc_job_name(), PVMC_VISIBLE(fault.text));
        advise("pvm: PVM_SCHEDULER=none starts a virtual machine on this host alone");
        job.kind = NULL;
        return false;
    }
    job.own = job.kind->own(&job.nodes);
    set_slots();
    return true;
}

bool scheduler_take(void)
{
    bool good = job.kind == NULL || job.kind->take(&job.nodes, job.own);

    job.kind = NULL;
    nodes_free(&job.nodes);
    return good;
}
