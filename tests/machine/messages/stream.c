/*
 * stream - messages that leave while they are packed: stream [HOSTS [links]]. Each case is a pair of functions, of the
 * sender and of the receiver, which meet in the words between them: the receiver says that it has read one part before
 * the sender packs the next. "links": not those that need the daemons' route, which in virtual time carries nothing
 * early.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include "dpvm.h"
#include "tests/machine/runner/check.h"

enum { TAG_DATA = 1, TAG_WORD, TAG_ANSWER, TAG_ADDED, TAG_OTHER, TAG_NEVER };
enum { PART = 17000 /* a full frame and a short one */, PARTS = 6, LONG = 300000, BACKLOG = 110, LINK_S = 20 };

static int peer; /* the other task */

/* ---- both ---- */

/* These leave the active buffers as they are. */
static void say(int value)
{
    int old = pvm_setsbuf(0);
    check_send_int(peer, TAG_ANSWER, value);
    CHECK_EQ(pvm_freebuf(pvm_setsbuf(old)), 0);
}

static void await(int value)
{
    int old = pvm_setrbuf(0);
    CHECK_EQ(check_receive_int(peer, TAG_ANSWER), value);
    CHECK_EQ(pvm_freebuf(pvm_setrbuf(old)), 0);
}

static void pack_part(int number)
{
    int values[PART];
    for (int i = 0; i < PART; i++)
        values[i] = number * PART + i;
    CHECK_EQ(pvm_pkint(values, PART, 1), 0);
}

static int is_part(int number)
{
    int values[PART], right = !pvm_upkint(values, PART, 1);
    for (int i = 0; i < PART && right; i++)
        right = values[i] == number * PART + i;
    return right;
}

#define unpack_part(number) CHECK(is_part(number))

static int begin(int encoding)
{
    int mid = pvm_initsendto(encoding, peer, TAG_DATA);
    CHECK(mid > 0);
    CHECK_EQ(pvm_getsbuf(), mid);
    return mid;
}

static void receive(void)
{
    CHECK(check_receive(peer, TAG_DATA) > 0);
}

/* ---- the receiver computes on the first part before the sender has packed the last ---- */

static void early_send(void)
{
    for (int encoding = PvmDataDefault; encoding <= PvmDataRaw; encoding++) {
        begin(encoding);
        for (int i = 0; i < PARTS; i++) {
            pack_part(i);
            await(i);
        }
        CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    }
}

static void early_take(void)
{
    for (int encoding = PvmDataDefault; encoding <= PvmDataRaw; encoding++) {
        receive();
        for (int i = 0; i < PARTS; i++) {
            unpack_part(i);
            say(i);
        }
        int one;
        CHECK_EQ(pvm_upkint(&one, 1, 1), PvmNoData);
    }
}

/* ---- probe, nrecv and trecv see it from its first frame on, and pvm_bufinfo() waits only if it must ---- */

static void seen_send(void)
{
    begin(PvmDataDefault);
    pack_part(0);
    await(0);
    pack_part(1);
    await(1);
    check_sleep_ms(20);
    pack_part(2);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
}

static void seen_take(void)
{
    int mid, length, tag, tid;
    while (!(mid = pvm_probe(peer, TAG_DATA)))
        check_sleep_ms(1);
    CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &tid), 0);
    CHECK(tag == TAG_DATA && tid == peer);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), mid);
    unpack_part(0);
    say(0);
    unpack_part(1);
    say(1);
    CHECK_EQ(pvm_bufinfo(mid, &length, NULL, NULL), 0);
    CHECK_EQ(length, 3 * PART * (int)sizeof(int));
    unpack_part(2);
}

/* ---- another message overtakes nothing and waits for nothing ---- */

static void beside_send(void)
{
    begin(PvmDataDefault);
    int data = pvm_getsbuf();
    pack_part(0);
    CHECK_EQ(pvm_setsbuf(0), data);
    check_send_int(peer, TAG_WORD, 1);
    await(0);
    pvm_initsend(PvmDataDefault);
    for (int i = 0; i < LONG / PART; i++)
        pack_part(i);
    CHECK_EQ(pvm_send(peer, TAG_OTHER), 0);
    await(1);
    CHECK_EQ(pvm_freebuf(pvm_setsbuf(data)), 0);
    check_send_int(peer, TAG_WORD, 2); /* its pvm_initsend() frees the stream's buffer */
    await(2);
}

