/*
 * loan.c - large frames that the peer reads from our memory: from copies, in memory that is only lent.
 *
 * fi_close() of registered memory does not end the reads of it. Some providers carry reads out in software, later and
 * from where the memory was; others keep the registration in a cache, and its key stays valid. So nothing else ever
 * comes to where a peer may still read, nor may it be unmapped: the process would crash on it.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>
#include "core/error.h"
#include "ofi_transport.h"

#define LOAN_BYTES  PVMC_FRAME_PAYLOAD_MAX
#define SPARE_TICKS 8 /* of OFI_TICK_US: after that long without a large frame their memory goes back */

static struct ofi_loan *loan_new(struct ofi_transport *t)
{
    struct ofi_loan *loan = calloc(1, sizeof *loan);
    void *data = loan ? mmap(NULL, LOAN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (data == MAP_FAILED) {
        free(loan);
        return NULL;
    }
    loan->data = data;
    loan->region = pvmt_ofi_register(t, data, LOAN_BYTES, FI_REMOTE_READ);
    if (loan->region)
        return loan;
    munmap(data, LOAN_BYTES);
    free(loan);
    return NULL;
}

static void loan_free(struct ofi_loan *loan, bool foreign)
{
    if (!foreign)
        fi_close(&loan->region->fid);
    munmap(loan->data, LOAN_BYTES);
    free(loan);
}

static void free_all(struct ofi_loan **list, bool foreign)
{
    struct ofi_loan *loan, *next;
    DL_FOREACH_SAFE (*list, loan, next)
        loan_free(loan, foreign);
    *list = NULL;
}

static struct ofi_loan *take_first(struct ofi_link *l)
{
    struct ofi_loan *first = l->loans;
    DL_DELETE(l->loans, first);
    l->loan_count--;
    return first;
}

struct ofi_loan *pvmt_ofi_lend(struct ofi_link *l, const struct pvmc_frame *f)
{
    struct ofi_loan *loan = l->spare;
    if (loan)
        DL_DELETE(l->spare, loan);
    else
        loan = loan_new(pvmt_ofi_of(l));
    if (loan)
        pvmt_ofi_gather(f, loan->data);
    return loan;
}

void pvmt_ofi_loan_begin(struct ofi_link *l, struct ofi_loan *loan)
{
    DL_APPEND(l->loans, loan);
    l->loan_count++;
    l->spare_ticks = 0;
}

void pvmt_ofi_loan_spare(struct ofi_link *l, struct ofi_loan *loan)
{
    DL_PREPEND(l->spare, loan);
}

bool pvmt_ofi_loans_end(struct ofi_link *l, unsigned count)
{
    if (count > l->loan_count)
        return false;
    while (count--)
        pvmt_ofi_loan_spare(l, take_first(l));
    return true;
}

bool pvmt_ofi_loans_tick(struct ofi_link *l)
{
    if (l->spare && ++l->spare_ticks > SPARE_TICKS)
        free_all(&l->spare, false);
    return l->spare;
}

/* Keeps the addresses, which the peer may still read, but not the memory. */
static void retire(struct ofi_transport *t, struct ofi_loan *loan)
{
    madvise(loan->data, LOAN_BYTES, MADV_DONTNEED);
    DL_PREPEND(t->retired, loan);
    t->retired_count++;
}

/* The lease ends first: who reads later than that sees it. */
void pvmt_ofi_loans_revoke(struct ofi_link *l, bool foreign)
{
    if (!foreign)
        pvmt_ofi_lease_end(l);
    while (l->loans && !foreign)
        retire(pvmt_ofi_of(l), take_first(l));
    free_all(&l->loans, foreign);
    free_all(&l->spare, foreign);
    l->loan_count = 0;
}

void pvmt_ofi_loans_close(struct ofi_transport *t, bool foreign)
{
    free_all(&t->retired, foreign);
}
