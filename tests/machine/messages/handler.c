/*
 * handler - message handlers do what a program does: send, receive, spawn, multicast; in every call that waits. Also
 * two independent libraries in one program: handler [HOSTS].
 */
#include "tests/machine/runner/check.h"

enum { TAG_CALL = 1, TAG_ANSWER, TAG_GO, TAG_NEVER, TAG_ASK, TAG_TOLD, TAG_DATA, TAG_LATE, TAG_END };

static int handled, caller;

/* ---- a caller: sends n calls when told, and expects an answer to each ---- */

static void call(int argc, char **argv)
{
    (void)argc, (void)argv;
    int parent = pvm_parent();
    for (int n; (n = check_receive_int(parent, TAG_GO)) > 0;) {
        check_sleep_ms(20); /* they are waiting by now */
        for (int i = 0; i < n; i++)
            check_send_int(parent, TAG_CALL, i);
        for (int i = 0; i < n; i++)
            CHECK_EQ(check_receive_int(parent, TAG_ANSWER), 10 * i);
        check_send_int(parent, TAG_END, n); /* this ends their wait */
    }
}

/* The reply of pvm_addmhf's manual page. */
static int answer(int mid)
{
    int value, from;
    CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &from), 0);
    CHECK_EQ(pvm_unpackf("%d", &value), 0);
    CHECK_EQ(pvm_packf("%+ %d", PvmDataDefault, 10 * value), 0);
    CHECK_EQ(pvm_send(from, TAG_ANSWER), 0);
    CHECK_EQ(pvm_freebuf(pvm_setsbuf(0)), 0);
    handled++;
    return 0;
}

