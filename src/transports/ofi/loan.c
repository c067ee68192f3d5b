/* loan.c - large frames that the peer reads from our memory. */
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "ofi_transport.h"

#define INPLACE_BYTES 16384 /* pieces shorter than this are copied together: each costs a registration and a read */

/* Adds a piece of memory, or extends the last one. False: it cannot be registered. */
static bool lend_piece(struct ofi_transport *t, struct ofi_loan *loan, struct ofi_piece *pieces, const uint8_t *data,
                       uint32_t bytes)
{
    struct fid_mr *mr = pvmt_ofi_register(t, data, bytes, FI_REMOTE_READ);
    if (!mr)
        return false;
    pieces[loan->count] = (struct ofi_piece){pvmt_ofi_location(t, data, data), fi_mr_key(mr), bytes};
    loan->regions[loan->count++] = mr;
    return true;
}

/* How many bytes follow each other in memory from piece i on; moves i behind them. */
static uint32_t run_of(const struct pvmc_frame *f, unsigned *i)
{
    const uint8_t *begin = f->pieces[*i].iov_base, *end = begin;
    for (; *i < f->piece_count && (f->pieces[*i].iov_base == end || !f->pieces[*i].iov_len); ++*i)
        end += f->pieces[*i].iov_len;
    return (uint32_t)(end - begin);
}

/* Whether the payload consists of long runs, so that it need not be copied. */
static bool stays_in_place(const struct pvmc_frame *f)
{
    bool long_ones = true;
    for (unsigned i = 0; i < f->piece_count && long_ones;) {
        uint32_t bytes = run_of(f, &i);
        long_ones = bytes >= INPLACE_BYTES || bytes == f->h.length;
    }
    return long_ones;
}

static bool lend_in_place(struct ofi_transport *t, struct ofi_loan *loan, struct ofi_piece *pieces,
                          struct pvmc_frame *f)
{
    bool lent = true;
    loan->frame = pvmc_frame_ref(f);
    for (unsigned i = 0; i < f->piece_count && lent;) {
        const uint8_t *data = f->pieces[i].iov_base;
        uint32_t bytes = run_of(f, &i);
        lent = !bytes || lend_piece(t, loan, pieces, data, bytes);
    }
    return lent;
}

static bool lend_copy(struct ofi_transport *t, struct ofi_loan *loan, struct ofi_piece *pieces,
                      const struct pvmc_frame *f)
{
    loan->mem = pvmc_mem_new(f->h.length);
    uint8_t *to = loan->mem ? loan->mem->data : NULL;
    for (unsigned i = 0; to && i < f->piece_count; i++) {
        memcpy(to, f->pieces[i].iov_base, f->pieces[i].iov_len);
        to += f->pieces[i].iov_len;
    }
    return to && lend_piece(t, loan, pieces, loan->mem->data, f->h.length);
}

struct ofi_loan *pvmt_ofi_lend(struct ofi_transport *t, struct pvmc_frame *f, struct ofi_piece pieces[OFI_PIECES_MAX],
                               int *error)
{
    struct ofi_loan *loan = calloc(1, sizeof *loan);
    *error = PVMC_ENOMEM;
    if (!loan)
        return NULL;
    if (stays_in_place(f) ? lend_in_place(t, loan, pieces, f) : lend_copy(t, loan, pieces, f))
        return loan;
    *error = PVMC_ELIMIT;
    pvmt_ofi_loan_free(loan, false);
    return NULL;
}

void pvmt_ofi_loan_free(struct ofi_loan *loan, bool foreign)
{
    for (unsigned i = 0; i < loan->count && !foreign; i++)
        fi_close(&loan->regions[i]->fid);
    pvmc_mem_unref(loan->mem);
    pvmc_frame_unref(loan->frame);
    free(loan);
}

static void end_first(struct ofi_link *l, bool foreign)
{
    struct ofi_loan *first = l->loans;
    l->loans = first->next;
    l->loan_count--;
    pvmt_ofi_loan_free(first, foreign);
}

bool pvmt_ofi_loans_end(struct ofi_link *l, unsigned count)
{
    if (count > l->loan_count)
        return false;
    while (count--)
        end_first(l, false);
    return true;
}

/* The lease ends first: who reads later than that sees it. */
void pvmt_ofi_loans_revoke(struct ofi_link *l, bool foreign)
{
    if (!foreign)
        pvmt_ofi_lease_end(l);
    while (l->loans)
        end_first(l, foreign);
}
