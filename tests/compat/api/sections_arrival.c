/*
 * sections_arrival.c - what a call finds when several messages have arrived before it.
 *
 * A child sends a volley and creates a mark. Then the calls of a line are made, and each prints the tag that it found.
 * A volley is a text: a digit is a small message with that tag, a capital letter a large one (A: tag 1), and the part
 * after a + is sent on the message "go".
 */
#include <sys/select.h>
#include "probe.h"

enum { TAG_WARM = 50, TAG_GO = 51, TAG_END = 99, WARM_ROUNDS = 20, SETTLE_MS = 200 };

static int found_tag(int mid)
{
    int tag = 0;

    if (mid > 0)
        pvm_bufinfo(mid, NULL, &tag, NULL);
    return mid > 0 ? tag : mid;
}

static int nrecv(int tag)
{
    return found_tag(pvm_nrecv(-1, tag));
}

static int probe(int tag)
{
    return found_tag(pvm_probe(-1, tag));
}

static int receive(int tag)
{
    return found_tag(pvm_recv(-1, tag));
}

static int trecv_at_once(int tag)
{
    struct timeval none = {0, 0};

    return found_tag(pvm_trecv(-1, tag, &none));
}

static int trecv(int tag)
{
    struct timeval limit = {0, 100000};

    return found_tag(pvm_trecv(-1, tag, &limit));
}

static int precv(int tag)
{
    int data[2], code = pvm_precv(-1, tag, data, 2, PVM_INT, NULL, &tag, NULL);

    return code ? code : tag;
}

/* ---- calls that poll ---- */

static int config(int tag)
{
    (void)tag;
    return pvm_config(NULL, NULL, NULL);
}

static int tasks(int tag)
{
    int n;
    struct pvmtaskinfo *list;

    (void)tag;
    return pvm_tasks(pvm_mytid(), &n, &list);
}

static int mailbox(int tag)
{
    int n;
    struct pvmmboxinfo *list;

    (void)tag;
    return pvm_getmboxinfo("", &n, &list);
}

static int pstat(int tag)
{
    (void)tag;
    return pvm_pstat(probe_child[0]);
}

static int new_context(int tag)
{
    int context = pvm_newcontext();

    (void)tag;
    return pvm_freecontext(context);
}

static int notify_host(int tag)
{
    return pvm_notify(PvmHostAdd, tag, 1, NULL);
}

static int notify_end(int tag)
{
    return pvm_notify(PvmTaskExit, tag, 1, probe_child);
}

static int catch_output(int tag)
{
    (void)tag;
    return pvm_catchout(NULL);
}

static int set_option(int tag)
{
    (void)tag;
    return pvm_setopt(PvmTraceTid, 0);
}

/* ---- handlers, match functions, descriptors ---- */

static int handler_ids[10], handler_count;

static int handle(int mid)
{
    printf(" <handler %d>", found_tag(mid));
    return 0;
}

static int handler(int tag)
{
    int id = pvm_addmhf(-1, tag, -1, handle);

    handler_ids[handler_count++] = id;
    return id >= 0;
}

static int show_and_match(int mid, int tid, int tag)
{
    (void)tid;
    printf(" <%d?>", found_tag(mid));
    return found_tag(mid) == tag;
}

static int function(int tag)
{
    (void)tag;
    pvm_recvf(show_and_match);
    return 0;
}

static int select_for(int ms, int n, const int *fds)
{
    struct timeval limit = {ms / 1000, ms % 1000 * 1000};
    fd_set set;
    int top = 0;

    FD_ZERO(&set);
    for (int i = 0; i < n; i++) {
        FD_SET(fds[i], &set);
        top = fds[i] > top ? fds[i] : top;
    }
    return select(top + 1, &set, NULL, NULL, &limit) > 0;
}

/* Whether a descriptor is readable now. */
static int readable(int tag)
{
    int *fds, n = pvm_getfds(&fds);

    (void)tag;
    return select_for(0, n, fds);
}

