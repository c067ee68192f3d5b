/* election.c - see election.h. */
#include "election.h"
#include <ev.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/log.h"
#include "delay.h"
#include "pvmd/base/hosts.h"
#include "pvmd/base/self.h"

#define FEW_MEMBERS 64 /* times grow with the number of members above these, since a candidate connects to all */

static struct pvmd_quorum *quorum;
static ev_timer next_campaign, limit;
static double retry_s;
static void (*give_up)(void);

static void campaign_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)events;
    ev_timer_stop(loop, w);
    ev_timer_set(w, retry_s * (1 + drand48()), 0.);
    ev_timer_start(loop, w); /* before the campaign, which may end the election */
    pvmd_quorum_campaign(quorum);
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)w, (void)events;
    give_up();
}

static size_t member_count(void)
{
    size_t count;
    pvmd_host_list(&count);
    return count;
}

/* `time_s`, or more if there are many members. */
static double longer(double time_s)
{
    size_t count = member_count();
    return count > FEW_MEMBERS ? time_s * (double)count / FEW_MEMBERS : time_s;
}

/* Before our first campaign: by our place among the members, in order of their hosts. */
static double delay_s(double limit_s)
{
    size_t count;
    struct pvmd_host **members = pvmd_host_list(&count);
    unsigned before = 0;
    for (size_t i = 0; i < count && members[i] != pvmd_host_self(); i++)
        before += !members[i]->lost;
    return pvmd_delay_s(before, count, limit_s, pvmd_host_self()->draining);
}

void pvmd_election_begin(struct pvmd_quorum *q, double retry, double notice_s, double election_s, bool returns,
                         void (*given_up)(void))
{
    double limit_s = notice_s + longer(election_s);
    quorum = q;
    retry_s = longer(retry);
    give_up = given_up;
    srand48((long)(pvmc_clock_us() ^ getpid()));
    double first_s = returns ? pvmd_delay_s(0, 1, limit_s, false) : delay_s(limit_s);
    ev_timer_init(&next_campaign, campaign_event, first_s, 0.);
    ev_timer_start(pvmd.loop, &next_campaign);
    ev_timer_init(&limit, limit_event, limit_s, 0.);
    ev_timer_start(pvmd.loop, &limit);
}

void pvmd_election_end(void)
{
    if (!quorum)
        return;
    ev_timer_stop(pvmd.loop, &next_campaign);
    ev_timer_stop(pvmd.loop, &limit);
    quorum = NULL;
}

bool pvmd_election_is_on(void)
{
    return quorum != NULL;
}
