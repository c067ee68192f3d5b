#include "gserver.h"
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include "group.h"
#include "guard.h"
#include "launch.h"
#include "name.h"
#include "proto.h"
#include "pvm3.h"
#include "session.h"

/* Time limit for answers, set by programs that must not wait; NULL: none. Part of the interface. */
struct timeval *pvmgs_tmout;

enum {
    SHORT_LIFE_S = 1, /* a server that ends within this time of a request may have ended because of it */
    SHORT_LIVES_MAX = 100,
};

static int server;           /* tid, or 0 */
static int ended;            /* tid of the last server that has ended, or 0 */
static int watched;          /* number of answer tags with a notice of the server's exit */
static int serial;           /* of the last request */
static const void *reaching; /* the thread that is looking for the server, or NULL */
static _Thread_local bool asked_again;

int pvmg_gserver_find(void)
{
    int entry[2];

    if (pvm_recvinfo(PVMG_GROUP_SERVER_CLASS, 0, PvmMboxDefault) <= 0)
        return 0;
    if (pvm_upkint(entry, 2, 1) < 0 || entry[1] != PVMG_GROUP_PROTOCOL)
        return PvmBadVersion;
    return entry[0];
}

bool pvmg_gserver_is_known(int tid)
{
    return tid == server && watched > 0;
}

bool pvmg_gserver_is_ended(int tid)
{
    return tid == ended && tid != 0;
}

/* Requests notices of the server's exit with the tags on which we wait for answers; see pvmg_session_depth(). Stops
 * when such a notice arrives meanwhile: then there is no server. */
static int watch(int tid, int depth)
{
    int code = PvmOk;

    if (watched == 0) {
        pvm_setcontext(PVMG_GROUP_CTX_MEMBERS);
        code = pvm_notify(PvmTaskExit, PVMG_GROUP_TRAFFIC, 1, &tid);
        pvm_setcontext(PVMG_GROUP_CTX_SERVER);
    }
    while (watched <= depth && code >= 0 && server == tid) {
        code = pvm_notify(PvmTaskExit, PVMG_GROUP_ANSWER + watched, 1, &tid);
        if (server == tid)
            watched++;
    }
    return code;
}

static int find_or_launch(void)
{
    int tid = pvmg_gserver_find();
    return tid && !pvmg_gserver_is_ended(tid) ? tid : pvmg_launch_server();
}

/* Makes sure that there is a server and that we are notified of its exit. Runs in one thread at a time. */
static int reach_exclusively(void)
{
    int depth = pvmg_session_depth();

    while (!server || watched <= depth) {
        int tid = server ? server : find_or_launch();
        if (tid < 0)
            return tid;
        server = tid;
        int code = watch(tid, depth);
        if (code < 0) {
            pvmg_gserver_forget();
            return code;
        }
    }
    return PvmOk;
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
    code = reach_exclusively();
    reaching = outer;
    pvmi_lock_tell();
    return code;
}

int pvmg_gserver_tid(void)
{
    int code = reach();

    return code < 0 ? code : server;
}

void pvmg_gserver_gone(int tid)
{
    if (tid != server)
        return;
    ended = server;
    pvmg_gserver_forget();
    pvmg_group_lose_all();
}

void pvmg_gserver_forget(void)
{
    server = watched = 0;
    if (reaching != pvmi_lock_self())
        reaching = NULL; /* that thread is in the parent of this forked process */
}

void pvmg_gserver_left(void)
{
    if (reaching == pvmi_lock_self())
        reaching = NULL;
}

static int pack(int request, const char *group, const int *args, int n)
{
    int head[] = {request, PVMG_GROUP_ANSWER + pvmg_session_depth()};
    int code = pvm_initsend(PvmDataDefault);

    if (code >= 0)
        code = pvm_pkint(head, 2, 1);
    if (code >= 0)
        code = pvmg_name_pack(group);
    if (code >= 0 && n > 0)
        code = pvm_pkint((int *)args, n, 1);
    return code;
}

/* *to: the server that got the request; it may have ended meanwhile. */
static int send(int request, int operation, const char *group, const int *args, int n, int *to)
{
    int code = reach();

    *to = server;
    if (code >= 0)
        code = pack(request, group, args, n);
    if (code >= 0)
        code = pvm_send(*to, operation);
    return code;
}

int pvmg_gserver_send(int operation, const char *group, const int *args, int n)
{
    int to;

    return send(++serial, operation, group, args, n, &to);
}

/* Whether the answer waits for other members. */
static bool is_open_ended(int operation)
{
    return operation == PVMG_GROUP_BARRIER || operation == PVMG_GROUP_FREEZE;
}

/* Whether the received message is the answer to this request; *code is then its code. */
static bool is_answer(int request, int operation, const char *group, int *code)
{
    char name[PVMG_GROUP_NAME_MAX + 1];
    int number;

    if (pvm_upkint(&number, 1, 1) < 0 || pvm_upkint(code, 1, 1) < 0)
        return false;
    if (number == request)
        return true;
    return number == 0 && is_open_ended(operation) && pvmg_name_unpack(name, sizeof(name)) >= 0 &&
           strcmp(name, group) == 0;
}

static int receive(int operation)
{
    int tag = PVMG_GROUP_ANSWER + pvmg_session_depth();
    if (!pvmgs_tmout || is_open_ended(operation))
        return pvm_recv(-1, tag);
    int code = pvm_trecv(-1, tag, pvmgs_tmout);
    return code == 0 ? PvmDSysErr : code;
}

/* Waits for the answer of this server: its code, or PvmDSysErr and *gone if it has ended without one. */
static int await(int request, int operation, const char *group, int asked, bool *gone)
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
            pvmg_gserver_gone(tid);
            *gone = tid == asked; /* what it had sent has arrived before */
            if (*gone)
                return PvmDSysErr;
        }
    }
}

/* Asks one server; *gone: it has ended without an answer. */
static int ask_once(int request, int operation, const char *group, const int *args, int n, bool *gone)
{
    int asked, code = send(request, operation, group, args, n, &asked);

    return code < 0 ? code : await(request, operation, group, asked, gone);
}

bool pvmg_gserver_asked_again(void)
{
    return asked_again;
}

int pvmg_gserver_ask(int operation, const char *group, const int *args, int n)
{
    int request = ++serial, short_lives = 0, code = PvmDSysErr;
    bool again = false, gone = true;

    for (; gone && short_lives < SHORT_LIVES_MAX; again |= gone) {
        time_t start = time(NULL);

        gone = false;
        code = ask_once(request, operation, group, args, n, &gone);
        short_lives = time(NULL) - start <= SHORT_LIFE_S ? short_lives + 1 : 0;
    }
    asked_again = again; /* now: handlers may have asked meanwhile */
    return code;
}
