/*
 * manager - a resource manager that is asked instead of the daemon, answers correctly and wrongly, and ends: manager
 * [HOSTS].
 */
#include <signal.h>
#include "tests/machine/runner/check.h"
#include "pvmproto.h"

enum { TAG_READY = 1, TAG_MODE, TAG_RESULT, TAG_EXIT, TAG_REPORT, TAG_SEEN };

/* What the manager does with the next question. */
enum mode { GOOD, CODE, GARBAGE, TOO_FEW, TWICE, DIE, HAND_OVER, QUIET, END };

static int hosts;

/* ---- the manager ---- */

static void send_with(int to, int tag, int wait_id)
{
    struct pvmminfo header;
    CHECK_EQ(pvm_getminfo(pvm_getsbuf(), &header), 0);
    header.wid = wait_id;
    CHECK_EQ(pvm_setminfo(pvm_getsbuf(), &header), 0);
    CHECK_EQ(pvm_send(to, tag), 0);
}

static void pack_int(int value)
{
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
}

static int unpack_int(void)
{
    int value;
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    return value;
}

static char *unpack_text(void)
{
    static char text[16][65536];
    static int next;
    char *to = text[next++ % 16];
    CHECK_EQ(pvm_upkstr(to), 0);
    return to;
}

/* The last of three hosts, or the only one, starts all. */
static int host_for_all(void)
{
    struct pvmhostinfo *h;
    int n;
    CHECK_EQ(pvm_config(&n, NULL, &h), 0);
    return h[n - 1].hi_tid;
}

static void start_all(const struct pvmminfo *question)
{
    char *file = unpack_text(), *texts[64];
    int flags = unpack_int();
    CHECK_EQ(flags >> 16, 0); /* only what PVM 3.4 has */
    CHECK_TEXT(unpack_text(), "somewhere");
    int count = unpack_int(), argc = unpack_int(), destinations[6], n = 0;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    pack_int(question->src);
    CHECK_EQ(pvm_pkstr(file), 0);
    pack_int(flags);
    pack_int(count);
    pack_int(argc);
    for (int i = 0; i < argc; i++)
        CHECK_EQ(pvm_pkstr(unpack_text()), 0);
    CHECK_EQ(pvm_upkint(destinations, 6, 1), 0);
    CHECK_EQ(pvm_pkint(destinations, 6, 1), 0);
    n = unpack_int();
    CHECK(n >= 4 && n < 64);
    pack_int(n);
    for (int i = 0; i < n; i++) {
        texts[i] = unpack_text();
        CHECK_EQ(pvm_pkstr(texts[i]), 0);
    }
    pack_int(0);
    pack_int(count);
    send_with((int)(0x80000000u | (unsigned)host_for_all()), SM_EXEC, 4711);
}

/* SM_EXECACK of ours; those of programs that enrol have no wait id. */
static void forward_started(const struct pvmminfo *question)
{
    struct pvmminfo header;
    do
        CHECK_EQ(pvm_getminfo(check_receive(-1, SM_EXECACK), &header), 0);
    while (header.wid != 4711);
    int n = unpack_int();
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    pack_int(n);
    for (int i = 0; i < n; i++)
        pack_int(unpack_int());
    send_with(question->src, SM_SPAWN, question->wid);
}

static void answer_well(const struct pvmminfo *q)
{
    switch (q->tag) {
    case SM_SPAWN:
        start_all(q);
        forward_started(q);
        return;
    case SM_CONFIG:
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(1);
        pack_int(1);
        pack_int(0x40000);
        CHECK_EQ(pvm_pkstr("the only one"), 0);
        CHECK_EQ(pvm_pkstr("DREAM"), 0);
        pack_int(77);
        pack_int(0x408c41);
        break;
    case SM_TASK:
        CHECK_EQ(unpack_int(), 0);
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(0);
        for (int i = 1; i <= 2; i++) {
            pack_int(i);
            pack_int(i + 10);
            pack_int(i + 20);
            pack_int(i + 30);
            CHECK_EQ(pvm_pkstr("dream"), 0);
            pack_int(i + 40);
        }
        break;
    case SM_ADDHOST:
        CHECK_EQ(unpack_int(), 2);
        CHECK_TEXT(unpack_text(), "one sp=9");
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(2);
        pack_int(0);
        for (int i = 0; i < 2; i++) {
            pack_int(i ? PvmDupHost : 0xc0000);
            CHECK_EQ(pvm_pkstr(""), 0);
            CHECK_EQ(pvm_pkstr(""), 0);
            pack_int(0);
            pack_int(0);
        }
        break;
    case SM_DELHOST:
        CHECK_EQ(unpack_int(), 2);
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(2);
        pack_int(PvmNoHost);
        pack_int(0);
        break;
    case SM_SCHED:
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(PvmAlready);
        break;
    default:
        return;
    }
    send_with(q->src, q->tag, q->wid);
}

