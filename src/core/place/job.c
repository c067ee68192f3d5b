/* job.c - see job.h. */
#include "job.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"

enum { NAME_BYTES = 100 };

/* A job is one only if it also tells its hosts. */
static const struct {
    const char *name, *id, *hosts[2];
} kinds[] = {
    [PVMC_JOB_SLURM] = {"slurm", "SLURM_JOB_ID", {"SLURM_JOB_NODELIST"}},
    [PVMC_JOB_PBS] = {"pbs", "PBS_JOBID", {"PBS_NODEFILE"}},
    [PVMC_JOB_LSF] = {"lsf", "LSB_JOBID", {"LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS"}},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_set(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value && *value;
}

static bool runs_in(int kind)
{
    return is_set(kinds[kind].id) && (is_set(kinds[kind].hosts[0]) || is_set(kinds[kind].hosts[1]));
}

enum pvmc_job_kind pvmc_job_kind(void)
{
    const char *wanted = pvmc_config_text(PVMC_SETTING_SCHEDULER);
    bool any = !strcmp(wanted, "auto");
    for (int kind = PVMC_JOB_NONE + 1; kind < KINDS; kind++)
        if ((any || !strcmp(wanted, kinds[kind].name)) && runs_in(kind))
            return (enum pvmc_job_kind)kind;
    return PVMC_JOB_NONE;
}

const char *pvmc_job_name(void)
{
    static _Thread_local char name[NAME_BYTES];
    enum pvmc_job_kind kind = pvmc_job_kind();
    const char *array = kind == PVMC_JOB_LSF ? getenv("LSB_JOBINDEX") : NULL;
    if (kind == PVMC_JOB_NONE)
        return "";
    bool is_array = array && *array && strcmp(array, "0") != 0;
    snprintf(name, sizeof name, "%s.%.60s%s%.20s", kinds[kind].name, getenv(kinds[kind].id), is_array ? "." : "",
             is_array ? array : "");
    for (char *at = name; *at; at++)
        if (*at == '/' || !isgraph((unsigned char)*at))
            *at = '_';
    return name;
}