static void beside_take(void)
{
    CHECK_EQ(pvm_bufinfo(check_receive(peer, -1), NULL, NULL, NULL), 0);
    unpack_part(0); /* its place is that of its first frame */
    int data = pvm_setrbuf(0), one;
    CHECK_EQ(check_receive_int(peer, TAG_WORD), 1);
    say(0);
    check_receive(peer, TAG_OTHER);
    for (int i = 0; i < LONG / PART; i++)
        unpack_part(i);
    say(1);
    CHECK_EQ(check_receive_int(peer, TAG_WORD), 2);
    CHECK(pvm_setrbuf(data) > 0);
    CHECK_EQ(pvm_upkint(&one, 1, 1), PvmNoTask);
    say(2);
}

/* ---- given up: by pvm_freebuf, another tag, another receiver, pvm_mcast, another context or wait id ---- */

static void given_up_send(void)
{
    pvm_freebuf(begin(PvmDataDefault)); /* not begun: nobody knows of it */
    int mid = begin(PvmDataDefault);
    pack_part(0);
    CHECK_EQ(pvm_freebuf(mid), 0);
    say(0);
    await(0);
    begin(PvmDataDefault);
    pack_part(0);
    CHECK_EQ(pvm_send(peer, TAG_OTHER), 0);
    await(1);
    begin(PvmDataRaw);
    pack_part(0);
    CHECK_EQ(pvm_mcast(&peer, 1, TAG_OTHER), 0);
    await(2);
    begin(PvmDataRaw);
    pack_part(0);
    int context = pvm_newcontext(), ours = pvm_setcontext(context);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    CHECK_EQ(pvm_setcontext(ours), context);
    say(context);
    await(3);
    CHECK_EQ(pvm_freecontext(context), 0);
    begin(PvmDataDefault);
    pack_part(0);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_DATA), 0); /* to ourselves, and then as promised */
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    CHECK(pvm_recv(pvm_mytid(), TAG_DATA) > 0);
    unpack_part(0);
    say(4);
    await(4);
    struct pvmminfo info;
    int late = begin(PvmDataDefault);
    pack_part(0);
    CHECK_EQ(pvm_getminfo(late, &info), 0);
    info.wid = 5;
    CHECK_EQ(pvm_setminfo(late, &info), 0);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    say(5);
    await(6);
}

static void given_up_take(void)
{
    await(0);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
    say(0);
    for (int i = 1; i <= 2; i++) {
        check_receive(peer, TAG_OTHER);
        unpack_part(0);
        CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
        say(i);
    }
    int context = check_receive_int(peer, TAG_ANSWER);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
    int ours = pvm_setcontext(context);
    receive();
    unpack_part(0);
    CHECK_EQ(pvm_setcontext(ours), context);
    say(3);
    await(4);
    receive(); /* only the second is left */
    unpack_part(0);
    say(4);
    struct pvmminfo info;
    await(5);
    receive();
    CHECK_EQ(pvm_getminfo(pvm_getrbuf(), &info), 0);
    CHECK_EQ(info.wid, 5);
    unpack_part(0);
    say(6);
}

/* ---- given up while its frames find no room: the receiver learns of it while the sender waits ---- */

static int backlog; /* packs; 0: in virtual time, whose links take all that they are given */

static void crowded_send(void)
{
    static char data[LONG];
    say(backlog);
    if (!backlog)
        return;
    int mid = begin(PvmDataRaw);
    pack_part(0);
    await(0);
    for (int i = 0; i < backlog; i++)
        CHECK_EQ(pvm_pkbyte(data, LONG, 1), 0);
    CHECK_EQ(pvm_freebuf(mid), 0);
    await(1);
}

