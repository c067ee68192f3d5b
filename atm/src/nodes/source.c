/* source.c - background cells, one event per source for its next cell. */
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vc_end.h"
#include "fabric.h"

struct pvma_source {
    struct pvma_sim *sim;
    struct pvma_source_options options;
    struct pvma_vc **vcs; /* the VCs that it feeds, or NULL */
    size_t vc_count;
    struct pvma_switch *s; /* the switch that it feeds, or NULL */
    struct pvma_event event;
    struct pvma_random random;
    uint64_t copy_odds, cells;
    pvma_ps gap, off_gap; /* mean time between cells; 0: no cells */
    pvma_ps slot;         /* BERNOULLI */
    uint64_t slot_odds;
    bool on, begins; /* ONOFF: the state, and that it has had no cell yet */
    pvma_ps until;   /* ONOFF: end of the current state */
};

/* ---- cells ---- */

static void feed_vc(struct pvma_source *source)
{
    size_t which = source->vc_count > 1 ? pvma_random_below(&source->random, source->vc_count) : 0;
    struct pvma_vc *vc = source->vcs[which];
    source->cells++;
    pvma_vc_inject(vc, pvma_cell_new(vc->host->node.cells));
}

static void feed_switch(struct pvma_source *source)
{
    struct pvma_node *node = pvma_switch_node(source->s);
    source->cells++;
    for (unsigned port = 0; port < node->ports; port++) {
        if (!node->port[port].out || !pvma_random_chance(&source->random, source->copy_odds))
            continue;
        struct pvma_cell *cell = pvma_cell_new(node->cells);
        cell->vpi = PVMA_VPI_BACKGROUND;
        cell->vci = 1;
        pvma_switch_emit(source->s, port, cell, PVMA_UBR);
    }
}

/* ---- when ---- */

static pvma_ps rate_gap(int64_t rate_bps)
{
    return rate_bps ? pvma_link_cell_time(rate_bps) : 0;
}

static void change_state(struct pvma_source *source)
{
    source->on = !source->on;
    source->begins = true;
    source->until +=
        pvma_random_exponential(&source->random, source->on ? source->options.on_mean : source->options.off_mean);
}

/* A constant interval begins in the middle, so that a state has as many cells in the mean as its duration is long. */
static pvma_ps interval(struct pvma_source *source, pvma_ps mean)
{
    bool begins = source->begins;
    source->begins = false;
    if (source->options.spacing == PVMA_SPACING_CONSTANT)
        return begins ? mean / 2 : mean;
    return pvma_random_exponential(&source->random, mean);
}

/* An interval that exceeds the end of its state is discarded: an exponential one may be redrawn there. */
static pvma_ps next_onoff(struct pvma_source *source, pvma_ps now)
{
    for (;;) {
        pvma_ps mean = source->on ? source->gap : source->off_gap;
        pvma_ps at = mean ? now + interval(source, mean) : PVMA_NEVER;
        if (at < source->until)
            return at;
        now = source->until;
        if (source->options.stop && now >= source->options.stop)
            return now;
        change_state(source);
    }
}

static pvma_ps next_slot(struct pvma_source *source, pvma_ps now)
{
    do
        now += source->slot;
    while (!pvma_random_chance(&source->random, source->slot_odds) &&
           (!source->options.stop || now < source->options.stop));
    return now;
}

static pvma_ps next_time(struct pvma_source *source, pvma_ps now)
{
    switch (source->options.type) {
    case PVMA_CBR:
        return now + source->gap;
    case PVMA_POISSON:
        return now + pvma_random_exponential(&source->random, source->gap);
    case PVMA_BERNOULLI:
        return next_slot(source, now);
    case PVMA_ONOFF:
        break;
    }
    return next_onoff(source, now);
}

static void schedule(struct pvma_source *source, pvma_ps at)
{
    if (!source->options.stop || at < source->options.stop)
        pvma_sim_at(source->sim, &source->event, at);
}

static void due(struct pvma_event *event)
{
    struct pvma_source *source = PVMA_OF(event, struct pvma_source, event);
    if (source->vcs)
        feed_vc(source);
    else
        feed_switch(source);
    schedule(source, next_time(source, pvma_sim_now(source->sim)));
}

/* ---- life ---- */

static struct pvma_source *make(struct pvma_sim *sim, const struct pvma_source_options *options, const char *name)
{
    struct pvma_source *source = pvma_new(sizeof *source);
    char stream[96];
    snprintf(stream, sizeof stream, "source %s", name);
    pvma_random_init(&source->random, pvma_sim_seed(sim), stream);
    source->sim = sim;
    source->options = *options;
    source->copy_odds = pvma_random_odds(options->copy);
    source->gap = rate_gap(options->rate_bps);
    source->off_gap = rate_gap(options->off_rate_bps);
    source->slot = rate_gap(options->slot_bps);
    if (options->type == PVMA_BERNOULLI)
        source->slot_odds = pvma_random_odds((double)options->rate_bps / (double)options->slot_bps);
    pvma_event_init(&source->event, PVMA_EVENT_SOURCE, due);
    source->until = options->start;
    if (options->type == PVMA_ONOFF)
        change_state(source);
    pvma_ps first = options->type == PVMA_CBR ? options->start : next_time(source, options->start);
    schedule(source, first);
    return source;
}

struct pvma_source *pvma_source_on_vcs(struct pvma_sim *sim, struct pvma_vc *const *vcs, size_t count,
                                       const struct pvma_source_options *options, const char *name)
{
    struct pvma_source *source = make(sim, options, name);
    source->vcs = pvma_new(count * sizeof(struct pvma_vc *));
    memcpy(source->vcs, vcs, count * sizeof(struct pvma_vc *));
    source->vc_count = count;
    return source;
}

struct pvma_source *pvma_source_in_switch(struct pvma_sim *sim, struct pvma_switch *s,
                                          const struct pvma_source_options *options, const char *name)
{
    struct pvma_source *source = make(sim, options, name);
    source->s = s;
    return source;
}

void pvma_source_free(struct pvma_source *source)
{
    if (!source)
        return;
    pvma_sim_cancel(source->sim, &source->event);
    free(source->vcs);
    free(source);
}

/* Counts the cells that a state has in the mean. */
static void leave_out(struct pvma_source *source, pvma_ps time)
{
    pvma_ps mean = source->on || source->options.type != PVMA_ONOFF ? source->gap : source->off_gap;
    if (mean)
        source->cells += (uint64_t)(time / mean);
}

void pvma_source_skip(struct pvma_source *source, pvma_ps until)
{
    pvma_ps from = source->event.at;
    if (!pvma_event_is_scheduled(&source->event) || from >= until)
        return; /* the state is that of the next cell */
    for (; source->options.type == PVMA_ONOFF && source->until <= until; change_state(source)) {
        leave_out(source, source->until - from);
        from = source->until;
    }
    leave_out(source, until - from);
    schedule(source, next_time(source, until));
}

uint64_t pvma_source_cells(const struct pvma_source *source)
{
    return source->cells;
}

int64_t pvma_source_mean_bps(const struct pvma_source_options *options)
{
    if (options->type != PVMA_ONOFF)
        return options->rate_bps;
    __int128 sum = (__int128)options->rate_bps * options->on_mean + (__int128)options->off_rate_bps * options->off_mean;
    return (int64_t)(sum / (options->on_mean + options->off_mean));
}
