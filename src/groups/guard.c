#include "guard.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "pvm3.h"

enum { AUTO_ERROR_EXIT = 2, AUTO_ERROR_ABORT = 3 };

void pvmi_guard_enter(struct pvmi_guard *g, int context)
{
    g->error = pvm_errno;
    g->auto_error = pvm_setopt(PvmAutoErr, 0);
    g->reserved_tags = pvm_setopt(PvmResvTids, 1);
    g->context = pvm_setcontext(context);
    g->send_buffer = pvm_setsbuf(0);
    g->receive_buffer = pvm_setrbuf(0);
    g->match = pvm_recvf(NULL);
}

void pvmi_guard_leave(struct pvmi_guard *g)
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
}

int pvmi_guard_result(const char *call, int code)
{
    int mode;

    if (code >= 0)
        return code;
    pvm_errno = code;
    mode = pvm_getopt(PvmAutoErr);
    if (mode > 0) {
        char name[64];

        snprintf(name, sizeof(name), "%s()", call);
        pvm_perror(name);
        pvm_errno = code;
    }
    if (mode == AUTO_ERROR_EXIT)
        exit(code);
    if (mode >= AUTO_ERROR_ABORT)
        abort();
    return code;
}