/* Polls for a message whenever a descriptor returned by the first call is readable. */
static int await(int tag)
{
    static int known[8], n;
    int *fds, mid = 0;

    if (!n) {
        n = pvm_getfds(&fds);
        memcpy(known, fds, n * sizeof *known);
    }
    while (!mid && select_for(3000, n, known))
        mid = pvm_nrecv(-1, tag);
    return found_tag(mid);
}

/* Whether the descriptors stop being readable after some polls: they may announce more than messages. */
static int come_to_rest(int tag)
{
    int *fds, n = pvm_getfds(&fds), polls = 0;

    while (select_for(20, n, fds) && polls++ < 100)
        pvm_nrecv(-1, tag);
    return polls < 100;
}

static int go(int tag)
{
    (void)tag;
    pvm_initsend(PvmDataDefault);
    return pvm_send(probe_child[0], TAG_GO);
}

static int end_child(int tag)
{
    (void)tag;
    pvm_initsend(PvmDataDefault);
    return pvm_send(probe_child[0], TAG_END);
}

static int free_and_ask(int tag)
{
    int mid = pvm_nrecv(-1, tag);

    pvm_freebuf(mid);
    return pvm_bufinfo(mid, NULL, NULL, NULL);
}

static const struct {
    const char *name;
    int (*run)(int tag);
} calls[] = {
    {"nrecv", nrecv},
    {"probe", probe},
    {"recv", receive},
    {"trecv0", trecv_at_once},
    {"trecv", trecv},
    {"precv", precv},
    {"config", config},
    {"tasks", tasks},
    {"mailbox", mailbox},
    {"pstat", pstat},
    {"newcontext", new_context},
    {"notify", notify_host},
    {"notify-end", notify_end},
    {"catchout", catch_output},
    {"setopt", set_option},
    {"handler", handler},
    {"function", function},
    {"readable", readable},
    {"await", await},
    {"rest", come_to_rest},
    {"go", go},
    {"end", end_child},
    {"free", free_and_ask},
    {NULL, NULL},
};

static void run_call(const char *word)
{
    size_t length = strcspn(word, ":");
    int tag = word[length] ? atoi(word + length + 1) : 0;

    for (int i = 0; calls[i].name; i++)
        if (strlen(calls[i].name) == length && !strncmp(calls[i].name, word, length)) {
            int result = calls[i].run(tag);
            printf(" %s=%d", word, result);
            return;
        }
    printf(" %s?", word);
}

static void await_mark(const char *mark)
{
    while (access(mark, F_OK))
        probe_wait_ms(5);
    unlink(mark);
    probe_wait_ms(SETTLE_MS);
}

/* Consumes everything that this line has left. */
static void clean_up(void)
{
    struct timeval limit = {0, 50000};

    pvm_recvf(NULL);
    while (handler_count)
        pvm_delmhf(handler_ids[--handler_count]);
    end_child(0);
    while (pvm_trecv(-1, -1, &limit) > 0)
        ;
}

/* Exchanges messages until both sides use their final route and have acknowledged everything. */
static void warm_up(void)
{
    struct timeval pause = {0, 50000};

    for (int i = 0; i < WARM_ROUNDS; i++) {
        pvm_initsend(PvmDataDefault);
        pvm_send(probe_child[0], TAG_WARM);
        pvm_recv(probe_child[0], TAG_WARM);
    }
    pvm_trecv(-1, TAG_WARM, &pause);
}

static void look(const char *volley, const char *line)
{
    char mark[1024], words[1024], *word;

    snprintf(mark, sizeof mark, "%s/mark", getenv("PVM_TMP"));
    probe_children("volley", volley, 1);
    warm_up();
    await_mark(mark);
    snprintf(words, sizeof words, "%s", line);
    printf("%s:", volley);
    for (word = strtok(words, " "); word; word = strtok(NULL, " "))
        run_call(word);
    printf("\n");
    clean_up();
}

static void begin(void)
{
    probe_quiet();
    pvm_mytid();
}

