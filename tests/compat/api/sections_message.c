/*
 * sections_message.c - sending and receiving, contexts, message handlers.
 */
#include "probe.h"

static int no_task;

static void send_int(int tid, int tag, int value)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    pvm_send(tid, tag);
}

/* Waits until all sent messages are in the queue: each call may read only some of them. */
static void let_all_come(void)
{
    for (int i = 0; i < 20; i++) {
        pvm_probe(no_task, 1);
        probe_wait_ms(5);
    }
}

static void begin(void)
{
    probe_quiet();
    pvm_mytid();
    no_task = pvm_tidtohost(pvm_mytid()) + 0x3fff0;
}

static void sending(void)
{
    int me, host;

    begin();
    me = pvm_mytid();
    host = pvm_tidtohost(me);
    CALL(pvm_send(me, 1));
    pvm_initsend(PvmDataDefault);
    CALL(pvm_send(0, 1));
    CALL(pvm_send(-1, 1));
    CALL(pvm_send(me, -1));
    CALL(pvm_send(me, 0));
    CALL(pvm_send(me, INT_MAX));
    CALL(pvm_send(no_task, 1));
    CALL(pvm_send(host, 1));
    CALL(pvm_send(0x80000000, 1));
    CALL(pvm_send(0x80000000 | host, 1));
    CALL(pvm_send(0x40000000 | host | 1, 1));
    CALL(pvm_send(0x7fc0001, 1)); /* a task of a host that does not exist */
    probe_receive(me, 0);
    probe_receive(me, INT_MAX);
    CALL(pvm_nrecv(-1, -1));
    CALL(pvm_mcast(&me, 1, 3)); /* ourselves alone: nobody */
    CALL(pvm_mcast(&me, 0, 3));
    CALL(pvm_mcast(&me, -1, 3));
    CALL(pvm_mcast((int[]){me, 0}, 2, 3));
    CALL(pvm_mcast((int[]){no_task}, 1, 3));
    CALL(pvm_mcast((int[]){host}, 1, 3));
    CALL(pvm_mcast(&me, 1, -1));
    CALL(pvm_mcast(NULL, 0, 3));
    CALL(pvm_nrecv(-1, 3));
    CALL(pvm_setsbuf(0) > 0);
    CALL(pvm_mcast(&no_task, 1, 3));
    CALL(pvm_setopt(PvmResvTids, 1));
    pvm_initsend(PvmDataDefault);
    CALL(pvm_send(me, -5));
    ID(pvm_recv(me, -5));
    CALL(pvm_setopt(PvmResvTids, 0));
}

static void multicast(void)
{
    begin();
    probe_children("echo", NULL, 3);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&(int){33}, 1, 1);
    CALL(pvm_mcast(probe_child, 3, 5));
    for (int i = 0; i < 3; i++)
        probe_receive(probe_child[i], 5);
    CALL(pvm_mcast((int[]){probe_child[0], probe_child[0], pvm_mytid(), probe_child[1]}, 4, 6));
    probe_receive(probe_child[0], 6);
    probe_receive(probe_child[1], 6);
    probe_wait_ms(50);
    CALL(pvm_nrecv(-1, 6));
    for (int i = 0; i < 3; i++)
        send_int(probe_child[i], 99, 0);
}

static void one_call(void)
{
    int data[4] = {1, 2, 3, 4}, got[8] = {0}, tid, tag, bytes, me;

    begin();
    me = pvm_mytid();
    CALL(pvm_psend(me, 7, data, 4, PVM_INT));
    CALL(pvm_precv(-1, -1, got, 4, PVM_INT, &tid, &tag, &bytes));
    FACT("from %s tag %d, %d bytes: %d %d %d %d", probe_name(tid), tag, bytes, got[0], got[1], got[2], got[3]);
    CALL(pvm_psend(me, 7, data, 1, PVM_INT));
    CALL(pvm_precv(me, 7, got, 4, PVM_INT, NULL, NULL, &bytes)); /* room for more than arrives */
    FACT("%d bytes", bytes);
    CALL(pvm_psend(me, 7, data, 0, PVM_BYTE));
    CALL(pvm_precv(me, 7, got, 8, PVM_BYTE, NULL, NULL, &bytes));
    FACT("%d bytes", bytes);
    CALL(pvm_psend(me, 7, "some text", 10, PVM_BYTE));
    ID(pvm_recv(me, 7));
    CALL(pvm_upkbyte((char *)got, 10, 1));
    FACT("%s", (char *)got);
    for (int type = PVM_BYTE; type <= PVM_ULONG; type++) {
        int code = pvm_psend(me, 8, data, 1, type), code2 = pvm_precv(me, 8, got, 1, type, NULL, NULL, &bytes);
        FACT("type %d: %d, %d, %d bytes", type, code, code2, bytes);
    }
    CALL(pvm_psend(me, 7, data, 4, PVM_STR));
    CALL(pvm_psend(me, 7, data, 4, 77));
    CALL(pvm_psend(me, 7, data, 4, -1));
    CALL(pvm_precv(me, 7, got, 8, PVM_STR, NULL, NULL, NULL));
    CALL(pvm_precv(me, 7, got, 8, 77, NULL, NULL, NULL));
    CALL(pvm_psend(0, 7, data, 4, PVM_INT));
    CALL(pvm_psend(me, -1, data, 4, PVM_INT));
    CALL(pvm_getsbuf());
    pvm_initsend(PvmDataDefault);
    CALL(pvm_psend(me, 7, data, 1, PVM_INT));
    CALL(pvm_getsbuf() > 0);
    ID(pvm_recv(me, 7));
    tid = pvm_getrbuf();
    CALL(pvm_psend(me, 7, data, 1, PVM_INT));
    CALL(pvm_precv(me, 7, got, 1, PVM_INT, NULL, NULL, NULL));
    CALL(pvm_getrbuf() == tid);
}

