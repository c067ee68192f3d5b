/*
 * hostile [HOSTS] - a task sends 100,000 frames, which break the protocol in every way that its daemon lets through, to
 * another task, to the group server and to the console. No task loses its daemon, and all can still talk to each other.
 */
#include "tests/machine/runner/check.h"
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "tests/machine/runner/raw.h"

enum {
    FRAMES = 100000,
    KINDS = 12,
    TAG_PING = 1,
    TAG_PONG,
    TAG_GO,
    TAG_DONE,
    MEMBERS = 3,
};

#define GROUP "hostages"

/* ---- the targets ---- */

static void victim(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK(pvm_joingroup(GROUP) >= 0);
    for (;;) {
        int from, tag, mid = check_receive(-1, -1);
        CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &from), 0);
        if (tag == TAG_PING && from == pvm_parent())
            check_send_int(from, TAG_PONG, 0);
        else if (tag == TAG_DONE && from == pvm_parent())
            break;
    }
    CHECK_EQ(pvm_barrier(GROUP, MEMBERS), 0);
}

/* The console, on the same machine: its tid, and a descriptor of its standard input. */
static pid_t console;
static int console_in, console_out;

static int console_tid(void)
{
    struct pvmtaskinfo *tasks;
    int count;
    CHECK_EQ(pvm_tasks(0, &count, &tasks), 0);
    for (int i = 0; i < count; i++)
        if (!strcmp(tasks[i].ti_a_out, "pvm") || tasks[i].ti_pid == console)
            return tasks[i].ti_tid;
    return 0;
}

static void start_console(const char *program)
{
    int in[2], out[2];
    CHECK(!pipe(in) && !pipe(out));
    console = fork();
    if (!console) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        for (int i = 3; i < 256; i++)
            close(i);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    console_in = in[1];
    console_out = out[0];
    for (int i = 0; i < check_limit_s() * 10 && !console_tid(); i++)
        check_sleep_ms(100);
    CHECK(console_tid());
}

