/*
 * sections_scenario.c - the scenarios in the manual pages of mailbox, contexts, handlers and match functions, with two
 * tasks where ownership matters.
 */
#include "probe.h"

enum { FLAGS = PvmMboxPersistent | PvmMboxMultiInstance | PvmMboxOverWritable, TAG_CLERK = 31, TAG_RESULT = 32 };

/* Operations of the clerk; see clerk() in roles.c. */
enum { PUT = 1, TAKE, DELETE };

static void begin(void)
{
    probe_quiet();
    pvm_mytid();
}

static int put(char *name, int value, int flags)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    return pvm_putinfo(name, pvm_getsbuf(), flags);
}

static int take(char *name, int index, int flags)
{
    int mid = pvm_recvinfo(name, index, flags), value = 0;

    if (mid > 0 && pvm_upkint(&value, 1, 1) == 0)
        return value;
    return mid;
}

/* Prints the result of the other task's pvm_putinfo() and similar calls. */
static void ask(int operation, char *name, int a, int b)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&operation, 1, 1);
    pvm_pkstr(name);
    pvm_pkint(&a, 1, 1);
    pvm_pkint(&b, 1, 1);
    pvm_send(probe_child[0], TAG_CLERK);
}

static int answer(void)
{
    int code = 0;

    pvm_recv(probe_child[0], TAG_RESULT);
    pvm_upkint(&code, 1, 1);
    return code;
}

static int clerk(int operation, char *name, int a, int b)
{
    ask(operation, name, a, b);
    return answer();
}

static void dismiss_clerk(void)
{
    int nothing = 0;

    pvm_notify(PvmTaskExit, 99, 1, probe_child);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&nothing, 1, 1);
    pvm_send(probe_child[0], TAG_CLERK);
    pvm_recv(-1, 99);
}

/* Prints indices, values, owners and flags of a class in one line. */
static void show(char *name)
{
    struct pvmmboxinfo *boxes;
    int n = 0;

    pvm_getmboxinfo(name, &n, &boxes);
    printf("  %s:", name);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < boxes[i].mi_nentries; k++)
            printf(" %d=%d(%s,%d)", boxes[i].mi_indices[k], take(name, boxes[i].mi_indices[k], 0),
                   probe_name(boxes[i].mi_owners[k]), boxes[i].mi_flags[k]);
    printf("\n");
}

/* Two entries with one name and all flags, of one task and of two; and who may delete them. */
static void mailbox_flags(void)
{
    char name[32];

    begin();
    probe_children("clerk", NULL, 1);
    for (int first = 0; first <= FLAGS; first++) {
        for (int second = 0; second <= FLAGS; second++) {
            snprintf(name, sizeof name, "mine-%d-%d", first, second);
            CALL(put(name, 1, first));
            FACT("%s: again %d", name, put(name, 2, second));
            show(name);
            snprintf(name, sizeof name, "ours-%d-%d", first, second);
            FACT("%s: other %d", name, clerk(PUT, name, 1, first));
            FACT("%s: own %d", name, put(name, 2, second));
            show(name);
            FACT("%s: read and delete %d", name, take(name, 0, PvmMboxReadAndDelete));
            FACT("%s: delete %d %d", name, pvm_delinfo(name, 0, 0), pvm_delinfo(name, 1, 0));
            show(name);
        }
    }
    dismiss_clerk();
}

/* Whom an entry is from, by both calls that say it. */
static void show_source(char *name)
{
    struct pvmminfo info = {.src = -1};
    int mid = pvm_recvinfo(name, 0, 0), bytes, tag, from = -1;

    if (mid <= 0)
        return;
    pvm_getminfo(mid, &info);
    pvm_bufinfo(mid, &bytes, &tag, &from);
    FACT("%s: from %s, %s", name, probe_name(info.src), probe_name(from));
}

/* Entries of a task that has ended. */
static void mailbox_death(void)
{
    char name[32];

    begin();
    probe_children("clerk", NULL, 1);
    for (int flags = 0; flags <= FLAGS; flags++)
        for (int what = 0; what < 4; what++) {
            snprintf(name, sizeof name, "%c-%d", "pdrn"[what], flags);
            FACT("%s: %d", name, clerk(PUT, name, 1, flags));
        }
    dismiss_clerk();
    for (int flags = 0; flags <= FLAGS; flags++) {
        snprintf(name, sizeof name, "p-%d", flags);
        show(name);
        show_source(name);
        FACT("%s: put %d", name, put(name, 2, PvmMboxDefault));
        show(name);
        *name = 'd';
        FACT("%s: delete %d", name, pvm_delinfo(name, 0, 0));
        *name = 'r';
        FACT("%s: read and delete %d", name, take(name, 0, PvmMboxReadAndDelete));
        *name = 'n';
        FACT("%s: another instance %d", name, put(name, 3, PvmMboxMultiInstance));
        show(name);
    }
}

