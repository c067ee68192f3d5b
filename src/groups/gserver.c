#include "gserver.h"
#include <string.h>
#include <sys/time.h>
#include "group.h"
#include "launch.h"
#include "name.h"
#include "proto.h"
#include "pvm3.h"

/* Time limit of an answer, for programs that cannot wait; NULL: none. Part of the interface. */
struct timeval *pvmgs_tmout;

static int server; /* tid, or 0 */
static int serial; /* of the last request */

int pvmi_gserver_find(void)
{
    int tid = 0;

    if (pvm_recvinfo(PVMI_GROUP_SERVER_CLASS, 0, PvmMboxDefault) <= 0 || pvm_upkint(&tid, 1, 1) < 0)
        return 0;
    return tid > 0 ? tid : 0;
}

/* Asks to be told of the server's end, whichever of our contexts we wait in. */
static int watch(void)
{
    static const int contexts[] = {PVMI_GROUP_CTX_MEMBERS, PVMI_GROUP_CTX_SERVER};
    int code = PvmOk;

    for (int i = 0; i < 2 && code >= 0; i++) {
        pvm_setcontext(contexts[i]);
        code = pvm_notify(PvmTaskExit, PVMI_GROUP_GONE, 1, &server);
    }
    return code;
}

static int reach(void)
{
    int code;

    if (server)
        return PvmOk;
    server = pvmi_gserver_find();
    if (!server) {
        code = pvmi_launch_server();
        if (code < 0)
            return code;
        server = code;
    }
    code = watch();
    if (code < 0)
        server = 0;
    return code;
}

int pvmi_gserver_tid(void)
{
    int code = reach();

    return code < 0 ? code : server;
}

void pvmi_gserver_gone(int tid)
{
    if (tid != server)
        return;
    server = 0;
    pvmi_group_lose_all();
}

void pvmi_gserver_forget(void)
{
    server = 0;
}

static int pack(const char *group, const int *args, int n)
{
    int code = pvm_initsend(PvmDataDefault);

    serial++;
    if (code >= 0)
        code = pvm_pkint(&serial, 1, 1);
    if (code >= 0)
        code = pvmi_name_pack(group);
    if (code >= 0 && n > 0)
        code = pvm_pkint((int *)args, n, 1);
    return code;
}

int pvmi_gserver_send(int operation, const char *group, const int *args, int n)
{
    int code = reach();

    if (code >= 0)
        code = pack(group, args, n);
    if (code >= 0)
        code = pvm_send(server, operation);
    if (code >= 0 || code == PvmNoMem || code == PvmSysErr)
        return code;
    pvmi_gserver_gone(server);
    return PvmDSysErr;
}

/* Is this message the answer we wait for? Then 1 and its code in *code. */
static int is_answer(int operation, const char *group, int *code)
{
    char name[PVMI_GROUP_NAME_MAX + 1];
    int number;

    if (pvm_upkint(&number, 1, 1) < 0 || pvm_upkint(code, 1, 1) < 0)
        return 0;
    if (number == serial)
        return 1;
    return number == 0 && (operation == PVMI_GROUP_BARRIER || operation == PVMI_GROUP_FREEZE) &&
           pvmi_name_unpack(name, sizeof(name)) >= 0 && strcmp(name, group) == 0;
}

static int receive(int operation)
{
    int code;

    if (!pvmgs_tmout || operation == PVMI_GROUP_BARRIER || operation == PVMI_GROUP_FREEZE)
        return pvm_recv(-1, -1);
    code = pvm_trecv(-1, -1, pvmgs_tmout);
    return code == 0 ? PvmDSysErr : code;
}

static int await(int operation, const char *group)
{
    for (;;) {
        int tag = 0, tid = 0, code = receive(operation);

        if (code < 0)
            return code;
        pvm_bufinfo(code, NULL, &tag, NULL);
        if (tag == operation && is_answer(operation, group, &code))
            return code;
        if (tag == PVMI_GROUP_GONE && pvm_upkint(&tid, 1, 1) >= 0 && tid == server)
            pvmi_gserver_gone(tid);
        if (!server)
            return PvmDSysErr;
    }
}

int pvmi_gserver_ask(int operation, const char *group, const int *args, int n)
{
    int code = pvmi_gserver_send(operation, group, args, n);

    return code < 0 ? code : await(operation, group);
}
