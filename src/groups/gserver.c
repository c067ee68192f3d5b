#include "gserver.h"
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include "group.h"
#include "guard.h"
#include "launch.h"
#include "name.h"
#include "proto.h"
#include "pvm3.h"
#include "session.h"

/* Time limit of an answer, for programs that cannot wait; NULL: none. Part of the interface. */
struct timeval *pvmgs_tmout;

static int server;           /* tid, or 0 */
static int watched;          /* for how many tags of answers we are told of its end */
static int serial;           /* of the last request */
static const void *reaching; /* the thread that is on its way to the server, or NULL */

int pvmi_gserver_find(void)
{
    int entry[2];

    if (pvm_recvinfo(PVMI_GROUP_SERVER_CLASS, 0, PvmMboxDefault) <= 0)
        return 0;
    if (pvm_upkint(entry, 2, 1) < 0 || entry[1] != PVMI_GROUP_PROTOCOL)
        return PvmBadVersion;
    return entry[0];
}

/* Asks for notices of the server's end, where and with the tags that we wait for; `depth` as in pvmi_session_depth().
 */
static int watch(int depth)
{
    int code = PvmOk;

    if (watched == 0) {
        pvm_setcontext(PVMI_GROUP_CTX_MEMBERS);
        code = pvm_notify(PvmTaskExit, PVMI_GROUP_TRAFFIC, 1, &server);
        pvm_setcontext(PVMI_GROUP_CTX_SERVER);
    }
    for (; watched <= depth && code >= 0; watched++)
        code = pvm_notify(PvmTaskExit, PVMI_GROUP_ANSWER + watched, 1, &server);
    return code;
}

static int find_or_launch(void)
{
    int tid = pvmi_gserver_find();
    return tid ? tid : pvmi_launch_server();
}

/* Makes sure that there is a server, and that we hear of its end. One thread at a time. */
static int reach_alone(void)
{
    if (!server) {
        int tid = find_or_launch();
        if (tid < 0)
            return tid;
        server = tid;
    }
    if (watched > pvmi_session_depth())
        return PvmOk;
    int code = watch(pvmi_session_depth());
    if (code < 0)
        pvmi_gserver_forget();
    return code;
}

static bool none_reaches(void *arg)
{
    (void)arg;
    return !reaching || reaching == pvmi_lock_self();
}

static int reach(void)
{
    const void *outer;
    int code = PvmOk;

    while (!none_reaches(NULL) && code >= 0)
        code = pvmi_lock_wait(none_reaches, NULL);
    if (code < 0)
        return code;
    outer = reaching;
    reaching = pvmi_lock_self();
    code = reach_alone();
    reaching = outer;
    pvmi_lock_tell();
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
    pvmi_gserver_forget();
    pvmi_group_lose_all();
}

void pvmi_gserver_forget(void)
{
    server = watched = 0;
    if (reaching != pvmi_lock_self())
        reaching = NULL; /* it was in the process that we were forked from */
}

void pvmi_gserver_left(void)
{
    if (reaching == pvmi_lock_self())
        reaching = NULL;
}

static int pack(int request, const char *group, const int *args, int n)
{
    int head[] = {request, PVMI_GROUP_ANSWER + pvmi_session_depth()};
    int code = pvm_initsend(PvmDataDefault);

    if (code >= 0)
        code = pvm_pkint(head, 2, 1);
    if (code >= 0)
        code = pvmi_name_pack(group);
    if (code >= 0 && n > 0)
        code = pvm_pkint((int *)args, n, 1);
    return code;
}

static int send(int request, int operation, const char *group, const int *args, int n)
{
    int code = reach();

    if (code >= 0)
        code = pack(request, group, args, n);
    if (code >= 0)
        code = pvm_send(server, operation);
    if (code >= 0 || code == PvmNoMem || code == PvmSysErr)
        return code;
    pvmi_gserver_gone(server);
    return PvmDSysErr;
}

int pvmi_gserver_send(int operation, const char *group, const int *args, int n)
{
    return send(++serial, operation, group, args, n);
}

/* Does the answer depend on other members? */
static bool is_open_ended(int operation)
{
    return operation == PVMI_GROUP_BARRIER || operation == PVMI_GROUP_FREEZE;
}

/* Is this message the answer we wait for? Then its code is in *code. */
static bool is_answer(int request, int operation, const char *group, int *code)
{
    char name[PVMI_GROUP_NAME_MAX + 1];
    int number;

    if (pvm_upkint(&number, 1, 1) < 0 || pvm_upkint(code, 1, 1) < 0)
        return false;
    if (number == request)
        return true;
    return number == 0 && is_open_ended(operation) && pvmi_name_unpack(name, sizeof(name)) >= 0 &&
           strcmp(name, group) == 0;
}

static int receive(int operation)
{
    int tag = PVMI_GROUP_ANSWER + pvmi_session_depth();
    if (!pvmgs_tmout || is_open_ended(operation))
        return pvm_recv(-1, tag);
    int code = pvm_trecv(-1, tag, pvmgs_tmout);
    return code == 0 ? PvmDSysErr : code;
}

static int await(int request, int operation, const char *group)
{
    for (;;) {
        int from = 0, tid = 0, code = receive(operation);

        if (code < 0)
            return code;
        pvm_bufinfo(code, NULL, NULL, &from);
        if (from >= 0) {
            if (is_answer(request, operation, group, &code))
                return code;
        } else if (pvm_upkint(&tid, 1, 1) >= 0) {
            pvmi_gserver_gone(tid);
        }
        if (!server)
            return PvmDSysErr;
    }
}

int pvmi_gserver_ask(int operation, const char *group, const int *args, int n)
{
    int request = ++serial;
    int code = send(request, operation, group, args, n);

    return code < 0 ? code : await(request, operation, group);
}
