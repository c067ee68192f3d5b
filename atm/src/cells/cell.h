/*
 * cell.h - cells: 48 octets with their header fields, queues of cells, and their 53 octets on the wire.
 *
 * A cell belongs to one place at a time: an adapter, a queue, a link. Cells come from the pool of their network and
 * return to it, so memory grows with the cells in flight.
 */
#ifndef PVMA_CELL_H
#define PVMA_CELL_H

#include "base/sim.h"

#define PVMA_CELL_BYTES   53
#define PVMA_CELL_PAYLOAD 48
#define PVMA_CELL_BITS    (PVMA_CELL_BYTES * 8)

#define PVMA_VCI_SIGNALLING 5   /* on VPI 0 */
#define PVMA_VCI_FIRST      32  /* lower ones are reserved */
#define PVMA_VPI_BACKGROUND 255 /* cross traffic, discarded by the next node */
#define PVMA_VPI_MAX        255
#define PVMA_VCI_MAX        65535

#define PVMA_PTI_END 1 /* bit of the payload type: last cell of an AAL5 PDU */

struct pvma_cell {
    struct pvma_cell *next;
    pvma_ps at; /* for the current holder's use: when the cell is due, or arrived */
    uint16_t vpi, vci;
    uint8_t gfc;     /* 4 bits */
    uint8_t pti;     /* 3 bits */
    uint8_t clp;     /* 1: discard first */
    uint8_t in_port; /* for the current holder's use */
    uint8_t payload[PVMA_CELL_PAYLOAD];
};

static inline bool pvma_cell_is_signalling(const struct pvma_cell *cell)
{
    return cell->vpi == 0 && cell->vci == PVMA_VCI_SIGNALLING;
}

/* ---- wire ---- */

/* Writes the 53 octets of a cell at the user-network interface. */
void pvma_cell_encode(const struct pvma_cell *cell, uint8_t wire[PVMA_CELL_BYTES]);

enum pvma_hec { PVMA_HEC_GOOD, PVMA_HEC_CORRECTED, PVMA_HEC_BAD };

/* Reads 53 octets and corrects one wrong header bit as in I.432. On PVMA_HEC_BAD the cell is unchanged. */
enum pvma_hec pvma_cell_decode(struct pvma_cell *cell, const uint8_t wire[PVMA_CELL_BYTES]);

/* ---- pool ---- */

struct pvma_cells {
    struct pvma_cell *spare;
    void *blocks;    /* allocated blocks of cells */
    uint64_t in_use; /* cells in flight now */
    uint64_t most;   /* highest `in_use` */
    size_t made;     /* cells allocated */
};

void pvma_cells_init(struct pvma_cells *cells);
void pvma_cells_free(struct pvma_cells *cells);

/* Takes a cell with a zeroed header; the payload is not initialised. */
struct pvma_cell *pvma_cell_new(struct pvma_cells *cells);

void pvma_cell_put(struct pvma_cells *cells, struct pvma_cell *cell);

/* ---- queue ---- */

struct pvma_cellq {
    struct pvma_cell *head, **tail;
    uint32_t length;
};

static inline void pvma_cellq_init(struct pvma_cellq *q)
{
    q->head = NULL;
    q->tail = &q->head;
    q->length = 0;
}

static inline void pvma_cellq_push(struct pvma_cellq *q, struct pvma_cell *cell)
{
    cell->next = NULL;
    *q->tail = cell;
    q->tail = &cell->next;
    q->length++;
}

/* Removes and returns the oldest cell; NULL when empty. */
static inline struct pvma_cell *pvma_cellq_pop(struct pvma_cellq *q)
{
    struct pvma_cell *cell = q->head;
    if (!cell)
        return NULL;
    q->head = cell->next;
    if (!q->head)
        q->tail = &q->head;
    q->length--;
    return cell;
}

/* Returns all cells of a queue to the pool. */
void pvma_cellq_clear(struct pvma_cellq *q, struct pvma_cells *cells);

#endif