static void one_call_short(void)
{
    int data[4] = {1, 2, 3, 4}, got[8] = {0}, bytes = 0;

    begin();
    CALL(pvm_psend(pvm_mytid(), 7, data, 4, PVM_INT));
    CALL(pvm_precv(pvm_mytid(), 7, got, 2, PVM_INT, NULL, NULL, &bytes));
    FACT("%d bytes: %d %d %d", bytes, got[0], got[1], got[2]);
    CALL(pvm_psend(pvm_mytid(), 7, data, -1, PVM_INT));
}

static void one_call_packed(void)
{
    int data[2] = {1, 2}, got[2] = {0}, bytes = 0;

    begin();
    pvm_initsend(PvmDataDefault);
    pvm_pkint(data, 2, 1);
    pvm_send(pvm_mytid(), 9);
    CALL(pvm_precv(pvm_mytid(), 9, got, 2, PVM_INT, NULL, NULL, &bytes));
    FACT("%d bytes: 0x%x", bytes, got[0]);
}

static void receiving(void)
{
    struct timeval limit = {0, 100000}, none = {0, 0}, bad = {0, -5};
    int me, probed;

    begin();
    me = pvm_mytid();
    CALL(pvm_nrecv(-1, -1));
    CALL(pvm_probe(-1, -1));
    CALL(pvm_trecv(-1, -1, &limit));
    CALL(pvm_trecv(-1, -1, &none));
    CALL(pvm_trecv(-1, -1, &bad));
    CALL(pvm_nrecv(-2, 1));
    CALL(pvm_nrecv(-1, -2));
    CALL(pvm_probe(-2, 1));
    CALL(pvm_trecv(-2, 1, &none));
    for (int tag = 1; tag <= 6; tag++)
        send_int(me, tag, tag * 11);
    let_all_come();
    probe_receive(-1, 3);
    probe_receive(me, 2);
    probe_receive(-1, -1);
    ID(probed = pvm_probe(-1, 5));
    CALL(pvm_probe(-1, 5) == probed);
    CALL(pvm_recv(-1, 5) == probed);
    CALL(pvm_probe(-1, 5));
    CALL(pvm_nrecv(no_task, 4));
    ID(pvm_nrecv(me, 4));
    ID(pvm_trecv(me, -1, NULL));
    CALL(pvm_nrecv(-1, -1));
    CALL(pvm_getrbuf() > 0);
    for (int i = 0; i < 4; i++)
        send_int(me, 7, i);
    for (int i = 0; i < 4; i++)
        probe_receive(-1, -1);
}

static void receiving_from_nobody(void)
{
    begin();
    CALL(pvm_recv(-2, 1));
}

/* Matches the message with the largest tag below 100 (a rank above 1 means: continue the search); 666 is an error. */
static int largest(int mid, int tid, int tag)
{
    int bytes, code, from;

    (void)tid;
    pvm_bufinfo(mid, &bytes, &code, &from);
    if (code == 666)
        return -1;
    return tag == -1 && code < 100 ? code + 1 : code == tag;
}

typedef int (*match)(int mid, int tid, int tag); /* the reference's header has a wrong type for pvm_recvf()'s result */

