/* manual.c - see manual.h. */
#include "manual.h"
#include <ev.h>
#include <stdlib.h>
#include <strings.h>
#include <utlist.h>
#include "core/log.h"
#include "pvmd/base/self.h"

struct slot {
    struct pvmd_host *host;
    ev_timer limit;
    struct slot *prev, *next;
};

static struct slot *slots;

static struct pvmd_host *free_slot(struct slot *s)
{
    struct pvmd_host *host = s->host;
    ev_timer_stop(pvmd.loop, &s->limit);
    DL_DELETE(slots, s);
    free(s);
    return host;
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct slot *s = w->data;
    (void)loop, (void)events;
    pvmc_log(PVMC_LOG_WARNING, "host %s was not started by hand within " PVMD_MANUAL_LIMIT " s", s->host->name);
    pvmd_host_free(free_slot(s));
}

void pvmd_manual_keep(struct pvmd_host *host)
{
    struct slot *s = calloc(1, sizeof *s);
    if (!s) {
        pvmd_host_free(host);
        return;
    }
    s->host = host;
    ev_timer_init(&s->limit, limit_event, atof(PVMD_MANUAL_LIMIT), 0.);
    s->limit.data = s;
    ev_timer_start(pvmd.loop, &s->limit);
    DL_APPEND(slots, s);
}

struct pvmd_host *pvmd_manual_take(const char *name)
{
    struct slot *s;
    DL_FOREACH (slots, s)
        if (!strcasecmp(s->host->name, name))
            return free_slot(s);
    return NULL;
}

void pvmd_manual_stop(void)
{
    while (slots)
        pvmd_host_free(free_slot(slots));
}