static void crowded_take(void)
{
    static char data[LONG];
    int rc = 0;
    if (!check_receive_int(peer, TAG_ANSWER))
        return;
    receive();
    unpack_part(0);
    say(0);
    check_sleep_ms(300); /* outside of the library, so that the route fills */
    while (!rc)
        rc = pvm_upkbyte(data, LONG, 1);
    CHECK_EQ(rc, PvmNoTask);
    say(1);
}

/* ---- what does not stream: a second one to the same task, data in place, too little ---- */

static void whole_send(void)
{
    int first = begin(PvmDataDefault), second, values[PART];
    pvm_setsbuf(0);
    for (int i = 0; i < PART; i++)
        values[i] = i;
    second = begin(PvmDataDefault);
    pack_part(0);
    say(0);
    await(0);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    CHECK_EQ(pvm_freebuf(second), 0);
    CHECK_EQ(pvm_freebuf(first), 0);
    await(1);
    begin(PvmDataInPlace);
    CHECK_EQ(pvm_pkint(values, PART, 1), 0);
    say(1);
    await(2);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    begin(PvmDataDefault);
    CHECK_EQ(pvm_pkstr("short"), 0);
    say(2);
    await(3);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
}

static void whole_take(void)
{
    char text[8];
    await(0);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
    say(0);
    receive();
    unpack_part(0);
    say(1);
    await(1);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
    say(2);
    receive();
    unpack_part(0);
    await(2);
    CHECK_EQ(pvm_nrecv(peer, TAG_DATA), 0);
    say(3);
    receive();
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_TEXT(text, "short");
}

/* ---- all kinds of items, and every way to unpack them ---- */

static void kinds_send(void)
{
    static char text[LONG];
    memset(text, 'x', sizeof text - 1);
    begin(PvmDataDefault);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pvm_pkstr(text), 0);
        CHECK_EQ(pvm_packf("%d %s %lf", i, "word", 0.5), 0);
        pack_part(i);
    }
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    await(0);
    int inner = pvm_mkbuf(PvmDataDefault), outer = pvm_setsbuf(inner);
    pack_part(5);
    pvm_setsbuf(outer);
    begin(PvmDataDefault);
    pack_part(4);
    CHECK_EQ(pvm_pkmesg(inner), 0);
    await(1);
    pack_part(6);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    CHECK_EQ(pvm_freebuf(inner), 0);
}

static void kinds_take(void)
{
    static char text[LONG];
    char word[8];
    int number;
    double half;
    receive();
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pvm_upkstr(text), 0);
        CHECK_EQ(strlen(text), LONG - 1);
        CHECK_EQ(pvm_unpackf("%d %s %lf", &number, word, &half), 0);
        CHECK(number == i && half == 0.5);
        CHECK_TEXT(word, "word");
        unpack_part(i);
    }
    say(0);
    receive();
    void *items, *view = pvm_upkview(NULL, PVM_INT, PART, &items);
    CHECK(view && ((int *)items)[PART - 1] == 5 * PART - 1);
    say(1);
    int outer = pvm_getrbuf(), inner = pvm_upkmesg();
    CHECK(inner > 0);
    CHECK_EQ(pvm_setrbuf(inner), outer);
    unpack_part(5);
    CHECK_EQ(pvm_freebuf(pvm_setrbuf(outer)), 0);
    unpack_part(6);
    CHECK_EQ(((int *)items)[0], 4 * PART); /* the view outlives growth */
    pvm_freeview(view);
}

/* ---- calls that want the whole message ---- */

static int handled;

static int handle(int mid)
{
    (void)mid;
    unpack_part(0);
    unpack_part(1);
    handled++;
    return 0;
}

static int take_data(int mid, int tid, int tag)
{
    int of, from;
    pvm_bufinfo(mid, NULL, &of, &from);
    return from == tid && of == tag;
}

static void two_parts_send(int tag)
{
    CHECK(pvm_initsendto(PvmDataDefault, peer, tag) > 0);
    pack_part(0);
    say(0);
    check_sleep_ms(10);
    pack_part(1);
    CHECK_EQ(pvm_send(peer, tag), 0);
    await(1);
}

