/*
 * talk.c - a parent and a child that exchange messages, traced by Debian's tracer with both libraries. Built with
 * Debian's headers and library, and run with either. Its packed data has the same size in both.
 */
#include <pvm3.h>
#include <pvmtev.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    int me = pvm_mytid(), parent = pvm_parent(), value = me, tid, a, b, c;
    (void)argc;
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&value, 1, 1);
    if (parent > 0) {
        pvm_psend(parent, 3, &value, 1, PVM_INT);
        pvm_recv(parent, 4);
        pvm_send(parent, 5);
        pvm_exit();
        return 3;
    }
    pvm_spawn(argv[0], NULL, PvmTaskDefault, "", 1, &tid);
    pvm_precv(tid, 3, &value, 1, PVM_INT, &a, &b, &c);
    pvm_nrecv(tid, 99);
    pvm_mcast(&tid, 1, 4);
    pvm_recv(tid, 5);
    pvm_probe(tid, 99);
    pvm_sendsig(tid, 0);
    pvm_initsend(PvmDataTrace);
    pvm_pkint(&b, 1, 1);
    pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE);
    pvm_exit();
    return 0;
}
