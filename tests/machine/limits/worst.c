/*
 * worst [KIND]... - sends its daemon the worst request of each kind, and prints the longest turn of the daemon's loop
 * so far, in CPU time; fails if that exceeds 100 ms. Excessive requests must be refused with PvmOutOfRes.
 */
#include "tests/machine/runner/check.h"
#include <ctype.h>
#include <signal.h>
#include "tests/machine/runner/raw.h"

enum {
    TURN_MAX_US = 100000,
    TEXTS_MAX = 65536,
    TIDS_MAX = 0x3ffff,
    EVENTS_MAX = 65536,
    RECEIVERS_MAX = 65536,
    MAIL_BYTES = 32 << 20,
    MAILS_MAX = 16384,
    WAITING_MAX = 256,
    CONTEXTS_MAX = 16384,
    UNFINISHED_MAX = 1024,
    HOSTS_MAX = 4095,
    NAME_BYTES = 1024,
    UNANSWERED_MAX = 1024,
    LARGE_BYTES = 7 << 20,
    TEXT_BYTES_MAX = 8 << 20,
    LARGE_MAX = 18, /* of that size are 128 MiB */
    FRAMES = 20,
};

enum mailbox_op { PUT = 1, REMOVE, GET, NAMES, RESET };

static struct raw_task task;

/* ---- the measure ---- */

/* The last line of the daemon's log with that measurement. */
static long longest_turn_us(void)
{
    char path[4096], line[4096];
    long us = -1;
    int nine = 9, n, answers[10];
    CHECK_EQ(pvm_tickle(1, &nine, &n, answers), 0);
    snprintf(path, sizeof path, "%s/pvml.%u", getenv("PVM_TMP"), (unsigned)getuid());
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f)) {
        char *end = strstr(line, " microseconds of CPU time");
        while (end && end > line && isdigit((unsigned char)end[-1]))
            end--;
        us = end ? atol(end) : us;
    }
    fclose(f);
    CHECK(us >= 0);
    return us;
}

static int32_t ask(uint32_t tag, struct raw_body *body)
{
    int32_t code = raw_ask(&task, tag, body);
    raw_free(body);
    return code;
}

/* ---- spawns ---- */

static void put_zeros(struct raw_body *b, int n)
{
    for (int i = 0; i < n; i++)
        raw_put_u32(b, 0);
}

static struct raw_body spawn_body(const char *file, unsigned arguments, const char *where, unsigned count,
                                  unsigned variables, const char *extra)
{
    struct raw_body b = {0};
    char text[64];
    raw_put_string(&b, file);
    raw_put_u32(&b, arguments);
    for (unsigned i = 0; i < arguments; i++)
        raw_put_string(&b, "a");
    raw_put_u32(&b, *where ? PvmTaskHost : PvmTaskDefault);
    raw_put_string(&b, where);
    raw_put_u32(&b, count);
    raw_put_u32(&b, variables + (extra != NULL));
    for (unsigned i = 0; i < variables; i++) {
        snprintf(text, sizeof text, "V%x=", i);
        raw_put_string(&b, text);
    }
    if (extra)
        raw_put_string(&b, extra);
    put_zeros(&b, 7);
    raw_put_string(&b, "");
    put_zeros(&b, 2);
    return b;
}

static int32_t spawn(const char *file, unsigned arguments, const char *where, unsigned count, unsigned variables,
                     const char *extra)
{
    struct raw_body b = spawn_body(file, arguments, where, count, variables, extra);
    return ask(RAW_SPAWN, &b);
}

/* The system may refuse to start them. */
static void variables(void)
{
    CHECK_EQ(spawn("/bin/true", 0, "", 4, 60000, NULL), 4);
    CHECK(spawn("/bin/true", 0, "", 4, TEXTS_MAX, NULL) >= 0);
    CHECK_EQ(spawn("/bin/true", 0, "", 1, TEXTS_MAX + 1, NULL), PvmOutOfRes);
}