/* Each kind of call that waits; none of them may end before the handler has run. */
static void check_calls_that_wait(const char *host)
{
    struct timeval long_enough = {check_limit_s(), 0}, soon = {0, 200000};
    int id = pvm_addmhf(-1, TAG_CALL, 0, answer), value = 0, tid;
    CHECK(id >= 0);
    check_spawn("call", NULL, host, 1, &caller);

    check_send_int(caller, TAG_GO, 3);
    CHECK(pvm_recv(caller, TAG_END) > 0);
    CHECK_EQ(handled, 3);
    check_send_int(caller, TAG_GO, 2);
    CHECK(pvm_trecv(caller, TAG_END, &long_enough) > 0);
    CHECK_EQ(handled, 5);
    check_send_int(caller, TAG_GO, 1);
    CHECK_EQ(pvm_precv(caller, TAG_END, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
    CHECK_EQ(value, 1);
    CHECK_EQ(handled, 6);
    check_send_int(caller, TAG_GO, 1);
    CHECK_EQ(pvm_trecv(-1, TAG_NEVER, &soon), 0); /* the time limit ended it although a message arrived */
    CHECK_EQ(handled, 7);
    check_receive(caller, TAG_END);
    check_send_int(caller, TAG_GO, 1);
    while (pvm_nrecv(caller, TAG_END) == 0)
        check_sleep_ms(1);
    CHECK_EQ(handled, 8);
    check_send_int(caller, TAG_GO, 1);
    while (pvm_probe(caller, TAG_END) == 0)
        check_sleep_ms(1);
    CHECK_EQ(handled, 9);
    check_receive(caller, TAG_END);
    check_send_int(caller, TAG_GO, 1);
    check_spawn("late", NULL, host, 1, &tid); /* sends the awaited message some time after the calls */
    CHECK(pvm_recvinfo("late", 0, PvmMboxWaitForInfo) > 0);
    CHECK_EQ(handled, 10);
    check_receive(caller, TAG_END);
    check_send_int(tid, TAG_GO, 0);
    check_send_int(caller, TAG_GO, 0);
    check_wait_exit(1, &caller);
    CHECK_EQ(pvm_delmhf(id), 0);
}

static void late(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_sleep_ms(300);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_putinfo("late", pvm_getsbuf(), PvmMboxDefault), 0);
    check_receive(pvm_parent(), TAG_GO);
}

/* ---- a handler that does everything ---- */

static int own_id, depth, order[8], ordered;

static int note_only(int mid)
{
    int value;
    (void)mid;
    CHECK_EQ(depth, 0); /* handlers do not nest */
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    order[ordered++] = value;
    return 0;
}

/* Answers a question, then sends what it is told to; twice. */
static void teller(int argc, char **argv)
{
    (void)argc, (void)argv;
    int value = check_receive_int(pvm_parent(), TAG_ASK);
    check_send_int(pvm_parent(), TAG_LATE, value); /* for another handler, which has to wait */
    check_send_int(pvm_parent(), TAG_TOLD, value + 1);
    check_receive(pvm_parent(), TAG_DATA);
    check_send_int(pvm_parent(), TAG_TOLD, value + 2);
}

/* Spawns, asks, waits, multicasts, uses the mailbox, and removes itself. */
static int do_everything(int mid)
{
    int tids[2], value;
    CHECK_EQ(depth++, 0);
    CHECK_EQ(pvm_getcontext(), 0);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    check_spawn("teller", NULL, NULL, 2, tids);
    for (int i = 0; i < 2; i++)
        check_send_int(tids[i], TAG_ASK, value + i);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(check_receive_int(tids[i], TAG_TOLD), value + i + 1);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_mcast(tids, 2, TAG_DATA), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pvm_precv(tids[i], TAG_TOLD, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
    CHECK_EQ(pvm_putinfo("handler", pvm_getsbuf(), PvmMboxDefault), 0);
    CHECK_EQ(pvm_delinfo("handler", 0, 0), 0);
    CHECK_EQ(pvm_delmhf(own_id), 0);
    CHECK(pvm_addmhf(-1, TAG_NEVER, 0, note_only) >= 0);
    CHECK_EQ(pvm_freebuf(mid), 0); /* its own message */
    CHECK_EQ(pvm_setcontext(12345), 0);
    depth--;
    handled++;
    return 0;
}

static void check_handler_does_everything(void)
{
    int me = pvm_mytid(), later = pvm_addmhf(-1, TAG_LATE, 0, note_only);
    handled = ordered = 0;
    own_id = pvm_addmhf(me, TAG_DATA, 0, do_everything);
    CHECK(own_id >= 0 && later >= 0);
    int mine = pvm_initsend(PvmDataDefault);
    check_send_int(me, TAG_DATA, 50);
    mine = pvm_getsbuf();
    check_send_int(me, TAG_DATA, 51); /* the handler has been removed by then */
    mine = pvm_getsbuf();
    CHECK_EQ(check_receive_int(me, TAG_DATA), 51);
    CHECK_EQ(handled, 1);
    CHECK_EQ(pvm_getsbuf(), mine);
    CHECK_EQ(pvm_getcontext(), 0);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(ordered, 2);
    CHECK_EQ(order[0] + order[1], 50 + 51);
    check_send_int(me, TAG_NEVER, 7);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(order[2], 7);
    CHECK_EQ(pvm_delmhf(later), 0);
}

/* ---- two libraries: each has a context that it found in the mailbox, a handler there, and uses the same tags ---- */

struct library {
    const char *name;
    int context, sum, questions;
};

static struct library libraries[2] = {{.name = "library-a"}, {.name = "library-b"}};

/* The first one to ask creates the context; all others find it. */
static void open_library(struct library *l)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    int context = pvm_newcontext();
    CHECK_EQ(pvm_pkint(&context, 1, 1), 0);
    int index = pvm_putinfo((char *)l->name, pvm_getsbuf(), PvmMboxPersistent);
    if (index < 0) { /* another task was faster */
        CHECK_EQ(index, PvmDenied);
        CHECK_EQ(pvm_freecontext(context), 0);
        CHECK(pvm_recvinfo((char *)l->name, 0, PvmMboxDefault) > 0);
        CHECK_EQ(pvm_upkint(&context, 1, 1), 0);
    }
    l->context = context;
}

static int answer_for(struct library *l, int mid)
{
    int value, from;
    CHECK_EQ(pvm_getcontext(), l->context);
    CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &from), 0);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    check_send_int(from, TAG_ANSWER, value + (l == libraries ? 1000 : 2000));
    l->questions++;
    return 0;
}

static int answer_a(int mid)
{
    return answer_for(&libraries[0], mid);
}

static int answer_b(int mid)
{
    return answer_for(&libraries[1], mid);
}

/* A call of a library: its caller's context is restored. */
static int ask_library(struct library *l, int tid, int value)
{
    int outer = pvm_setcontext(l->context);
    check_send_int(tid, TAG_ASK, value);
    int told = check_receive_int(-1, TAG_ANSWER); /* any sender: the context contains no other messages */
    CHECK_EQ(pvm_setcontext(outer), l->context);
    return told;
}