/* ---- sections ---- */

/* A poll that finds nothing accepts one message; a call that waits accepts all up to its own. */
static void polls(void)
{
    begin();
    look("123", "nrecv:3 nrecv:2 nrecv:1 nrecv:3");
    look("123", "probe:3 probe:2 probe:1 probe:3");
    look("123", "trecv0:3 trecv0:2 trecv0:1 trecv0:3");
    look("123", "nrecv:1 nrecv:3 nrecv:3");
    look("123", "probe:1 probe:1 probe:1 nrecv:2 nrecv:3");
    look("1234", "nrecv:9 probe:9 nrecv:9 nrecv:4 nrecv:3");
    look("1234", "recv:2 nrecv:3 nrecv:4 nrecv:1");
    look("1234", "recv:2 nrecv:4 nrecv:4");
    look("1234", "precv:3 nrecv:4 nrecv:2 nrecv:1");
    look("1234", "trecv:2 nrecv:4 nrecv:4");
    look("1234", "trecv:9 nrecv:4 nrecv:3 nrecv:2 nrecv:1");
    look("1234", "trecv0:9 nrecv:4");
    look("A2", "nrecv:2 nrecv:2 nrecv:1");
    look("AB3", "probe:3 probe:3 probe:3");
    look("1111", "nrecv:1 nrecv:1 nrecv:1 nrecv:1 nrecv:1");
    look("12", "free:1 nrecv:2 free:2");
}

/* Calls that wait for an answer accept all earlier arrivals. */
static void polls_and_requests(void)
{
    static const char *const requests[] = {"config",   "tasks",      "mailbox", "pstat", "newcontext",
                                           "notify:8", "catchout:0", "setopt",  NULL};
    char line[256];

    begin();
    for (int i = 0; requests[i]; i++) {
        snprintf(line, sizeof line, "%s nrecv:4 nrecv:4 nrecv:4 nrecv:4", requests[i]);
        look("1234", line);
    }
}

/* A handler runs in the call that accepts its message; a poll accepts one. */
static void polls_and_handlers(void)
{
    begin();
    look("123", "handler:1 nrecv:9 nrecv:9 nrecv:9 nrecv:2");
    look("123", "handler:2 nrecv:9 nrecv:9 nrecv:2 nrecv:3 nrecv:3");
    look("123", "handler:2 nrecv:3 nrecv:3 nrecv:3");
    look("123", "handler:1 handler:2 handler:3 nrecv:3 probe:3 nrecv:3");
    look("123", "handler:1 handler:2 trecv0:3");
    look("123", "handler:2 recv:3 nrecv:1");
    look("123", "handler:3 recv:2 nrecv:1 nrecv:3");
    look("111", "handler:1 nrecv:1 nrecv:1 nrecv:1 nrecv:1");
    look("123", "handler:3 nrecv:9 config nrecv:2 nrecv:1");
    look("123", "nrecv:9 handler:1 nrecv:1 nrecv:2");
}

/* In each call the match function sees every message once, in order of arrival. */
static void polls_and_functions(void)
{
    begin();
    look("1234", "function nrecv:9 nrecv:9 nrecv:2 nrecv:4 nrecv:4");
    look("1234", "function recv:3 recv:1 recv:4 recv:2");
    look("1234", "function trecv0:9 recv:4");
    look("1234", "function trecv:3 probe:4 probe:4");
    look("1234", "nrecv:9 nrecv:9 function recv:4");
    look("1234", "handler:1 function recv:4");
    look("1234", "handler:2 function recv:3 recv:1");
    look("1234", "config function nrecv:9");
}

/* The descriptors are readable while arrivals are pending, and no longer. */
static void polls_and_descriptors(void)
{
    begin();
    look("123", "await:1 await:2 await:3 rest:9");
    look("123", "await:3 rest:9 nrecv:2 nrecv:1");
    look("123", "readable nrecv:9 readable nrecv:9 readable rest:9 nrecv:1");
    look("12+34", "await:1 await:2 rest:9 go await:3 await:4 rest:9");
    look("+123", "rest:9 go await:1 await:2 await:3 rest:9");
    look("A2", "await:1 await:2 rest:9");
    look("1234", "readable trecv0:9 rest:9 nrecv:4 rest:9");
    look("1234", "readable config rest:9 nrecv:2");
    look("1234", "readable recv:2 readable recv:4 rest:9");
}