static void hand_over(const struct pvmminfo *q)
{
    CHECK_EQ(q->tag, SM_SCHED);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    pack_int(q->src);
    CHECK_EQ(pvm_send((int)0x80000000, SM_HANDOFF), 0);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    pack_int(0);
    send_with(q->src, SM_SCHED, q->wid);
}

static void answer(enum mode mode, const struct pvmminfo *q)
{
    switch (mode) {
    case CODE:
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(PvmOutOfRes);
        send_with(q->src, q->tag, q->wid);
        break;
    case GARBAGE: /* no single one of these is an answer; those with another wait id or tag belong to no question */
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        send_with(q->src, q->tag, q->wid + 1000);
        send_with(q->src, SM_LAST, q->wid);
        CHECK_EQ(pvm_pkstr("what?"), 0);
        pack_int(0x7fffffff);
        send_with(q->src, q->tag, q->wid);
        break;
    case TOO_FEW:
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        pack_int(2);
        pack_int(0x40001);
        send_with(q->src, q->tag, q->wid);
        break;
    case DIE:
        raise(SIGKILL);
        break;
    case HAND_OVER:
        hand_over(q);
        break;
    case TWICE:
        answer_well(q);
        send_with(q->src, q->tag, q->wid);
        break;
    default:
        answer_well(q);
    }
}

/* The next question; unsolicited messages of daemons may come in between. */
static struct pvmminfo next_question(void)
{
    static const int questions[] = {SM_SPAWN, SM_CONFIG, SM_TASK, SM_ADDHOST, SM_DELHOST, SM_NOTIFY, SM_SCHED};
    struct pvmminfo header;
    for (;;) {
        CHECK_EQ(pvm_getminfo(check_receive(-1, -1), &header), 0);
        for (unsigned i = 0; i < sizeof questions / sizeof questions[0]; i++)
            if (header.tag == questions[i])
                return header;
    }
}

/* Sends daemons messages that must do no harm. */
static void annoy_daemons(void)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    for (int tag = SM_FIRST; tag <= SM_LAST; tag++)
        if (tag != SM_HANDOFF)
            CHECK_EQ(pvm_send((int)0x80000000, tag), 0);
    pack_int(0x7fffffff);
    CHECK_EQ(pvm_pkstr("file"), 0);
    CHECK_EQ(pvm_send((int)0x80000000, SM_EXEC), 0);
    CHECK_EQ(pvm_send((int)0x80000000, SM_ADD), 0);
    CHECK_EQ(pvm_send((int)0x80000000, SM_HANDOFF), 0);
    CHECK_EQ(pvm_send((int)0x80fc0000, SM_EXEC), 0); /* no such host */
    for (int i = 0; i < 2; i++) {                    /* of two SM_EXEC: an error each */
        check_receive(-1, SM_EXECACK);
        CHECK_EQ(unpack_int(), 1);
        CHECK(unpack_int() < 0);
    }
}

static void manager(int argc, char **argv)
{
    int master = pvm_parent(), mode;
    struct pvmhostinfo *h = NULL;
    (void)argc, (void)argv;
    pvm_setopt(PvmResvTids, 1);
    CHECK_EQ(pvm_reg_rm(&h), 0);
    CHECK(h && h->hi_tid == 0x40000);
    annoy_daemons();
    check_send_int(master, TAG_READY, 0);
    while ((mode = check_receive_int(master, TAG_MODE)) != END)
        if (mode != QUIET) {
            struct pvmminfo question = next_question();
            CHECK_EQ(question.ctx, PvmBaseContext);
            check_send_int(master, TAG_SEEN, question.tag);
            answer(mode, &question);
        }
}

