/* link_failure.c - what happens to cells and credits of a link that is down. */
#include "link_failure.h"

void pvma_link_lose(struct pvma_link *link, struct pvma_cell *cell)
{
    if (pvma_cell_is_signalling(cell) && link->keeps_signalling) {
        pvma_cellq_push(&link->kept, cell);
        return;
    }
    link->counters.failed++;
    pvma_sim_note(link->sim, UINT64_C(0xfa11ed) ^ link->counters.failed);
    if (link->to->credits && cell->vpi != PVMA_VPI_BACKGROUND && !pvma_cell_is_signalling(cell))
        pvma_link_return_credit(link, cell->vpi, cell->vci);
    pvma_cell_put(link->cells, cell);
}

void pvma_link_fail(struct pvma_link *link)
{
    link->is_down = link->is_flawed = link->keeps_signalling = true;
    link->counters.failures++;
    pvma_sim_cancel(link->sim, &link->arrival);
    pvma_sim_cancel(link->sim, &link->credit_event);
    for (struct pvma_cell *cell; (cell = pvma_cellq_pop(&link->flight));)
        pvma_link_lose(link, cell);
}

void pvma_link_restore(struct pvma_link *link)
{
    pvma_ps arrival = pvma_sim_now(link->sim) + link->cell_time + link->options.propagation;
    link->is_down = false;
    link->is_flawed = pvma_link_has_loss(link);
    for (struct pvma_cell *cell; (cell = pvma_cellq_pop(&link->kept));) {
        cell->at = arrival;
        pvma_cellq_push(&link->flight, cell);
    }
    if (link->flight.head)
        pvma_sim_at(link->sim, &link->arrival, arrival);
    if (link->credit_count)
        pvma_sim_at(link->sim, &link->credit_event, arrival);
}

void pvma_link_forget_signalling(struct pvma_link *link)
{
    link->keeps_signalling = false;
    pvma_cellq_clear(&link->kept, link->cells);
}
