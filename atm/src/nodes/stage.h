/*
 * stage.h - something that does one job after the other, in the order given: a host's processor, an adapter's, a
 * switch's control processor.
 */
#ifndef PVMA_STAGE_H
#define PVMA_STAGE_H

#include "sim.h"

struct pvma_job {
    struct pvma_job *next;
    pvma_ps due;
    void (*done)(struct pvma_job *job);
};

struct pvma_stage {
    struct pvma_sim *sim;
    struct pvma_event event;
    struct pvma_job *head, **tail;
    pvma_ps busy_until;
    pvma_ps busy_total; /* time spent on jobs, for utilisation */
};

void pvma_stage_init(struct pvma_stage *stage, struct pvma_sim *sim);

/*
 * Queues a job that takes `cost` once those before it are done; then job->done(job) is called, and the job is the
 * caller's again. Even a job of cost 0 is done from an event, never from this call.
 */
void pvma_stage_put(struct pvma_stage *stage, struct pvma_job *job, pvma_ps cost);

/* When a job put now would begin. */
pvma_ps pvma_stage_free_at(const struct pvma_stage *stage);

#endif