/* ---- tasks that are managed ---- */

static void started(int argc, char **argv)
{
    int *tids, n = pvm_siblings(&tids);
    CHECK_EQ(argc, 2);
    CHECK_TEXT(argv[1], "two words");
    CHECK(n == 2 && (tids[0] == pvm_mytid() || tids[1] == pvm_mytid()));
    CHECK_EQ(pvm_getcontext(), atoi(getenv("CHECK_CONTEXT")));
    check_send_int(pvm_parent(), TAG_REPORT, pvm_mytid());
}

static void ask_spawn(void)
{
    char *words[] = {"started", "two words", NULL}, number[16];
    int tids[2] = {0, 0}, context = pvm_newcontext(), old = pvm_setcontext(context);
    snprintf(number, sizeof number, "%d", context);
    setenv("CHECK_CONTEXT", number, 1);
    CHECK_EQ(pvm_export("CHECK_CONTEXT"), 0);
    int result = pvm_spawn((char *)check_program(), words, PvmTaskDefault, "somewhere", 2, tids);
    if (result == 2) {
        for (int i = 0; i < 2; i++)
            CHECK_EQ(check_receive_int(tids[i], TAG_REPORT), tids[i]);
        pvm_setcontext(old);
        struct pvmtaskinfo *t;
        CHECK_EQ(pvm_tidtohost(tids[0]), pvm_tidtohost(tids[1]));
        (void)t;
    }
    pvm_setcontext(old);
    check_send_int(pvm_parent(), TAG_RESULT, result);
}

static void ask_config(void)
{
    struct pvmhostinfo *h;
    int n = 0, formats = 0, result = pvm_config(&n, &formats, &h);
    if (!result && n == 1 && !strcmp(h[0].hi_arch, "DREAM")) {
        CHECK_EQ(formats, 1);
        CHECK_TEXT(h[0].hi_name, "the only one");
        CHECK_EQ(h[0].hi_speed, 77);
        result = 1;
    }
    check_send_int(pvm_parent(), TAG_RESULT, result);
}

static void ask_others(void)
{
    char *names[] = {"one sp=9", "two"};
    int status[2] = {0, 0}, n = 0, tid = 0x40055;
    struct pvmtaskinfo *t;
    struct pvmhostinfo *h;
    CHECK_EQ(pvm_tasks(0, &n, &t), 0);
    CHECK_EQ(n, 2);
    CHECK(t[1].ti_tid == 2 && t[1].ti_ptid == 12 && t[1].ti_host == 22 && t[1].ti_flag == 32 && t[1].ti_pid == 42);
    CHECK_TEXT(t[1].ti_a_out, "dream");
    CHECK_EQ(pvm_addhosts(names, 2, status), 1);
    CHECK(status[0] == 0xc0000 && status[1] == PvmDupHost);
    CHECK_EQ(pvm_delhosts(names, 2, status), 1);
    CHECK(status[0] == PvmNoHost && status[1] == 0);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    CHECK_EQ(pvm_reg_rm(&h), PvmAlready);
    check_send_int(pvm_parent(), TAG_RESULT, 0);
}

/* Takes over as the manager, and answers a question. */
static void ask_duty(void)
{
    pvm_setopt(PvmResvTids, 1);
    int result = pvm_reg_rm(NULL);
    check_send_int(pvm_parent(), TAG_RESULT, result);
    if (!result) {
        struct pvmminfo question = next_question();
        answer(GOOD, &question);
    }
    check_receive_int(pvm_parent(), TAG_MODE);
}

static void asker(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    pvm_setopt(PvmAutoErr, 0);
    switch (atoi(argv[1])) {
    case SM_SPAWN - SM_FIRST:
        ask_spawn();
        break;
    case SM_CONFIG - SM_FIRST:
        ask_config();
        break;
    case SM_SCHED - SM_FIRST:
        ask_duty();
        break;
    default:
        ask_others();
    }
}