static void waits_send(void)
{
    two_parts_send(TAG_DATA);
    two_parts_send(TAG_DATA);
    two_parts_send(TAG_DATA);
    two_parts_send(TAG_OTHER);
    check_receive(peer, TAG_DATA);
    unpack_part(0);
    unpack_part(1);
}

static void waits_take(void)
{
    static int values[2 * PART + 1];
    int tid, tag, length;
    CHECK_EQ(pvm_precv(peer, TAG_DATA, values, 2 * PART + 1, PVM_INT, &tid, &tag, &length), 0);
    CHECK_EQ(length, 2 * PART * (int)sizeof(int));
    for (int i = 0; i < 2 * PART; i++)
        CHECK_EQ(values[i], i);
    await(0);
    say(1);
    pvm_recvf(take_data);
    receive();
    unpack_part(0);
    unpack_part(1);
    await(0);
    say(1);
    pvm_recvf(NULL);
    int mid = check_receive(peer, TAG_DATA), old = pvm_setsbuf(mid); /* to send it on, when it is whole */
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    CHECK_EQ(pvm_setsbuf(old), mid);
    CHECK_EQ(pvm_freebuf(mid), 0);
    await(0);
    int id = pvm_addmhf(peer, TAG_OTHER, -1, handle);
    say(1);
    await(0);
    while (!handled)
        pvm_nrecv(peer, TAG_NEVER);
    pvm_delmhf(id);
    say(1);
}

/* ---- a match function that is set while a message comes, which hides nothing that came after it ---- */

static void hidden_send(void)
{
    int data = begin(PvmDataDefault);
    pack_part(0);
    CHECK_EQ(pvm_setsbuf(0), data);
    check_send_int(peer, TAG_WORD, 1);
    await(0);
    CHECK_EQ(pvm_freebuf(pvm_setsbuf(data)), 0);
    check_sleep_ms(10);
    pack_part(1);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
}

static void hidden_take(void)
{
    while (!pvm_probe(peer, TAG_DATA))
        check_sleep_ms(1);
    pvm_recvf(take_data);
    CHECK_EQ(check_receive_int(peer, TAG_WORD), 1);
    say(0);
    receive();
    pvm_recvf(NULL);
    unpack_part(0);
    unpack_part(1);
}

/* ---- long ones, in pieces of all sizes, over routes that change ---- */

static void long_send(void)
{
    static char data[LONG];
    unsigned state = 7;
    begin(PvmDataDefault);
    for (int at = 0, number = 0; at < 10 * LONG; number++) {
        int bytes = (int)(check_random(&state) % (number % 5 ? 3000 : LONG));
        check_fill(data, (size_t)bytes, (unsigned)number);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        if (number % 40 == 10)
            pvm_setopt(PvmRoute, PvmDontRoute);
        if (number % 40 == 30)
            pvm_setopt(PvmRoute, PvmRouteDirect);
        at += bytes;
    }
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
}

static void long_take(void)
{
    static char data[LONG];
    unsigned state = 7;
    receive();
    for (int at = 0, number = 0; at < 10 * LONG; number++) {
        int bytes = (int)(check_random(&state) % (number % 5 ? 3000 : LONG));
        CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
        CHECK(check_same(data, (size_t)bytes, (unsigned)number));
        at += bytes;
    }
}

/* ---- a buffer that its receiver frees, and a forked child ---- */

/* Sleeps between looks: virtual time stands still while a task waits in waitpid(), and then no other task can begin. */
static int await_child(pid_t child)
{
    int status, ended;
    while (!(ended = waitpid(child, &status, WNOHANG)))
        check_sleep_ms(1);
    return ended == child ? status : -1;
}

static void freed_send(void)
{
    begin(PvmDataDefault);
    pack_part(0);
    await(0);
    pid_t child = fork();
    if (!child) {
        pack_part(9); /* its own copy */
        _exit(pvm_send(pvm_mytid(), TAG_DATA) != 0);
    }
    CHECK_EQ(await_child(child), 0);
    for (int i = 1; i < PARTS; i++)
        pack_part(i);
    CHECK_EQ(pvm_send(peer, TAG_DATA), 0);
    say(1);
    await(2);
}