static void arguments(void)
{
    CHECK(spawn("/bin/true", TEXTS_MAX, "", 4, 0, NULL) >= 0);
    CHECK_EQ(spawn("/bin/true", TEXTS_MAX + 1, "", 1, 0, NULL), PvmOutOfRes);
}

static void programs(void)
{
    static char long_name[8192], colons[4097];
    memset(long_name, 'n', sizeof long_name - 1);
    CHECK_EQ(spawn(long_name, 0, "", 1, 0, NULL), PvmOutOfRes);
    memset(colons, ':', sizeof colons - 1);
    CHECK_EQ(spawn("/bin/true", 0, colons, 1, 0, NULL), 0);
    CHECK_EQ(spawn("/no/such/program", 0, "", TIDS_MAX, 0, NULL), 0);
    char *large = calloc(1, TEXT_BYTES_MAX + 1);
    memset(large, 'v', TEXT_BYTES_MAX);
    memcpy(large, "V=", 2);
    CHECK_EQ(spawn("/bin/true", 0, "", 1, 0, large), PvmOutOfRes);
    free(large);
    CHECK_EQ(spawn("/bin/true", 0, "", 1, 0, "PVM_WRAP=/*/*/*/*/*/*/*/*"), 0);
}

/* ---- events ---- */

static int32_t notify(uint32_t what, int tag, uint32_t first, uint32_t step, uint32_t n)
{
    struct raw_body b = {0};
    raw_put_u32(&b, what);
    raw_put_u32(&b, (uint32_t)tag);
    put_zeros(&b, 2);
    raw_put_u32(&b, n);
    for (uint32_t i = 0; i < n; i++)
        raw_put_u32(&b, first + i * step);
    return ask(RAW_NOTIFY, &b);
}

static void events(void)
{
    struct raw_task other;
    uint32_t host = task.tid & ~(uint32_t)TIDS_MAX;
    raw_connect(&other);
    CHECK_EQ(notify(PvmTaskExit, 1, host + 1, 1, EVENTS_MAX / 2), PvmOk); /* most of these tasks do not exist */
    CHECK_EQ(notify(PvmTaskExit, 2, other.tid, 0, EVENTS_MAX / 2), PvmOk);
    CHECK_EQ(notify(PvmTaskExit, 3, other.tid, 0, EVENTS_MAX), PvmOutOfRes); /* in total */
    CHECK_EQ(notify(PvmTaskExit, 3, other.tid, 0, EVENTS_MAX + 1), PvmOutOfRes);
    CHECK_EQ(notify(PvmTaskExit | PvmNotifyCancel, 3, other.tid, 0, 10), PvmOk);
    raw_close(&other);
    raw_close(&task);
    raw_connect(&task);
    raw_connect(&other);
    CHECK_EQ(notify(PvmTaskExit, 2, other.tid, 0, EVENTS_MAX), PvmOk);
    CHECK_EQ(notify(PvmTaskExit | PvmNotifyCancel, 2, other.tid, 0, EVENTS_MAX), PvmOk);
    CHECK_EQ(notify(PvmHostDelete, 2, host, 0, EVENTS_MAX), PvmOk);
    raw_close(&other);
}

/* ---- mailbox ---- */

static void put_put(struct raw_body *b, const char *name, uint32_t flags, const void *data, uint32_t length)
{
    raw_put_u8(b, PUT);
    raw_put_string(b, name);
    raw_put_u32(b, (uint32_t)-1);
    raw_put_u32(b, flags);
    put_zeros(b, 2);
    raw_put_u32(b, length);
    raw_put_bytes(b, data, length);
}

static int32_t put_mail(const char *name, uint32_t flags, const void *data, uint32_t length)
{
    struct raw_body b = {0};
    put_put(&b, name, flags, data, length);
    return ask(RAW_MAILBOX, &b);
}

