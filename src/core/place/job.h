/* job.h - the job of a batch system that this process runs in. A job has a virtual machine of its own. */
#ifndef PVMC_JOB_H
#define PVMC_JOB_H

enum pvmc_job_kind { PVMC_JOB_NONE, PVMC_JOB_SLURM, PVMC_JOB_PBS, PVMC_JOB_LSF };

/* What the environment shows, or what PVM_SCHEDULER says instead. */
enum pvmc_job_kind pvmc_job_kind(void);

/* The default of PVM_VMID: "slurm.4711", or "" outside of jobs. Static storage. */
const char *pvmc_job_name(void);

#endif