static void freed_take(void)
{
    receive();
    unpack_part(0);
    CHECK_EQ(pvm_freebuf(pvm_getrbuf()), 0);
    say(0);
    await(1);
    say(2);
}

/* ---- the sender ends in the middle ---- */

static void write_to_parent(int argc, char **argv)
{
    (void)argc;
    peer = pvm_parent();
    pvm_setopt(PvmRoute, strchr(argv[1], 'd') ? PvmRouteDirect : PvmDontRoute);
    if (strchr(argv[1], 'd'))
        for (int i = 0; i < 20; i++) {
            say(i);
            await(i);
        }
    begin(PvmDataDefault);
    pack_part(0);
    await(-1);
    if (strchr(argv[1], 'k'))
        raise(SIGKILL);
    pvm_exit();
    exit(0);
}

static void check_ending(const char *how, const char *host)
{
    int one, outer = peer;
    check_spawn("write", how, host, 1, &peer);
    for (int i = 0; i < 20 && strchr(how, 'd'); i++) {
        await(i);
        say(i);
    }
    receive();
    unpack_part(0);
    int mid = pvm_setrbuf(0);
    say(-1);
    pvm_setrbuf(mid);
    CHECK_EQ(pvm_upkint(&one, 1, 1), PvmNoTask);
    CHECK_EQ(pvm_bufinfo(mid, &one, NULL, NULL), PvmNoTask);
    CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &one), 0);
    peer = outer;
}

/* ---- ---- */

static const struct pair {
    void (*send)(void), (*take)(void);
} pairs[] = {{early_send, early_take},       {seen_send, seen_take},    {beside_send, beside_take},
             {given_up_send, given_up_take}, {whole_send, whole_take},  {kinds_send, kinds_take},
             {waits_send, waits_take},       {long_send, long_take},    {freed_send, freed_take},
             {crowded_send, crowded_take},   {hidden_send, hidden_take}};

enum { PAIRS = sizeof pairs / sizeof *pairs };

static void taker(int argc, char **argv)
{
    (void)argc, (void)argv;
    peer = pvm_parent();
    pvm_setopt(PvmRoute, PvmRouteDirect);
    while (check_receive_int(peer, TAG_WORD))
        say(0);
    for (int i = 0; i < PAIRS; i++)
        pairs[i].take();
}

/* The link that PVM_TRANSPORT names. */
static void await_link(void)
{
    const char *transport = getenv("PVM_TRANSPORT");
    bool is_daemon = transport && !strcmp(transport, "daemon");
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ADDED, -1, NULL), 0);
    double end = check_now() + LINK_S * check_slowness();
    do {
        check_send_int(peer, TAG_WORD, 1);
        await(0);
        CHECK(is_daemon || check_now() < end);
    } while (!is_daemon && pvm_nrecv(-1, TAG_ADDED) <= 0);
    check_send_int(peer, TAG_WORD, 0);
}

static const char *const endings[] = {"dk", "d", "k", "-", NULL}; /* d: over a link, k: killed */

static void check_errors(void)
{
    CHECK_EQ(pvm_initsendto(7, peer, TAG_DATA), PvmBadParam);
    CHECK_EQ(pvm_initsendto(PvmDataDefault, 0, TAG_DATA), PvmBadParam);
    CHECK_EQ(pvm_initsendto(PvmDataDefault, peer, -1), PvmBadParam);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, taker_tid;
    check_hosts(hosts);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_spawn("taker", NULL, check_host_name(hosts - 1), 1, &taker_tid);
    peer = taker_tid;
    backlog = argc > 2 ? 0 : BACKLOG;
    check_errors();
    await_link();
    for (int i = 0; i < PAIRS; i++)
        pairs[i].send();
    for (const char *const *how = endings; *how; how++)
        if (strchr(*how, 'd') || argc <= 2)
            check_ending(*how, check_host_name(hosts - 1));
    check_wait_exit(1, &taker_tid);
}

static const struct check_role roles[] = {{"taker", taker}, {"write", write_to_parent}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
