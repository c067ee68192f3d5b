/* link.c - cells and credits in flight. */
#include "link.h"
#include "link_failure.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pvma_credit {
    pvma_ps at;
    uint16_t vpi, vci;
};

pvma_ps pvma_link_cell_time(int64_t rate_bps)
{
    __int128 bits = (__int128)PVMA_CELL_BITS * PVMA_S;
    return (pvma_ps)((bits + rate_bps / 2) / rate_bps);
}

/* ---- damage ---- */

static double any_bit_wrong(double rate)
{
    double good = 1;
    for (int i = 0; i < PVMA_CELL_BITS; i++)
        good *= 1 - rate;
    return 1 - good;
}

/* Flips one bit, and further ones with the same odds. False when the header cannot be corrected. */
static bool damage(struct pvma_link *link, struct pvma_cell *cell)
{
    uint8_t wire[PVMA_CELL_BYTES];
    pvma_cell_encode(cell, wire);
    do {
        uint64_t bit = pvma_random_below(&link->random, PVMA_CELL_BITS);
        wire[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    } while (pvma_random_chance(&link->random, link->damage_odds));
    link->counters.damaged++;
    enum pvma_hec hec = pvma_cell_decode(cell, wire);
    link->counters.corrected += hec == PVMA_HEC_CORRECTED;
    link->counters.hec += hec == PVMA_HEC_BAD;
    return hec != PVMA_HEC_BAD;
}

/* Loses or damages a cell by chance. Signalling is exempt, see call.h. */
static bool is_lucky(struct pvma_link *link, struct pvma_cell *cell)
{
    if (pvma_cell_is_signalling(cell))
        return true;
    if (pvma_random_chance(&link->random, link->loss_odds)) {
        link->counters.lost++;
        pvma_sim_note(link->sim, UINT64_C(0x105ed) ^ link->counters.lost);
        return false;
    }
    return !pvma_random_chance(&link->random, link->damage_odds) || damage(link, cell);
}

/* Applies failure, loss and damage to a cell; false when the cell is gone. */
static bool survives(struct pvma_link *link, struct pvma_cell *cell)
{
    if (link->is_down) {
        pvma_link_lose(link, cell);
        return false;
    }
    if (is_lucky(link, cell))
        return true;
    pvma_cell_put(link->cells, cell);
    return false;
}

/* ---- cells ---- */

static void link_is_free(struct pvma_event *event)
{
    struct pvma_link *link = PVMA_OF(event, struct pvma_link, free_event);
    link->busy = false;
    link->from->ops->free(link->from, link->from_port);
}

static void arrive(struct pvma_event *event)
{
    struct pvma_link *link = PVMA_OF(event, struct pvma_link, arrival);
    struct pvma_cell *cell = pvma_cellq_pop(&link->flight);
    if (link->flight.head)
        pvma_sim_at(link->sim, event, link->flight.head->at);
    link->to->ops->cell(link->to, link->to_port, cell);
}

void pvma_link_send(struct pvma_link *link, struct pvma_cell *cell)
{
    link->busy = true;
    link->counters.cells++;
    if (__builtin_expect(link->tap != NULL, 0))
        link->tap->sent(link->tap, link, cell);
    pvma_sim_after(link->sim, &link->free_event, link->cell_time);
    if (link->is_flawed && !survives(link, cell))
        return;
    cell->at = pvma_sim_now(link->sim) + link->cell_time + link->options.propagation;
    if (!link->flight.head)
        pvma_sim_at(link->sim, &link->arrival, cell->at);
    pvma_cellq_push(&link->flight, cell);
}

/* ---- credits: a ring, in the order of their arrival ---- */

static struct pvma_credit *credit_at(struct pvma_link *link, size_t index)
{
    return &link->credits[(link->credit_first + index) & (link->credit_size - 1)];
}

static void credit_arrives(struct pvma_event *event)
{
    struct pvma_link *link = PVMA_OF(event, struct pvma_link, credit_event);
    struct pvma_credit credit = *credit_at(link, 0);
    link->credit_first++;
    if (--link->credit_count)
        pvma_sim_at(link->sim, event, credit_at(link, 0)->at);
    link->counters.credits++;
    link->from->ops->credit(link->from, link->from_port, credit.vpi, credit.vci);
}

static void widen_ring(struct pvma_link *link)
{
    size_t size = link->credit_size ? 2 * link->credit_size : 16;
    struct pvma_credit *ring = pvma_new(size * sizeof *ring);
    for (size_t i = 0; i < link->credit_count; i++)
        ring[i] = *credit_at(link, i);
    free(link->credits);
    link->credits = ring;
    link->credit_size = size;
    link->credit_first = 0;
}

void pvma_link_return_credit(struct pvma_link *link, uint16_t vpi, uint16_t vci)
{
    if (link->credit_count == link->credit_size)
        widen_ring(link);
    pvma_ps at = pvma_sim_now(link->sim) + link->cell_time + link->options.propagation;
    *credit_at(link, link->credit_count++) = (struct pvma_credit){at, vpi, vci};
    if (link->credit_count == 1 && !link->is_down)
        pvma_sim_at(link->sim, &link->credit_event, at);
}

/* ---- life ---- */

struct pvma_link *pvma_link_new(struct pvma_node *from, unsigned from_port, struct pvma_node *to, unsigned to_port,
                                const struct pvma_link_options *options, uint64_t seed)
{
    struct pvma_link *link = pvma_new(sizeof *link);
    char stream[160];
    snprintf(stream, sizeof stream, "link %s %u %s %u", from->name, from_port, to->name, to_port);
    *link = (struct pvma_link){.sim = from->sim,
                               .cells = from->cells,
                               .options = *options,
                               .from = from,
                               .to = to,
                               .from_port = from_port,
                               .to_port = to_port,
                               .cell_time = pvma_link_cell_time(options->rate_bps)};
    link->loss_odds = pvma_random_odds(options->cell_loss);
    link->damage_odds = pvma_random_odds(any_bit_wrong(options->bit_error_rate));
    link->is_flawed = pvma_link_has_loss(link);
    pvma_random_init(&link->random, seed, stream);
    pvma_event_init(&link->free_event, PVMA_EVENT_LINK_FREE, link_is_free);
    pvma_event_init(&link->arrival, PVMA_EVENT_ARRIVAL, arrive);
    pvma_event_init(&link->credit_event, PVMA_EVENT_CREDIT, credit_arrives);
    pvma_cellq_init(&link->flight);
    pvma_cellq_init(&link->kept);
    pvma_vctable_init(&link->vcs);
    from->port[from_port].out = link;
    to->port[to_port].in = link;
    return link;
}

void pvma_link_free(struct pvma_link *link)
{
    pvma_cellq_clear(&link->flight, link->cells);
    pvma_cellq_clear(&link->kept, link->cells);
    pvma_vctable_free(&link->vcs);
    free(link->credits);
    free(link);
}

bool pvma_link_is_named(const struct pvma_link *link, const char *name)
{
    size_t from = strlen(link->from->name);
    return !strncmp(name, link->from->name, from) && name[from] == '>' && !strcmp(name + from + 1, link->to->name);
}
