/* roles.c - the parts of the probe's children. */
#include "probe.h"
#include "pvmtev.h"

extern char **environ;

/* Echoes every message until one has tag 99. */
static int echo(int argc, char **argv)
{
    int parent = pvm_parent();

    (void)argc, (void)argv;
    for (;;) {
        int tag, value = 0;
        pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL);
        if (tag == 99)
            break;
        pvm_upkint(&value, 1, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&value, 1, 1);
        pvm_send(parent, tag);
    }
    return pvm_exit();
}

static int tell_context(int argc, char **argv)
{
    int ctx = pvm_getcontext();

    (void)argc, (void)argv;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&ctx, 1, 1);
    pvm_send(pvm_parent(), 1);
    return pvm_exit();
}

/* Waits for a message; with argument "mute" without ever enrolling. */
static int wait_for_end(int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "mute") == 0)
        pause();
    pvm_recv(pvm_parent(), 99);
    return pvm_exit();
}

/* Prints the environment that a task is started with. */
static int show(int argc, char **argv)
{
    static const char *const names[] = {"PVM_EXPORT", "PROBE_VARIABLE", "PVMTASK", "PVMCTX"};
    char folder[1024], link[64] = "";

    for (int i = 0; i < argc; i++)
        printf("argument %s\n", argv[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        printf("%s=%s\n", names[i], getenv(names[i]) ? getenv(names[i]) : "");
    printf("in HOME: %d\n", getcwd(folder, sizeof folder) && strcmp(folder, getenv("HOME")) == 0);
    printf("PVMSOCK and PVMEPID set: %d\n", getenv("PVMSOCK") && getenv("PVMEPID"));
    printf("stdin: %s\n", readlink("/proc/self/fd/0", link, sizeof link - 1) > 0 ? link : "none");
    printf("parent %s, siblings %d\n", pvm_parent() > 0 ? "id" : "none", pvm_siblings(&(int *){NULL}));
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
    printf("unfinished line");
    fflush(stdout);
    pvm_exit();
    return 3;
}

static int exit_soon(int argc, char **argv)
{
    if (argc > 0)
        probe_wait_ms(atoi(argv[0]));
    printf("the child ends\n");
    return 7;
}

/* Joins "g", reports it, answers a broadcast, and waits to be killed. */
static int join(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_joingroup("g");
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), 1);
    pvm_recv(-1, 8);
    pvm_send(pvm_parent(), 8);
    return pvm_recv(-1, 9);
}

/* One of two members that freeze the group "g"; waits to be killed. */
static int freeze(int argc, char **argv)
{
    (void)argc, (void)argv;
    probe_quiet();
    pvm_joingroup("g");
    pvm_freezegroup("g", 2);
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), 1);
    return pvm_recv(-1, 9);
}

static int member(int argc, char **argv);

/* Sends a volley (sections_arrival.c). Returns the position where it stopped: a + or the end. */
static const char *fire(const char *volley)
{
    static int data[5000];

    for (; *volley && *volley != '+'; volley++) {
        int large = *volley >= 'A';
        pvm_initsend(PvmDataDefault);
        pvm_pkint(data, large ? 5000 : 1, 1);
        pvm_send(pvm_parent(), large ? *volley - 'A' + 1 : *volley - '0');
    }
    return volley;
}

static void leave_mark(void)
{
    char mark[1024];

    snprintf(mark, sizeof mark, "%s/mark", getenv("PVM_TMP"));
    fclose(fopen(mark, "w"));
}

/* See sections_arrival.c. When pvm_pstat() returns, the daemon has all messages sent before. */
static int volley(int argc, char **argv)
{
    const char *rest;

    (void)argc;
    for (int i = 0; i < 20; i++) {
        pvm_recv(pvm_parent(), 50);
        pvm_initsend(PvmDataDefault);
        pvm_send(pvm_parent(), 50);
    }
    probe_wait_ms(100);
    rest = fire(argv[0]);
    pvm_pstat(pvm_parent());
    leave_mark();
    if (*rest) {
        pvm_recv(pvm_parent(), 51);
        probe_wait_ms(100);
        fire(rest + 1);
    }
    pvm_recv(pvm_parent(), 99);
    return pvm_exit();
}

