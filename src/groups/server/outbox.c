#include "outbox.h"
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include "groups/proto.h"
#include "pvm3.h"
#include "record.h"
#include "roster.h"

struct letter {
    int buffer, context, tag, n;
    struct letter *prev, *next;
    int tids[];
};

static struct letter *letters;

static void send(int context, const int *tids, int n, int tag)
{
    pvm_setcontext(context);
    if (n == 1)
        pvm_send(tids[0], tag);
    else
        pvm_mcast((int *)tids, n, tag);
    pvm_setcontext(PVMG_GROUP_CTX_SERVER);
}

/* Takes over the active send buffer; false: out of memory. */
static bool put_off(int context, const int *tids, int n, int tag)
{
    struct letter *l = malloc(sizeof(*l) + (size_t)n * sizeof(*tids));

    if (!l)
        return false;
    l->context = context;
    l->tag = tag;
    l->n = n;
    memcpy(l->tids, tids, (size_t)n * sizeof(*tids));
    l->buffer = pvm_setsbuf(0);
    DL_APPEND(letters, l);
    return true;
}

void pvmg_outbox_send(int context, const int *tids, int n, int tag)
{
    if (pvmg_outbox_waits()) {
        if (put_off(context, tids, n, tag))
            return;
        pvmg_outbox_flush();
    }
    send(context, tids, n, tag);
}

void pvmg_outbox_flush(void)
{
    struct letter *l, *next;
    int active = pvm_setsbuf(0);

    pvmg_record_changes();
    DL_FOREACH_SAFE (letters, l, next) {
        DL_DELETE(letters, l);
        pvm_setsbuf(l->buffer);
        send(l->context, l->tids, l->n, l->tag);
        pvm_freebuf(pvm_setsbuf(0));
        free(l);
    }
    pvm_setsbuf(active);
}

bool pvmg_outbox_waits(void)
{
    return letters || pvmg_roster_has_changed();
}