/* The notice of a task's end arrives after everything that it has sent. */
static void polls_and_ends(void)
{
    begin();
    look("+12", "notify-end:8 go end recv:8 nrecv:2 nrecv:1");
    look("+AB", "notify-end:8 go end recv:8 nrecv:2 nrecv:1");
}

/* A task's output is there when the notice of its end arrives. */
static void polls_and_output(void)
{
    begin();
    for (int i = 0; i < 5; i++) {
        FILE *file = tmpfile();
        long at_news;

        pvm_catchout(file);
        probe_children("exit", i % 2 ? "50" : "0", 1);
        pvm_notify(PvmTaskExit, 8, 1, probe_child);
        pvm_recv(-1, 8);
        fflush(file);
        at_news = ftell(file);
        pvm_catchout(NULL);
        fflush(file);
        FACT("printed: %s, all: %s", at_news > 0 ? "yes" : "no", at_news == ftell(file) ? "yes" : "no");
        fclose(file);
    }
}

/*
 * A worker with one slot at its master sends RESULT, then READY; the master polls for READY, then for RESULT, and must
 * never find the slot occupied.
 */
static void polls_race(void)
{
    enum { READY = 1, RESULT = 2, ROUNDS = 2000 };
    int slot_is_full = 0, clashes = 0, results = 0;

    begin();
    probe_children("worker", NULL, 1);
    while (results < ROUNDS) {
        if (pvm_nrecv(-1, READY) > 0) {
            clashes += slot_is_full;
            slot_is_full = 1;
            pvm_initsend(PvmDataDefault);
            pvm_send(probe_child[0], 1);
        }
        if (pvm_nrecv(-1, RESULT) > 0) {
            slot_is_full = 0;
            results++;
        }
    }
    pvm_recv(-1, READY);
    end_child(0);
    FACT("%d results, %d clashes", results, clashes);
}

/* A task that polls now and then for a message behind many others reaches it, one message per poll. */
static void polls_rarely(void)
{
    enum { MESSAGES = 2000 };
    int polls = 0;

    begin();
    probe_children("flood", NULL,
                   1); /* it waits for "go": pvm_spawn() accepts everything that arrives before it returns */
    go(0);
    do {
        polls++;
        probe_wait_ms(1);
    } while (pvm_nrecv(-1, 2) <= 0);
    FACT("a message a poll: %s, progress: %s", polls > MESSAGES ? "yes" : "no", polls < 2 * MESSAGES ? "yes" : "no");
    end_child(0);
}

/* A task that polls for something else does not block the sender of many messages. */
static void polls_and_senders(void)
{
    char mark[1024];
    int polls = 0;

    begin();
    snprintf(mark, sizeof mark, "%s/mark", getenv("PVM_TMP"));
    probe_children("load", NULL, 1);
    go(0);
    while (access(mark, F_OK) && polls++ < 2000) {
        probe_wait_ms(1);
        pvm_nrecv(-1, 2);
    }
    unlink(mark);
    FACT("all is sent before it is taken in: %s", polls < 500 ? "yes" : "no");
    end_child(0);
}

const struct probe_section probe_arrival_table[] = {
    {"polls", polls},
    {"polls-requests", polls_and_requests},
    {"polls-handlers", polls_and_handlers},
    {"polls-functions", polls_and_functions},
    {"polls-descriptors", polls_and_descriptors},
    {"polls-ends", polls_and_ends},
    {"polls-output", polls_and_output},
    {"polls-race", polls_race},
    {"polls-rarely", polls_rarely},
    {"polls-senders", polls_and_senders},
    {NULL, NULL},
};