/* 1000 messages, 60 MB. */
static int load(int argc, char **argv)
{
    static int data[15000];

    (void)argc, (void)argv;
    pvm_recv(pvm_parent(), 51);
    for (int i = 0; i < 1000; i++) {
        pvm_initsend(PvmDataRaw);
        pvm_pkint(data, 15000, 1);
        pvm_send(pvm_parent(), 1);
    }
    leave_mark();
    pvm_recv(pvm_parent(), 99);
    return pvm_exit();
}

static int flood(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_recv(pvm_parent(), 51);
    pvm_initsend(PvmDataDefault);
    for (int i = 0; i < 2000; i++)
        pvm_send(pvm_parent(), 1);
    pvm_send(pvm_parent(), 2);
    pvm_recv(pvm_parent(), 99);
    return pvm_exit();
}

/* Sends a result and the message READY whenever it is told to continue, until tag 99 arrives. */
static int worker(int argc, char **argv)
{
    int tag = 1;

    (void)argc, (void)argv;
    pvm_initsend(PvmDataDefault);
    pvm_send(pvm_parent(), 1);
    for (;;) {
        pvm_bufinfo(pvm_recv(pvm_parent(), -1), NULL, &tag, NULL);
        if (tag == 99)
            break;
        pvm_initsend(PvmDataDefault);
        pvm_send(pvm_parent(), 2);
        pvm_send(pvm_parent(), 1);
    }
    return pvm_exit();
}

/* Uses the mailbox as requested: operation (1 put, 2 take, 3 delete), name, value or index, flags. */
static int clerk(int argc, char **argv)
{
    int parent = pvm_parent();

    (void)argc, (void)argv;
    probe_quiet();
    for (;;) {
        int operation = 0, a, flags, code;
        char name[64];

        pvm_recv(parent, 31);
        pvm_upkint(&operation, 1, 1);
        if (!operation)
            break;
        pvm_upkstr(name);
        pvm_upkint(&a, 1, 1);
        pvm_upkint(&flags, 1, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&a, 1, 1);
        if (operation == 1)
            code = pvm_putinfo(name, pvm_getsbuf(), flags);
        else if (operation == 3)
            code = pvm_delinfo(name, a, flags);
        else if ((code = pvm_recvinfo(name, a, flags)) > 0)
            pvm_upkint(&code, 1, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&code, 1, 1);
        pvm_send(parent, 32);
    }
    return pvm_exit();
}

/* Tries to become the tracer while its parent is, and sends the result. */
static int rival(int argc, char **argv)
{
    Pvmtmask mask;
    int rc;

    (void)argc, (void)argv;
    probe_quiet();
    TEV_MASK_INIT(mask);
    rc = pvm_reg_tracer(5, 6, 7, 8, mask, 0, PvmTraceFull);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&rc, 1, 1);
    pvm_send(pvm_parent(), 99);
    return pvm_exit();
}

const struct probe_role probe_role_table[] = {
    {"echo", echo},      {"context", tell_context}, {"wait", wait_for_end}, {"show", show},
    {"exit", exit_soon}, {"clerk", clerk},          {"join", join},         {"member", member},
    {"volley", volley},  {"worker", worker},        {"flood", flood},       {"load", load},
    {"rival", rival},    {"freeze", freeze},        {NULL, NULL},
};

/* A member of the group "g" of 4; the parent (sections_group.c) makes the same calls. */
static int member(int argc, char **argv)
{
    int data[2], all[8], part[2], instance;

    (void)argc, (void)argv;
    probe_quiet();
    instance = pvm_joingroup("g");
    pvm_barrier("g", 4);
    data[0] = instance, data[1] = instance * 10;
    pvm_reduce(PvmSum, data, 2, PVM_INT, 5, "g", 0);
    pvm_scatter(part, NULL, 2, PVM_INT, 6, "g", 0);
    part[0] += 1000;
    pvm_gather(all, part, 2, PVM_INT, 7, "g", 0);
    pvm_recv(-1, 8);
    for (int type = 0; type < 4; type++) {
        void (*function[])(int *, void *, void *, int *, int *) = {PvmMax, PvmMin, PvmSum, PvmProduct};
        double values[2] = {instance + 1, -instance};
        pvm_reduce(function[type], values, 2, PVM_DOUBLE, 10 + type, "g", 0);
    }
    pvm_freezegroup("g", 4);
    pvm_barrier("g", 4);
    pvm_barrier("g", -1);
    pvm_lvgroup("g");
    return pvm_exit();
}
