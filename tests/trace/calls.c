/*
 * calls.c - makes every call that has an event in pvmtev.h, for the test of trace events. Roles: none: all calls;
 * "groups": those of libgpvm3; "event": events of the program itself; "quit": ends with exit() alone; "orphan":
 * continues after its trace destination has ended; "parent", "child": inheritance.
 */
#include <stdio.h> /* before pvm3.h: for pvm_catchout() */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pvm3.h"
#include "pvmtev.h"

static struct {
    char c[4];
    short s;
    unsigned short us;
    int i;
    unsigned u;
    long l;
    unsigned long ul;
    float f[2];
    double d[2];
    char text[40];
} data = {.c = "abc", .s = 1, .us = 2, .i = 3, .u = 4, .l = 5, .ul = 6, .f = {1, 2}, .d = {3, 4}};

static int me;

static int handler(int mid)
{
    (void)mid;
    return pvm_upkint(&data.i, 1, 1);
}

static int match(int mid, int tid, int tag)
{
    int bytes, its_tag, its_tid;
    (void)tid;
    pvm_bufinfo(mid, &bytes, &its_tag, &its_tid);
    return its_tag == tag;
}

static void pack(void)
{
    pvm_pkbyte(data.c, 3, 1);
    pvm_pkcplx(data.f, 1, 1);
    pvm_pkdcplx(data.d, 1, 1);
    pvm_pkdouble(data.d, 2, 1);
    pvm_pkfloat(data.f, 2, 1);
    pvm_pkint(&data.i, 1, 1);
    pvm_pkuint(&data.u, 1, 1);
    pvm_pklong(&data.l, 1, 1);
    pvm_pkulong(&data.ul, 1, 1);
    pvm_pkshort(&data.s, 1, 1);
    pvm_pkushort(&data.us, 1, 1);
    pvm_pkstr("hello");
    pvm_packf("%d %s", 3, "x");
}

static void unpack(void)
{
    pvm_upkbyte(data.c, 3, 1);
    pvm_upkcplx(data.f, 1, 1);
    pvm_upkdcplx(data.d, 1, 1);
    pvm_upkdouble(data.d, 2, 1);
    pvm_upkfloat(data.f, 2, 1);
    pvm_upkint(&data.i, 1, 1);
    pvm_upkuint(&data.u, 1, 1);
    pvm_upklong(&data.l, 1, 1);
    pvm_upkulong(&data.ul, 1, 1);
    pvm_upkshort(&data.s, 1, 1);
    pvm_upkushort(&data.us, 1, 1);
    pvm_upkstr(data.text);
    pvm_unpackf("%d %s", &data.i, data.text);
    pvm_upkint(&data.i, 1, 1); /* past the end */
}

static void send_number(int tid, int tag)
{
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&data.i, 1, 1);
    pvm_send(tid, tag);
}

static void messages(void)
{
    struct pvmminfo info;
    int a, b, c;
    pvm_initsend(PvmDataRaw);
    pack();
    pvm_send(me, 7);
    pvm_nrecv(me, 99);
    pvm_trecv(me, 99, &(struct timeval){.tv_usec = 1000});
    int mid = pvm_trecv(-1, 7, &(struct timeval){.tv_sec = 1});
    pvm_bufinfo(mid, &a, &b, &c);
    pvm_getminfo(mid, &info);
    pvm_setminfo(mid, &info);
    unpack();
    pvm_send(me, 7);
    pvm_probe(-1, 8);
    pvm_recv(-1, 7);
    pvm_send(1, 7); /* to nobody */
    pvm_psend(me, 8, &data.i, 1, PVM_INT);
    pvm_precv(-1, 8, &data.i, 1, PVM_INT, &a, &b, &c);
    int (*old)(int, int, int) = pvm_recvf(match);
    send_number(me, 9);
    pvm_recv(-1, 9);
    pvm_recvf(old);
    int tids[] = {me, pvm_parent()};
    pvm_mcast(tids, 2, 55);
    pvm_mcast(tids, 0, 55);
}

static void buffers(void)
{
    int mid = pvm_mkbuf(PvmDataRaw), old = pvm_setsbuf(mid);
    pvm_getsbuf();
    pvm_setsbuf(old);
    pvm_freebuf(mid);
    pvm_freebuf(999);
    old = pvm_setrbuf(0);
    pvm_getrbuf();
    pvm_setrbuf(old);
}

static void contexts_and_handlers(void)
{
    int ctx = pvm_newcontext();
    pvm_setcontext(ctx);
    pvm_getcontext();
    pvm_setcontext(0);
    pvm_freecontext(ctx);
    int id = pvm_addmhf(-1, 44, 0, handler);
    send_number(me, 44);
    pvm_nrecv(-1, 45);
    pvm_delmhf(id);
    pvm_delmhf(77);
}