/* Gaps among the indices, and the entries that fill them. */
static void mailbox_holes(void)
{
    begin();
    for (int i = 0; i < 6; i++)
        CALL(put("row", 10 + i, PvmMboxMultiInstance | PvmMboxOverWritable));
    CALL(pvm_delinfo("row", 0, 0));
    CALL(pvm_delinfo("row", 3, 0));
    CALL(pvm_delinfo("row", 4, 0));
    show("row");
    CALL(take("row", 0, PvmMboxDefault));
    CALL(take("row", 0, PvmMboxFirstAvail));
    CALL(take("row", 3, PvmMboxFirstAvail));
    CALL(take("row", 6, PvmMboxFirstAvail));
    CALL(take("row", 3, PvmMboxFirstAvail | PvmMboxReadAndDelete));
    CALL(put("row", 20, PvmMboxMultiInstance));
    CALL(put("row", 21, PvmMboxMultiInstance));
    CALL(put("row", 22, PvmMboxMultiInstance));
    show("row");
    CALL(put("row", 30, PvmMboxMultiInstance | PvmMboxOverWritable | PvmMboxDirectIndex(1)));
    CALL(put("row", 31, PvmMboxMultiInstance | PvmMboxDirectIndex(2)));
    CALL(put("row", 32, PvmMboxDirectIndex(3)));
    CALL(put("row", 33, PvmMboxMultiInstance | PvmMboxDirectIndex(12)));
    show("row");
}

/* Waiting for an entry: by name, by index, and to remove it. */
static void mailbox_waiting(void)
{
    begin();
    probe_children("clerk", NULL, 1);
    ask(TAKE, "late", 0, PvmMboxWaitForInfo);
    probe_wait_ms(50);
    CALL(put("late", 5, PvmMboxDefault));
    CALL(answer());
    ask(TAKE, "later", 2, PvmMboxWaitForInfo);
    probe_wait_ms(50);
    CALL(put("later", 6, PvmMboxMultiInstance));
    CALL(put("later", 7, PvmMboxMultiInstance));
    CALL(put("later", 8, PvmMboxMultiInstance));
    CALL(answer());
    ask(TAKE, "any", 3, PvmMboxWaitForInfo | PvmMboxFirstAvail);
    probe_wait_ms(50);
    CALL(put("any", 1, PvmMboxMultiInstance | PvmMboxDirectIndex(1)));
    CALL(put("any", 9, PvmMboxMultiInstance | PvmMboxDirectIndex(9)));
    CALL(answer());
    ask(TAKE, "gone", 0, PvmMboxWaitForInfo | PvmMboxReadAndDelete);
    probe_wait_ms(50);
    CALL(put("gone", 4, PvmMboxOverWritable));
    CALL(answer());
    show("gone");
    dismiss_clerk();
}

/* ---- contexts ---- */

static void contexts_freed(void)
{
    int first, again, me;

    begin();
    me = pvm_mytid();
    first = pvm_newcontext();
    CALL(pvm_setcontext(first) == 0);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&me, 1, 1);
    CALL(pvm_send(me, 5));
    CALL(pvm_freecontext(first));
    CALL(pvm_getcontext() == first);
    CALL(pvm_recv(-1, 5) > 0);
    CALL(pvm_freecontext(first));
    again = pvm_newcontext();
    CALL(again > 0);
    CALL(pvm_setcontext(again) == first);
    CALL(pvm_nrecv(-1, -1));
    CALL(pvm_freecontext(again));
    CALL(pvm_freecontext(-1));
    CALL(pvm_setcontext(0) == again);
}

/* ---- handlers ---- */

static int calls, own;

static int count(int mid)
{
    int value = 0;

    pvm_upkint(&value, 1, 1);
    FACT("handled %d, active %d", value, pvm_getrbuf() == mid);
    calls++;
    return 0;
}

static int count_once(int mid)
{
    count(mid);
    CALL(pvm_delmhf(own));
    return 0;
}

/* The example for replies in the manual page. */
static int reply(int mid)
{
    int from;

    pvm_bufinfo(mid, NULL, NULL, &from);
    CALL(pvm_packf("%+ %s", PvmDataDefault, "got your message"));
    CALL(pvm_send(from, 44));
    CALL(pvm_freebuf(pvm_setsbuf(0)));
    return 0;
}