static struct raw_body get_body(const char *name, uint32_t flags)
{
    struct raw_body b = {0};
    raw_put_u8(&b, GET);
    raw_put_string(&b, name);
    put_zeros(&b, 1);
    raw_put_u32(&b, flags);
    return b;
}

static int32_t names(const char *pattern)
{
    struct raw_body b = {0};
    raw_put_u8(&b, NAMES);
    raw_put_string(&b, pattern);
    return ask(RAW_MAILBOX, &b);
}

static int32_t reset(uint32_t spared)
{
    struct raw_body b = {0};
    raw_put_u8(&b, RESET);
    raw_put_u32(&b, spared);
    for (uint32_t i = 0; i < spared; i++)
        raw_put_u32(&b, i * 7919 % TIDS_MAX + 1);
    raw_put_string(&b, "");
    raw_put_u32(&b, (uint32_t)-1);
    return ask(RAW_MAILBOX, &b);
}

static void large_mail(void)
{
    uint8_t *data = calloc(1, MAIL_BYTES);
    struct raw_body get = get_body("large", 0);
    CHECK_EQ(put_mail("large", 0, data, MAIL_BYTES), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(raw_ask(&task, RAW_MAILBOX, &get), 0);
    raw_free(&get);
    free(data);
}

static void mails(void)
{
    char name[NAME_BYTES + 1], pattern[NAME_BYTES + 1];
    memset(name, 'a', NAME_BYTES);
    name[NAME_BYTES] = '\0';
    for (int i = 0; i < MAILS_MAX; i++) {
        snprintf(name, 9, "%08x", i);
        name[8] = 'a';
        int32_t code = put_mail(i < 4000 ? name : "same", PvmMboxMultiInstance, "", 0);
        CHECK(code >= 0);
    }
    CHECK_EQ(put_mail("same", PvmMboxMultiInstance, "", 0), PvmOutOfRes);
    for (int i = 0; i < NAME_BYTES; i++)
        pattern[i] = "*a"[i % 2];
    pattern[NAME_BYTES - 1] = 'b';
    pattern[NAME_BYTES] = '\0';
    CHECK_EQ(names(pattern), PvmOk);
    memset(pattern, 'a', NAME_BYTES - 1);
    CHECK_EQ(names(pattern), PvmOk);
    CHECK_EQ(names("*"), PvmOk);
    int four = 4, n, answers[10];
    CHECK_EQ(pvm_tickle(1, &four, &n, answers), 0);
    CHECK_EQ(reset(TIDS_MAX), PvmOk);
    CHECK_EQ(reset(TIDS_MAX + 1), PvmBadParam);
}

static void waiters(void)
{
    struct raw_body get = get_body("awaited", PvmMboxWaitForInfo);
    int32_t first = 0;
    for (int i = 0; i < WAITING_MAX; i++) {
        int32_t wid = raw_request(&task, RAW_MAILBOX, &get);
        first = first ? first : wid;
    }
    CHECK_EQ(raw_ask(&task, RAW_MAILBOX, &get), PvmOutOfRes);
    raw_free(&get);
    uint8_t *data = calloc(1, 1 << 20);
    struct raw_body put = {0};
    put_put(&put, "awaited", 0, data, 1 << 20);
    raw_request(&task, RAW_MAILBOX, &put);
    CHECK_EQ(raw_answer(&task, first), 0);
    CHECK_EQ(raw_answer(&task, first + WAITING_MAX - 1), 0);
    raw_free(&put);
    free(data);
}

/* ---- many receivers ---- */

static void multicasts(void)
{
    for (uint32_t step = 0; step < 2; step++) {
        struct raw_body b = {0};
        uint32_t group = 0x40000000u | (task.tid & ~(uint32_t)TIDS_MAX) | 77;
        raw_put_u32(&b, group);
        raw_put_u32(&b, RECEIVERS_MAX);
        for (uint32_t i = 0; i < RECEIVERS_MAX; i++) {
            raw_put_u32(&b, step ? (task.tid & ~(uint32_t)TIDS_MAX) + RECEIVERS_MAX - i : task.tid);
            raw_put_u32(&b, 0);
        }
        raw_request(&task, RAW_MULTICAST, &b);
        raw_free(&b);
        for (uint32_t i = 0; i < FRAMES; i++) {
            struct raw_header h = raw_header(&task, group, i, 65536);
            h.body_length = FRAMES * 65536;
            h.offset = i * 65536;
            CHECK(raw_send(&task, &h, NULL));
        }
    }
}

static void siblings(void)
{
    struct raw_body b = {0};
    raw_put_u32(&b, TIDS_MAX);
    for (uint32_t i = 0; i < TIDS_MAX; i++)
        raw_put_u32(&b, task.tid);
    for (int i = 0; i < 10; i++)
        raw_request(&task, RAW_SIBLINGS, &b);
    raw_free(&b);
}

/* ---- others ---- */

static void contexts(void)
{
    for (int i = 0; i <= CONTEXTS_MAX; i++) {
        struct raw_body b = {0};
        raw_put_u8(&b, 1);
        raw_put_u32(&b, 0);
        CHECK_EQ(ask(RAW_CONTEXT, &b), i < CONTEXTS_MAX ? PvmOk : PvmOutOfRes);
    }
}

/* The hosts of a full machine, none of which can be added, and `more`. */
static struct raw_body host_lines(const char *prefix, const char *options, const char *more)
{
    struct raw_body b = {0};
    char line[256];
    raw_put_u32(&b, HOSTS_MAX);
    for (int i = more != NULL; i < HOSTS_MAX; i++) {
        snprintf(line, sizeof line, "%*s%d.invalid%s", 150, prefix, i, options);
        raw_put_string(&b, line);
    }
    if (more)
        raw_put_string(&b, more);
    return b;
}

/* The first order lasts until its one host is given up; orders with other hosts arrive meanwhile. */
static void hosts(void)
{
    struct raw_body slow = host_lines("h", " xx=1", "192.0.2.9"), others = host_lines("g", " xx=1", NULL);
    struct raw_body none = host_lines("h", "", NULL);
    int32_t first = raw_request(&task, RAW_ADDHOSTS, &slow), second = raw_request(&task, RAW_ADDHOSTS, &others);
    CHECK_EQ(raw_answer(&task, second), 0);
    CHECK_EQ(raw_ask(&task, RAW_ADDHOSTS, &others), 0);
    second = raw_request(&task, RAW_ADDHOSTS, &slow); /* waits for the first */
    CHECK_EQ(raw_ask(&task, RAW_ADDHOSTS, &others), PvmOutOfRes);
    CHECK_EQ(raw_answer(&task, first), 0);
    CHECK_EQ(raw_answer(&task, second), 0);
    CHECK_EQ(ask(RAW_DELHOSTS, &none), 0);
    raw_free(&slow);
    raw_free(&others);
}

static void lists(void)
{
    struct raw_body all = {0}, nothing = {0};
    raw_put_u32(&all, 0);
    for (int i = 0; i < 1000; i++) {
        raw_request(&task, RAW_TASKS, &all);
        raw_request(&task, RAW_CONFIG, &nothing);
    }
    CHECK_EQ(ask(RAW_TASKS, &all), PvmOk);
}

static void too_long(void)
{
    struct raw_body b = {0};
    uint8_t *zeros = calloc(1, 63 << 20);
    raw_put_bytes(&b, zeros, 63 << 20);
    CHECK_EQ(ask(RAW_MSTAT, &b), PvmOutOfRes);
    free(zeros);
}

/* The same for few large messages. */
static void large_unanswered(pid_t daemon)
{
    char *text = malloc(LARGE_BYTES + 1);
    memset(text, 'v', LARGE_BYTES);
    memcpy(text, "LARGE=", 6);
    text[LARGE_BYTES] = '\0';
    struct raw_body b = spawn_body("/no/such/program", 0, check_host_name(1), 1, 0, text);
    CHECK_EQ(kill(daemon, SIGSTOP), 0);
    int32_t first = raw_request(&task, RAW_SPAWN, &b), last = first;
    for (int i = 1; i < LARGE_MAX; i++)
        last = raw_request(&task, RAW_SPAWN, &b);
    CHECK_EQ(raw_ask(&task, RAW_SPAWN, &b), PvmOutOfRes);
    CHECK_EQ(kill(daemon, SIGCONT), 0);
    CHECK_EQ(raw_answer(&task, last), 0);
    raw_free(&b);
    free(text);
}

/* Requests that a stopped host does not answer. */
static void unanswered(void)
{
    struct raw_body b = {0}, nothing = {0};
    int far;
    check_hosts(2);
    check_spawn("sleeper", NULL, check_host_name(1), 1, &far);
    pid_t daemon = check_daemon_of(far);
    raw_put_u32(&b, (uint32_t)far);
    CHECK_EQ(kill(daemon, SIGSTOP), 0);
    int32_t first = raw_request(&task, RAW_PSTAT, &b);
    for (int i = 1; i < UNANSWERED_MAX; i++)
        raw_request(&task, RAW_PSTAT, &b);
    CHECK_EQ(raw_ask(&task, RAW_PSTAT, &b), PvmOutOfRes);
    CHECK_EQ(kill(daemon, SIGCONT), 0);
    CHECK_EQ(raw_answer(&task, first + UNANSWERED_MAX - 1), PvmOk);
    CHECK_EQ(raw_ask(&task, RAW_CONFIG, &nothing), PvmOk);
    large_unanswered(daemon);
    CHECK_EQ(pvm_kill(far), 0);
    raw_free(&b);
}

/* One more than the limit costs the task its connection. */
static void unfinished(void)
{
    char byte;
    for (uint32_t i = 0; i <= UNFINISHED_MAX; i++) {
        struct raw_header h = raw_header(&task, (task.tid & ~(uint32_t)TIDS_MAX) + 0x1000 + i, 0, 1);
        h.body_length = 2;
        CHECK(raw_send(&task, &h, NULL));
    }
    CHECK_EQ(read(task.fd, &byte, 1), 0);
}

/* The first copies so much memory that it comes close to the limit: it is asked for by name, when nothing else runs. */
static const struct {
    const char *name;
    void (*send)(void);
} kinds[] = {
    {"large_mail", large_mail}, {"variables", variables},   {"arguments", arguments},   {"programs", programs},
    {"events", events},         {"mails", mails},           {"waiters", waiters},       {"multicasts", multicasts},
    {"siblings", siblings},     {"contexts", contexts},     {"hosts", hosts},           {"lists", lists},
    {"too_long", too_long},     {"unanswered", unanswered}, {"unfinished", unfinished},
};

static int is_asked_for(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return 1;
    return argc == 1 && strcmp(name, kinds[0].name) != 0;
}

static void master(int argc, char **argv)
{
    CHECK(pvm_mytid() > 0);
    printf("%-12s %6.1f ms\n", "start", (double)longest_turn_us() / 1000);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is_asked_for(kinds[i].name, argc, argv))
            continue;
        raw_connect(&task);
        kinds[i].send();
        raw_close(&task);
        check_sleep_ms(200); /* its end costs something, too */
        printf("%-12s %6.1f ms\n", kinds[i].name, (double)longest_turn_us() / 1000);
    }
    if (check_slowness() == 1) /* sanitizers make some functions of the C library slower by any factor */
        CHECK(longest_turn_us() < TURN_MAX_US);
}

static void sleeper(int argc, char **argv)
{
    (void)argc, (void)argv;
    pause();
}

static const struct check_role roles[] = {{"sleeper", sleeper}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