static void machine(void)
{
    struct pvmhostinfo *hosts;
    struct pvmtaskinfo *tasks;
    struct timeval clock, delta;
    int n, formats, answers[10], *list, status[1];
    pvm_config(&n, &formats, &hosts);
    pvm_tasks(me, &n, &tasks);
    pvm_pstat(me);
    pvm_mstat("nowhere");
    pvm_tidtohost(me);
    pvm_archcode("NONE");
    pvm_hostsync(pvm_tidtohost(me), &clock, &delta);
    pvm_tickle(2, (int[]){3, 0}, &n, answers);
    pvm_getfds(&list);
    pvm_siblings(&list);
    pvm_perror("trace");
    pvm_version();
    pvm_setopt(PvmShowTids, 0);
    pvm_getopt(PvmShowTids);
    pvm_getopt(99);
    pvm_delhosts((char *[]){"nowhere.invalid"}, 1, status);
    pvm_addhosts((char *[]){"0.0.0.0:0:x"}, 1, status);
    pvm_start_pvmd(1, (char *[]){"-x"}, 1);
    pvm_notify(PvmTaskExit, 66, 1, &me);
    pvm_notify(PvmHostAdd, 67, -1, NULL);
    pvm_notify(99, 67, 1, &me);
    pvm_notify(PvmTaskExit | PvmNotifyCancel, 66, 1, &me);
}

static void masks(void)
{
    Pvmtmask mask;
    pvm_gettmask(PvmTaskSelf, mask);
    pvm_gettmask(PvmTaskChild, mask);
    pvm_settmask(PvmTaskChild, mask);
    pvm_settmask(9, mask);
}

static void mailbox(void)
{
    struct pvmmboxinfo *info;
    int n, value;
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&data.i, 1, 1);
    pvm_putinfo("tr.class", pvm_getsbuf(), PvmMboxDefault);
    pvm_recvinfo("tr.class", 0, 0);
    pvm_recvinfo("tr.none", 0, 0);
    pvm_getmboxinfo("tr*", &n, &info);
    pvm_delinfo("tr.class", 0, 0);
    pvm_insert("tr.old", -1, 5);
    pvm_lookup("tr.old", -1, &value);
    pvm_delete("tr.old", 0);
}

static void others(void)
{
    int tids[2];
    pvm_spawn("no-such-program", NULL, 0, "", 1, tids);
    if (pvm_spawn("/bin/sleep", (char *[]){"100", NULL}, PvmTaskHost, ".", 2, tids) == 2) {
        pvm_sendsig(tids[0], 9);
        pvm_kill(tids[1]);
    }
    pvm_kill(-5);
    pvm_catchout(stdout);
    pvm_catchout(NULL);
    pvm_reg_hoster();
    pvm_reg_hoster();
    pvm_reg_tasker();
    pvm_reg_tasker();
}

static void all_calls(void)
{
    messages();
    buffers();
    contexts_and_handlers();
    machine();
    masks();
    mailbox();
    others();
}

static void groups(void)
{
    int v[] = {1, 2}, r[2];
    pvm_joingroup("traced");
    pvm_joingroup("traced");
    pvm_gsize("traced");
    pvm_gettid("traced", 0);
    pvm_getinst("traced", me);
    pvm_getinst("traced", 1);
    pvm_barrier("traced", 1);
    pvm_initsend(PvmDataRaw);
    pvm_bcast("traced", 3);
    pvm_reduce(PvmSum, v, 2, PVM_INT, 9, "traced", 0);
    pvm_gather(r, v, 2, PVM_INT, 9, "traced", 0);
    pvm_scatter(r, v, 2, PVM_INT, 9, "traced", 0);
    pvm_lvgroup("traced");
    pvm_gsize("traced");
}

static void own_events(void)
{
    pvm_initsend(PvmDataTrace);
    pvm_pkstr("phase");
    pvm_pkint((int[]){1, 2, 3}, 2, 2);
    pvm_pkdouble(data.d, 1, 1);
    pvm_pkcplx(data.f, 1, 1);
    pvm_pkshort(&data.s, 1, 1);
    pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE);
    pvm_initsend(PvmDataRaw);
    pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE); /* is not one */
}

/* Its trace destination ends; it is notified, and no longer traced. */
static void orphan(void)
{
    for (int i = 0; i < 500 && pvm_getopt(PvmSelfTraceTid); i++)
        usleep(10000);
    FILE *f = fopen(getenv("TRACE_ORPHAN"), "w");
    if (f == NULL)
        return;
    fprintf(f, "destination %d\n", pvm_getopt(PvmSelfTraceTid));
    fclose(f);
}

/* The child has a trace mask other than ours; the second child is not traced. */
static void parent(const char *program)
{
    char *args[] = {"child", NULL};
    Pvmtmask mask;
    int tid;
    pvm_spawn((char *)program, args, 0, "", 1, &tid);
    pvm_recv(tid, 1);
    TEV_MASK_INIT(mask);
    TEV_MASK_SET(mask, TEV_GETOPT);
    pvm_settmask(PvmTaskChild, mask);
    pvm_spawn((char *)program, args, 0, "", 1, &tid);
    pvm_recv(tid, 1);
    pvm_setopt(PvmTraceTid, 0);
    pvm_spawn((char *)program, args, 0, "", 1, &tid);
    pvm_recv(tid, 1);
}

static void child(void)
{
    pvm_getopt(PvmRoute);
    send_number(pvm_parent(), 1);
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "";
    pvm_setopt(PvmAutoErr, 0);
    me = pvm_mytid();
    if (strcmp(role, "") == 0)
        all_calls();
    else if (strcmp(role, "groups") == 0)
        groups();
    else if (strcmp(role, "event") == 0)
        own_events();
    else if (strcmp(role, "orphan") == 0)
        orphan();
    else if (strcmp(role, "parent") == 0)
        parent(argv[0]);
    else if (strcmp(role, "child") == 0)
        child();
    else if (strcmp(role, "quit") == 0)
        return 0;
    pvm_exit();
    return 0;
}
