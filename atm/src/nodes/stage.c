/* stage.c - a server with a queue. One event stands for the completion of the job at its head. */
#include "stage.h"
#include <string.h>

static void finish(struct pvma_event *event)
{
    struct pvma_stage *stage = PVMA_OF(event, struct pvma_stage, event);
    struct pvma_job *job = stage->head;
    stage->head = job->next;
    if (stage->head)
        pvma_sim_at(stage->sim, event, stage->head->due);
    else
        stage->tail = &stage->head;
    job->done(job);
}

void pvma_stage_init(struct pvma_stage *stage, struct pvma_sim *sim)
{
    memset(stage, 0, sizeof *stage);
    stage->sim = sim;
    stage->tail = &stage->head;
    pvma_event_init(&stage->event, PVMA_EVENT_STAGE, finish);
}

pvma_ps pvma_stage_free_at(const struct pvma_stage *stage)
{
    pvma_ps now = pvma_sim_now(stage->sim);
    return stage->busy_until > now ? stage->busy_until : now;
}

void pvma_stage_put(struct pvma_stage *stage, struct pvma_job *job, pvma_ps cost)
{
    job->due = stage->busy_until = pvma_stage_free_at(stage) + cost;
    job->next = NULL;
    if (!stage->head)
        pvma_sim_at(stage->sim, &stage->event, job->due);
    *stage->tail = job;
    stage->tail = &job->next;
}
