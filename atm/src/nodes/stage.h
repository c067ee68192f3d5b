/*
 * stage.h - a server that does jobs one by one, in the order given: a host's processor, an adapter's processor, a
 * switch's control processor.
 */
#ifndef PVMA_STAGE_H
#define PVMA_STAGE_H

#include "base/sim.h"

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
};

void pvma_stage_init(struct pvma_stage *stage, struct pvma_sim *sim);

/*
 * Queues a job of duration `cost`. When it is finished, job->done(job) is called and the job is the caller's again.
 * Even a job of cost 0 finishes in an event, never in this call.
 */
void pvma_stage_put(struct pvma_stage *stage, struct pvma_job *job, pvma_ps cost);

/* When a job queued now would begin. */
pvma_ps pvma_stage_free_at(const struct pvma_stage *stage);

#endif