static void send_int(int tag, int value)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    pvm_send(pvm_mytid(), tag);
}

/* Every call that receives runs handlers. */
static void handlers_in_calls(void)
{
    struct timeval limit = {0, 100000};
    int buffer, value = 7;
    char text[64] = "";

    begin();
    ID(pvm_addmhf(-1, 40, 0, count));
    send_int(40, 1);
    probe_wait_ms(30);
    CALL(pvm_nrecv(-1, 1));
    CALL(calls);
    send_int(40, 2);
    CALL(pvm_trecv(-1, 1, &limit));
    CALL(calls);
    send_int(40, 3);
    probe_wait_ms(30);
    CALL(pvm_probe(-1, 1));
    CALL(calls);
    send_int(40, 4);
    pvm_psend(pvm_mytid(), 41, &value, 1, PVM_INT);
    CALL(pvm_precv(-1, 41, &value, 1, PVM_INT, NULL, NULL, NULL));
    CALL(value);
    CALL(calls);
    ID(own = pvm_addmhf(-1, 42, 0, count_once));
    send_int(42, 6);
    send_int(42, 7);
    send_int(1, 8);
    probe_receive(-1, 1);
    CALL(calls);
    probe_receive(-1, 42);
    ID(pvm_addmhf(-1, 43, 0, reply));
    pvm_initsend(PvmDataDefault);
    buffer = pvm_getsbuf();
    pvm_pkint(&value, 1, 1);
    pvm_send(pvm_mytid(), 43);
    CALL(pvm_recv(-1, 44) > 0);
    CALL(pvm_upkstr(text));
    FACT("%s", text);
    CALL(pvm_getsbuf() == buffer);
}

/* ---- match functions ---- */

typedef int (*match)(int, int, int);

static int found, seen;

/* The example for a probe in the manual page. */
static int look(int mid, int tid, int tag)
{
    struct pvmminfo info;

    pvm_getminfo(mid, &info);
    if ((tid == -1 || tid == info.src) && (tag == -1 || tag == info.tag))
        found = 1;
    return 0;
}

static int probe_by_match(int tid, int tag)
{
    match old = (match)(void *)pvm_recvf(look);

    found = 0;
    CALL(pvm_nrecv(tid, tag));
    pvm_recvf(old);
    return found;
}

/* The reference sends messages to ourselves through the daemon. */
static void let_all_come(void)
{
    match old = (match)(void *)pvm_recvf(NULL);

    send_int(200, 0);
    pvm_recv(-1, 200);
    pvm_recvf(old);
}

/* The rank that the tag gives: tag - 50. */
static int as_told(int mid, int tid, int tag)
{
    int told;

    (void)tid, (void)tag;
    pvm_bufinfo(mid, NULL, &told, NULL);
    seen++;
    return told - 50;
}

static void match_values(void)
{
    struct timeval limit = {0, 50000};

    begin();
    send_int(50, 0);
    send_int(51, 1);
    let_all_come();
    CALL(probe_by_match(-1, 51));
    CALL(probe_by_match(-1, 77));
    CALL(probe_by_match(123, -1));
    pvm_recvf(as_told);
    CALL(pvm_probe(-1, -1) > 0);
    probe_receive(-1, -1);   /* 51: takes it */
    CALL(pvm_nrecv(-1, -1)); /* 50: none */
    CALL(pvm_trecv(-1, -1, &limit));
    send_int(52, 2);
    send_int(55, 5);
    send_int(53, 3);
    send_int(55, 6);
    let_all_come();
    probe_receive(-1, -1); /* the highest; among equal ones the first */
    probe_receive(-1, -1);
    send_int(51, 1);
    let_all_come();
    seen = 0;
    probe_receive(-1, -1); /* 1 ends the search, although 3 was seen */
    probe_receive(-1, -1);
    probe_receive(-1, -1);
    send_int(47, 9);
    let_all_come();
    CALL(pvm_nrecv(-1, -1)); /* -3 */
    CALL(pvm_recv(-1, -1));
    CALL(pvm_probe(-1, -1));
    pvm_recvf(NULL);
    probe_receive(-1, 47);
    probe_receive(-1, 50);
}

const struct probe_section probe_scenario_table[] = {
    {"mailbox-flags", mailbox_flags},   {"mailbox-death", mailbox_death},
    {"mailbox-holes", mailbox_holes},   {"mailbox-waiting", mailbox_waiting},
    {"contexts-freed", contexts_freed}, {"handlers-in-calls", handlers_in_calls},
    {"match-values", match_values},     {NULL, NULL},
};
