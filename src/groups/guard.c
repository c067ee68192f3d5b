#include "guard.h"
#include <stddef.h>
#include "pvm3.h"

void pvmg_guard_enter(struct pvmg_guard *g, int context)
{
    g->watched = pvmi_call_enter();
    g->set = pvmi_lock_set_new();
    g->error = pvm_errno;
    g->auto_error = pvm_setopt(PvmAutoErr, 0);
    g->reserved_tags = pvm_setopt(PvmResvTids, 1);
    g->context = pvm_setcontext(context);
    g->send_buffer = pvm_setsbuf(0);
    g->receive_buffer = pvm_setrbuf(0);
    g->match = pvm_recvf(NULL);
}

void pvmg_guard_undo(struct pvmg_guard *g)
{
    int sent = pvm_setsbuf(g->send_buffer);
    int received = pvm_setrbuf(g->receive_buffer);

    if (sent > 0)
        pvm_freebuf(sent);
    if (received > 0)
        pvm_freebuf(received);
    pvm_recvf(g->match);
    pvm_setcontext(g->context);
    pvm_setopt(PvmResvTids, g->reserved_tags);
    pvm_setopt(PvmAutoErr, g->auto_error);
    pvm_errno = g->error;
    pvmi_lock_set_free(g->set);
}

void pvmg_guard_leave(struct pvmg_guard *g)
{
    pvmg_guard_undo(g);
    if (g->watched)
        pvmi_call_end(g->watched, -1, NULL, 0);
}

int pvmg_guard_result(int code)
{
    if (code < 0)
        pvm_errno = code;
    return code;
}