/* The target still reaches its daemon: it finds this task. */
static void check_console(void)
{
    char command[64], text[65536];
    size_t length = 0;
    ssize_t n;
    snprintf(command, sizeof command, "pstat %x\nquit\n", (unsigned)pvm_mytid());
    CHECK_EQ(write(console_in, command, strlen(command)), strlen(command));
    while (length < sizeof text - 1 && (n = read(console_out, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    int status;
    CHECK_EQ(waitpid(console, &status, 0), console);
    CHECK_EQ(status, 0);
    if (!strstr(text, "  run"))
        check_failed(__FILE__, __LINE__, "the console says: %s", text);
    close(console_in);
    close(console_out);
}

static int group_server(void)
{
    int tid;
    CHECK(pvm_recvinfo((char *)"pvmgs", 0, PvmMboxDefault) > 0);
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    return tid;
}

/* ---- the attacker ---- */

/* Frame number i; *seq is the number that a correct sender would use next. */
static struct raw_header bad_frame(const struct raw_task *t, uint32_t dst, unsigned i, uint32_t *seq)
{
    struct raw_header h = raw_header(t, dst, (*seq)++, 1 + i % 7);
    h.tag = (int32_t)(i % 5);
    switch (i % KINDS) {
    case 0: /* a number far ahead */
        h.seq += 1000 + i;
        break;
    case 1: /* an old one */
        h.seq -= 5;
        break;
    case 2: /* the middle of a message that was not started */
        h.offset = 50;
        h.body_length = 100;
        break;
    case 3: /* the start of one that is not continued */
        h.seq = 0;
        h.body_length = 1000;
        break;
    case 4: /* one too large for memory */
        h.seq = 0;
        h.body_length = UINT64_MAX / 2;
        break;
    case 5: /* a length that differs from the first frame's */
        h.offset = 1 + (i - 2) % 7;
        h.body_length = 2000;
        break;
    case 6:
        h.flags = RAW_AGAIN;
        h.seq = i;
        break;
    case 7:
        h.flags = RAW_ABORT;
        h.length = 0;
        break;
    case 8: /* without the descriptor that it announces */
        h.flags = RAW_FD;
        h.seq += 3;
        break;
    case 9: /* control messages: of daemons, of libraries, unknown ones; malformed */
        h.ctx = RAW_CTX_TC;
        h.tag = (int32_t)(0x80030000u + i % 0x50);
        break;
    case 10: /* in pieces that do not fit */
        h.ctx = i % 3 ? RAW_CTX_TC : RAW_CTX_TM;
        h.offset = i % 11;
        h.body_length = 500;
        break;
    default: /* messages of the group server and the like, and an invalid encoding */
        h.ctx = 0x7fff0u + i % 16;
        h.enc = i;
        h.dsig = ~i;
        h.seq += i % 2;
    }
    return h;
}

/* Reads and drops incoming frames, so that this task holds nobody up. */
static void drop_input(const struct raw_task *t)
{
    char bytes[4096];
    while (recv(t->fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

static void attacker(int argc, char **argv)
{
    (void)argc;
    struct raw_task t;
    uint32_t seq = 0, dst = (uint32_t)strtoul(argv[1], NULL, 16);
    raw_connect(&t);
    for (unsigned i = 0; i < FRAMES; i++) {
        struct raw_header h = bad_frame(&t, dst, i, &seq);
        if (!raw_send(&t, &h, NULL))
            check_failed(__FILE__, __LINE__, "the daemon has closed, or reads nothing, at frame %u", i);
        drop_input(&t);
    }
    CHECK_EQ(raw_ask(&t, RAW_CONFIG, &(struct raw_body){0}), PvmOk); /* the daemon has read all, and is there */
    raw_close(&t);
}

/* Begins a message to the group server, which would be a request, tells the parent, and never ends it. */
static void dawdler(int argc, char **argv)
{
    (void)argc;
    struct raw_task t;
    unsigned server, parent, format;
    CHECK_EQ(sscanf(argv[1], "%x.%x.%x", &server, &parent, &format), 3);
    raw_connect(&t);
    struct raw_header first = raw_header(&t, server, 0, 4), word = raw_header(&t, parent, 0, 4);
    first.flags = RAW_STREAM;
    first.ctx = 0x7fffc;
    first.tag = (int32_t)0x80050001;
    first.dsig = format;
    first.body_length = UINT64_MAX; /* not known yet */
    word.tag = TAG_GO;
    CHECK(raw_send(&t, &first, NULL));
    CHECK(raw_send(&t, &word, NULL));
    for (;;)
        pause();
}

/* ---- */

static void check_victims(const int *tids, int n)
{
    for (int i = 0; i < n; i++) {
        check_send_int(tids[i], TAG_PING, 0);
        check_receive_int(tids[i], TAG_PONG);
    }
}

static void attack(int target, int hosts)
{
    char number[16];
    int tid;
    snprintf(number, sizeof number, "%x", (unsigned)target);
    for (int i = 0; i < hosts; i++) {
        check_spawn("attacker", number, check_host_name(i), 1, &tid);
        check_wait_exit(1, &tid);
    }
}

/* The server answers others while a request to it is unfinished. */
static void check_dawdler(void)
{
    struct pvmhostinfo *hosts;
    char numbers[48];
    int tid;
    CHECK_EQ(pvm_config(NULL, NULL, &hosts), 0);
    snprintf(numbers, sizeof numbers, "%x.%x.%x", (unsigned)group_server(), (unsigned)pvm_mytid(),
             (unsigned)hosts[0].hi_dsig);
    check_spawn("dawdler", numbers, NULL, 1, &tid);
    check_receive(-1, TAG_GO);
    CHECK_EQ(pvm_joingroup("others"), 0);
    CHECK_EQ(pvm_lvgroup("others"), 0);
    CHECK_EQ(pvm_kill(tid), 0);
    check_wait_exit(1, &tid);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    int hosts = argc > 2 ? atoi(argv[2]) : 1, tids[MEMBERS - 1];
    check_hosts(hosts);
    start_console(argv[1]);
    CHECK(pvm_joingroup(GROUP) >= 0);
    for (int i = 0; i < MEMBERS - 1; i++)
        check_spawn("victim", NULL, check_host_name(i % hosts), 1, &tids[i]);
    check_victims(tids, MEMBERS - 1);
    check_dawdler();
    attack(tids[0], hosts);
    attack(group_server(), hosts);
    attack(console_tid(), hosts);
    check_victims(tids, MEMBERS - 1);
    for (int i = 0; i < MEMBERS - 1; i++)
        check_send_int(tids[i], TAG_DONE, 0);
    CHECK_EQ(pvm_barrier(GROUP, MEMBERS), 0);
    CHECK_EQ(pvm_lvgroup(GROUP), 0);
    check_console();
}

static const struct check_role roles[] = {
    {"victim", victim}, {"attacker", attacker}, {"dawdler", dawdler}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