/* ---- the master ---- */

static int start_manager(void)
{
    int tid;
    check_spawn("manager", NULL, NULL, 1, &tid);
    check_receive_int(tid, TAG_READY);
    return tid;
}

/* Starts a task that asks the manager one thing, which the manager handles in the given way. Returns the task. */
static int ask(int manager, enum mode mode, int what)
{
    char number[16];
    int tid;
    snprintf(number, sizeof number, "%d", what - SM_FIRST);
    if (manager)
        check_send_int(manager, TAG_MODE, mode);
    check_spawn("asker", number, NULL, 1, &tid);
    if (manager)
        CHECK_EQ(check_receive_int(manager, TAG_SEEN), what);
    return tid;
}

static void expect(int manager, enum mode mode, int what, int result)
{
    int tid = ask(manager, mode, what);
    CHECK_EQ(check_receive_int(tid, TAG_RESULT), result);
    check_wait_exit(1, &tid);
}

/* The six questions of ask_others(), one after the other. */
static void check_others(int manager)
{
    static const int questions[] = {SM_TASK, SM_ADDHOST, SM_DELHOST, SM_NOTIFY, SM_SCHED};
    char number[16];
    int tid;
    snprintf(number, sizeof number, "%d", SM_TASK - SM_FIRST);
    check_spawn("asker", number, NULL, 1, &tid);
    for (unsigned i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        check_send_int(manager, TAG_MODE, GOOD);
        CHECK_EQ(check_receive_int(manager, TAG_SEEN), questions[i]);
    }
    CHECK_EQ(check_receive_int(tid, TAG_RESULT), 0);
    check_wait_exit(1, &tid);
}

static void check_answers(int manager)
{
    expect(manager, GOOD, SM_CONFIG, 1);
    expect(manager, TWICE, SM_CONFIG, 1);
    expect(manager, CODE, SM_CONFIG, PvmOutOfRes);
    expect(manager, GARBAGE, SM_CONFIG, PvmBadMsg);
    expect(manager, GOOD, SM_SPAWN, 2);
    expect(manager, CODE, SM_SPAWN, PvmOutOfRes);
    expect(manager, GARBAGE, SM_SPAWN, PvmBadMsg);
    expect(manager, TOO_FEW, SM_SPAWN, PvmNoData);
    check_others(manager);
}

/* The daemon then answers the question that the manager takes with it. */
static void check_death(int manager)
{
    struct pvmhostinfo *h;
    int n;
    expect(manager, DIE, SM_CONFIG, 0);
    check_wait_exit(1, &manager);
    expect(0, GOOD, SM_CONFIG, 0);
    CHECK_EQ(pvm_config(&n, NULL, &h), 0);
    CHECK_EQ(n, hosts);
}

static void check_handing_over(void)
{
    int manager = start_manager(), heir = ask(manager, HAND_OVER, SM_SCHED);
    CHECK_EQ(check_receive_int(heir, TAG_RESULT), 0);
    expect(0, GOOD, SM_CONFIG, 1);
    check_send_int(manager, TAG_MODE, END);
    check_wait_exit(1, &manager);
    check_send_int(heir, TAG_MODE, 0);
    check_wait_exit(1, &heir);
    expect(0, GOOD, SM_CONFIG, 0);
}

/* Daemons obey only the current manager. */
static void check_strangers(void)
{
    pvm_setopt(PvmResvTids, 1);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    pack_int(pvm_mytid());
    for (int tag = SM_FIRST; tag <= SM_LAST; tag++)
        CHECK_EQ(pvm_send((int)0x80000000, tag), 0);
    pvm_setopt(PvmResvTids, 0);
}

static void master(int argc, char **argv)
{
    hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    check_strangers();
    int manager = start_manager();
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_reg_rm(NULL), PvmAlready); /* we enrolled before it, and ask our daemon */
    pvm_setopt(PvmAutoErr, 1);
    check_answers(manager);
    check_death(manager);
    check_handing_over();
}

static const struct check_role roles[] = {{"manager", manager}, {"asker", asker}, {"started", started}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