static void own_match(void)
{
    match old;

    begin();
    old = (match)(void *)pvm_recvf(largest);
    CALL(old != NULL);
    for (int tag = 1; tag <= 5; tag++)
        send_int(pvm_mytid(), tag * 7 % 5 + 10, tag);
    send_int(pvm_mytid(), 200, 200);
    let_all_come();
    for (int i = 0; i < 5; i++)
        probe_receive(-1, -1);
    probe_receive(-1, 200);
    CALL(pvm_nrecv(-1, -1));
    send_int(pvm_mytid(), 666, 0);
    probe_wait_ms(20);
    CALL(pvm_nrecv(-1, 5));
    CALL((match)(void *)pvm_recvf(NULL) == largest);
    probe_receive(-1, 666);
    CALL((match)(void *)pvm_recvf(old) == old);
}

static void contexts(void)
{
    int first, second;

    begin();
    CALL(pvm_getcontext());
    ID(first = pvm_newcontext());
    ID(second = pvm_newcontext());
    CALL(first != second);
    CALL(pvm_setcontext(first));
    CALL(pvm_getcontext() == first);
    send_int(pvm_mytid(), 50, 1);
    CALL(pvm_setcontext(second) == first);
    send_int(pvm_mytid(), 50, 2);
    CALL(pvm_setcontext(0) == second);
    probe_wait_ms(20);
    CALL(pvm_nrecv(-1, 50));
    CALL(pvm_setcontext(second));
    probe_receive(-1, 50);
    CALL(pvm_setcontext(-1) == second);
    probe_receive(-1, 50);
    CALL(pvm_setcontext(-2));
    CALL(pvm_setcontext(12345));
    CALL(pvm_getcontext());
    CALL(pvm_setcontext(0));
    CALL(pvm_freecontext(first));
    CALL(pvm_freecontext(first));
    CALL(pvm_freecontext(12345));
    ID(pvm_freecontext(0));
    CALL(pvm_freecontext(-1));
    CALL(pvm_freecontext(second));
    pvm_setcontext(first = pvm_newcontext());
    probe_children("context", NULL, 1);
    pvm_recv(probe_child[0], 1);
    pvm_upkint(&second, 1, 1);
    CALL(first == second);
}

static int handled(int mid)
{
    int bytes, tag, from, value = 0;

    pvm_bufinfo(mid, &bytes, &tag, &from);
    pvm_upkint(&value, 1, 1);
    FACT("handler: tag %d from %s, %d bytes: %d, it is %sthe receive buffer", tag, probe_name(from), bytes, value,
         pvm_getrbuf() == mid ? "" : "not ");
    return 0;
}

static int answering(int mid)
{
    int value = 0, from;

    pvm_bufinfo(mid, NULL, NULL, &from);
    pvm_upkint(&value, 1, 1);
    send_int(from, 72, value + 1);
    return 0;
}

static void handlers(void)
{
    int first, second, before, me;

    begin();
    me = pvm_mytid();
    ID(first = pvm_addmhf(-1, 60, -1, handled));
    CALL(pvm_addmhf(-1, 60, -1, handled));
    CALL(pvm_addmhf(me, 60, 0, handled)); /* the first one covers it */
    CALL(pvm_addmhf(-1, -1, -1, handled));
    ID(second = pvm_addmhf(me, 61, 0, handled));
    CALL(first != second);
    send_int(me, 60, 1);
    send_int(me, 61, 2);
    send_int(me, 62, 3);
    before = pvm_recv(me, 62);
    CALL(pvm_getrbuf() == before);
    CALL(pvm_nrecv(-1, 60));
    CALL(pvm_nrecv(-1, 61));
    CALL(pvm_delmhf(first));
    CALL(pvm_delmhf(first));
    CALL(pvm_delmhf(-1));
    CALL(pvm_delmhf(500));
    send_int(me, 60, 4);
    probe_receive(me, 60);
    ID(pvm_addmhf(-1, 71, 0, answering));
    pvm_initsend(PvmDataDefault);
    before = pvm_getsbuf();
    send_int(me, 71, 10);
    before = pvm_getsbuf();
    probe_receive(me, 72);
    CALL(pvm_getsbuf() == before);
    CALL(pvm_delmhf(second));
    ID(pvm_addmhf(0, 80, 0, handled));
    ID(pvm_addmhf(me, 81, 0, NULL));
}

const struct probe_section probe_message_table[] = {
    {"sending", sending},
    {"multicast", multicast},
    {"one-call", one_call},
    {"one-call-short", one_call_short},
    {"one-call-packed", one_call_packed},
    {"receiving", receiving},
    {"receiving-from-nobody", receiving_from_nobody},
    {"own-match", own_match},
    {"contexts", contexts},
    {"handlers", handlers},
    {NULL, NULL},
};