static void use_libraries(int partner)
{
    static int (*const answers[])(int mid) = {answer_a, answer_b};
    int me = pvm_mytid();
    for (int i = 0; i < 2; i++) {
        open_library(&libraries[i]);
        CHECK(pvm_addmhf(-1, TAG_ASK, libraries[i].context, answers[i]) >= 0);
    }
    CHECK(libraries[0].context != libraries[1].context);
    check_send_int(partner, TAG_GO, me);
    check_receive(partner, TAG_GO);
    check_send_int(me, TAG_ANSWER, -1); /* the program's own messages have the same tags */
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(ask_library(&libraries[0], partner, i), 1000 + i);
        CHECK_EQ(ask_library(&libraries[1], partner, i), 2000 + i);
    }
    check_send_int(partner, TAG_END, 0);
    check_receive(partner, TAG_END); /* answers until the partner is finished, too */
    CHECK_EQ(libraries[0].questions, 50);
    CHECK_EQ(libraries[1].questions, 50);
    CHECK_EQ(check_receive_int(me, TAG_ANSWER), -1);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
}

static void partner(int argc, char **argv)
{
    (void)argc, (void)argv;
    use_libraries(pvm_parent());
}

static void check_two_libraries(const char *host)
{
    int tid;
    check_spawn("partner", NULL, host, 1, &tid);
    use_libraries(tid);
    check_wait_exit(1, &tid);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pvm_delinfo((char *)libraries[i].name, 0, 0) >= 0 || pvm_errno == PvmDenied, 1);
        CHECK_EQ(pvm_freecontext(libraries[i].context), 0);
    }
}

/* ---- siblings: they share the context in which they were spawned ---- */

static void sibling(int argc, char **argv)
{
    (void)argc;
    int *tids, n = pvm_siblings(&tids), me = pvm_mytid(), context = atoi(argv[1]);
    CHECK_EQ(pvm_getcontext(), context);
    CHECK_EQ(n, 3);
    for (int i = 0; i < n; i++)
        if (tids[i] != me)
            check_send_int(tids[i], TAG_DATA, me);
    CHECK_EQ(pvm_setcontext(0), context);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    pvm_setcontext(context);
    for (int i = 0; i < n; i++)
        if (tids[i] != me)
            CHECK_EQ(check_receive_int(tids[i], TAG_DATA), tids[i]);
    if (argc > 2)
        return;
    int tid, inherited = pvm_newcontext(); /* a grandchild has its own parent's */
    char text[16], *child[] = {"sibling-child", text, NULL};
    snprintf(text, sizeof text, "%d", inherited);
    pvm_setcontext(inherited);
    CHECK_EQ(pvm_spawn((char *)check_program(), child, PvmTaskDefault, "", 1, &tid), 1);
    CHECK_EQ(check_receive_int(tid, TAG_TOLD), inherited);
    CHECK_EQ(pvm_freecontext(inherited), 0);
    pvm_setcontext(context);
    check_send_int(pvm_parent(), TAG_END, 0);
}

static void sibling_child(int argc, char **argv)
{
    (void)argc;
    CHECK_EQ(pvm_getcontext(), atoi(argv[1]));
    check_send_int(pvm_parent(), TAG_TOLD, pvm_getcontext());
}

static void check_siblings(void)
{
    int tids[3], context = pvm_newcontext();
    char text[16];
    snprintf(text, sizeof text, "%d", context);
    pvm_setcontext(context);
    check_spawn("sibling", text, NULL, 3, tids);
    pvm_setcontext(0);
    check_sleep_ms(50);
    CHECK_EQ(pvm_nrecv(-1, -1), 0); /* theirs are not in this one */
    pvm_setcontext(context);
    for (int i = 0; i < 3; i++)
        check_receive(tids[i], TAG_END);
    pvm_setcontext(0);
    CHECK_EQ(pvm_freecontext(context), 0);
    CHECK_EQ(pvm_freecontext(context), PvmNotFound);
    check_wait_exit(3, tids);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    const char *host = check_host_name(hosts - 1);
    check_calls_that_wait(host);
    check_handler_does_everything();
    check_two_libraries(host);
    check_siblings();
}

static const struct check_role roles[] = {{"call", call},       {"late", late},       {"teller", teller},
                                          {"partner", partner}, {"sibling", sibling}, {"sibling-child", sibling_child},
                                          {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
