/*
 * mixed - one virtual machine of several architectures.
 *
 *   mixed [-1] [-d] NAME=PVMD,PROGRAM...
 *
 * For each architecture: its name, and the commands that start the daemon and this program there. The first is that of
 * the running daemon, the others become hosts 127.0.0.2 and so on. Two tasks on each exchange every type by every way
 * in every direction, first through the daemons, then over direct links; then they check hosts, children, groups, ends.
 * Prints the tables; fails when a cell is not "ok".
 *
 *   -1  all tasks on the first host
 *   -d  through the daemons only
 *   --version  prints the version: shows that this machine can run it
 */
#include <stdio.h>
#include "tests/machine/runner/check.h"
#include "peer.h"
#include "ways.h"

enum { TAG_ROUTES = (int)0x80030040, CTX_TC = 0x7ffff, TAG_TOLD = 77, REPORT_S = 120 };

static struct machine machine;
static char daemons[ARCHES_MAX][PATH_MAX_BYTES];
static int faults;

/* ---- setting up ---- */

static void read_arch(const char *text)
{
    int i = machine.count++;
    CHECK(i < ARCHES_MAX);
    if (sscanf(text, "%63[^=]=%1023[^,],%1023s", machine.arch[i].name, daemons[i], machine.arch[i].program) != 3)
        check_failed(__FILE__, __LINE__, "%s is not NAME=PVMD,PROGRAM", text);
}

static void add_hosts(void)
{
    char text[2 * PATH_MAX_BYTES], *host = text;
    for (int i = 1; i < machine.count; i++) {
        int status = 0, length = (int)(strrchr(machine.arch[i].program, '/') - machine.arch[i].program);
        snprintf(text, sizeof text, "127.0.0.%d dx=%s ep=%.*s", i + 1, daemons[i], length, machine.arch[i].program);
        if (pvm_addhosts(&host, 1, &status) != 1)
            check_failed(__FILE__, __LINE__, "host %s was not added: %d", text, status);
    }
}

static int spawn_peer(int i)
{
    int tid;
    char *argv[] = {"peer", NULL};
    /* by its name alone if ep= leads to it */
    char *file = machine.one_host || i == 0 ? machine.arch[i].program : strrchr(machine.arch[i].program, '/') + 1;
    int n = pvm_spawn(file, argv, machine.one_host ? PvmTaskHost : PvmTaskArch,
                      machine.one_host ? "." : machine.arch[i].name, 1, &tid);
    if (n != 1)
        check_failed(__FILE__, __LINE__, "%s did not start on %s: %d", file, machine.arch[i].name, n < 0 ? n : tid);
    return tid;
}

static void spawn_peers(void)
{
    for (int i = 0; i < machine.count; i++) {
        machine.arch[i].sender = spawn_peer(i);
        machine.arch[i].receiver = spawn_peer(i);
    }
    for (int i = 0; i < machine.count; i++) {
        check_receive(machine.arch[i].receiver, TAG_HELLO);
        check_receive(machine.arch[i].sender, TAG_HELLO);
        CHECK_EQ(pvm_upkint(&machine.arch[i].long_bytes, 2, 1), 0);
    }
}

static void tell_all(int tag)
{
    for (int i = 0; i < machine.count; i++) {
        CHECK_EQ(pvm_send(machine.arch[i].sender, tag), 0);
        CHECK_EQ(pvm_send(machine.arch[i].receiver, tag), 0);
    }
}

static void tell_machine(void)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&machine.count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&machine.one_host, 1, 1), 0);
    for (int i = 0; i < machine.count; i++) {
        CHECK_EQ(pvm_pkstr(machine.arch[i].name), 0);
        CHECK_EQ(pvm_pkstr(machine.arch[i].program), 0);
        CHECK_EQ(pvm_pkint(&machine.arch[i].sender, 4, 1), 0);
    }
    tell_all(TAG_MACHINE);
}

/* ---- orders and reports ---- */

static void order(int what, int argument)
{
    int both[] = {what, argument};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(both, 2, 1), 0);
    tell_all(TAG_ORDER);
}

static void await_report(int tid, const char *name)
{
    struct timeval limit = {REPORT_S, 0};
    if (pvm_trecv(tid, TAG_REPORT, &limit) <= 0)
        check_failed(__FILE__, __LINE__, "no report from %s (t%x) in %d s", name, tid, REPORT_S);
}

/* Receives a task's report; records a fault. */
static const char *take_fault(int tid, const char *name)
{
    static char text[300];
    await_report(tid, name);
    CHECK_EQ(pvm_upkstr(text), 0);
    if (*text) {
        faults++;
        printf("    %s (t%x): %s\n", name, tid, text);
    }
    return *text ? "FAIL" : "ok";
}

/* ---- the table ---- */

static void print_heading(const char *from, const char *to)
{
    printf("\n%s -> %s\n%-9s", from, to, "");
    for (enum way way = 0; way < WAYS; way++)
        printf(" %-7s", way_names[way]);
    printf("\n");
}

static void take_direction(int from, int to)
{
    static char cells[WAYS][ROWS][200];
    const char *names[] = {machine.arch[from].name, machine.arch[to].name};
    await_report(machine.arch[to].receiver, names[1]);
    for (enum way way = 0; way < WAYS; way++)
        for (int row = 0; row < ROWS; row++)
            CHECK_EQ(pvm_upkstr(cells[way][row]), 0);
    print_heading(names[0], names[1]);
    for (int row = 0; row < ROWS; row++) {
        printf("%-9s", row_name(row));
        for (enum way way = 0; way < WAYS; way++) {
            const char *cell = cells[way][row];
            printf(" %-7s", !*cell ? "ok" : *cell == '-' ? "-" : "FAIL");
        }
        printf("\n");
    }
    for (enum way way = 0; way < WAYS; way++)
        for (int row = 0; row < ROWS; row++)
            if (cells[way][row][0] && cells[way][row][0] != '-') {
                faults++;
                printf("    %s by %s: %s\n", row_name(row), way_names[way], cells[way][row]);
            }
}

static void exchange(void)
{
    for (int from = 0; from < machine.count; from++) {
        order(ORDER_SEND, from);
        for (int i = 0; i < machine.count; i++)
            take_direction(from, i);
        for (int i = 0; i < machine.count; i++)
            take_fault(machine.arch[i].sender, machine.arch[i].name);
    }
}

/* ---- routes ---- */

/* Requests a task's traffic counts; see "Routes" in doc/protocol.md. */
static void ask_routes(int tid)
{
    int where[] = {pvm_getcontext(), TAG_TOLD}, reserved = pvm_setopt(PvmResvTids, 1);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(where, 2, 1), 0);
    pvm_setcontext(CTX_TC);
    CHECK_EQ(pvm_send(tid, TAG_ROUTES), 0);
    pvm_setcontext(where[0]);
    pvm_setopt(PvmResvTids, reserved);
    check_receive(tid, TAG_TOLD);
}

/* Whether a direct link between tasks of two architectures uses the expected transport. */
static int is_right(const char *route, int from, int to)
{
    int alike = machine.arch[from].long_bytes == machine.arch[to].long_bytes &&
                machine.arch[from].big_endian == machine.arch[to].big_endian;
    return strcmp(route, alike && (machine.one_host || from == to) ? "shm" : "tcp") == 0;
}

/* The routes from the task that was asked, and that now answers, to all receivers. */
static void print_routes(int from)
{
    char text[300], names[ARCHES_MAX][40];
    int n, option, tid, counts[3];
    long traffic[8];
    for (int i = 0; i < machine.count; i++)
        snprintf(names[i], sizeof names[i], "-");
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_EQ(pvm_upkint(&option, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    while (n-- > 0) {
        CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
        CHECK_EQ(pvm_upkstr(text), 0);
        CHECK_EQ(pvm_upklong(traffic, 8, 1), 0);
        CHECK_EQ(pvm_upkint(counts, 3, 1), 0);
        for (int i = 0; i < machine.count; i++)
            if (machine.arch[i].receiver == tid)
                snprintf(names[i], sizeof names[i], "%.39s", text);
    }
    for (int i = 0; i < machine.count; i++) {
        printf(" %-12s", names[i]);
        faults += !is_right(names[i], from, i);
    }
    printf("\n");
}

static void show_routes(void)
{
    printf("%-16s", "direct link to");
    for (int i = 0; i < machine.count; i++)
        printf(" %-12s", machine.arch[i].name);
    printf("\n");
    for (int i = 0; i < machine.count; i++) {
        printf("  of %-11s", machine.arch[i].name);
        ask_routes(machine.arch[i].sender);
        print_routes(i);
    }
}

/* ---- the other checks ---- */

/* All tasks run a check; prints a line with a word for each architecture. */
static void check_all(const char *name, int what, int argument, int tasks)
{
    const char *results[ARCHES_MAX];
    order(what, argument);
    for (int i = 0; i < tasks; i++) {
        results[i] = take_fault(machine.arch[i].sender, machine.arch[i].name);
        if (strcmp(take_fault(machine.arch[i].receiver, machine.arch[i].name), "ok") != 0)
            results[i] = "FAIL";
    }
    printf("%-16s", name);
    for (int i = 0; i < tasks; i++)
        printf(" %-12s", results[i]);
    printf("\n");
}

/* The last host is deleted, and all others are notified. Waits only for these notices. */
static void delete_last_host(void)
{
    struct pvmhostinfo *hosts;
    int n, status;
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    int tid = hosts[n - 1].hi_tid;
    char name[NAME_MAX_BYTES], *names = name;
    snprintf(name, sizeof name, "%s", hosts[n - 1].hi_name);
    check_all("notify hosts", ORDER_WATCH, tid, machine.count);
    CHECK_EQ(pvm_delhosts(&names, 1, &status), 1);
    machine.count--;
    check_all("host deleted", ORDER_TOLD, tid, machine.count);
}

static void check_rest(int with_routes)
{
    printf("\n%-16s", "each task");
    for (int i = 0; i < machine.count; i++)
        printf(" %-12s", machine.arch[i].name);
    printf("\n");
    if (!machine.one_host)
        check_all("pvm_config", ORDER_CONFIG, 0, machine.count);
    check_all("spawn, notify", ORDER_SPAWN, 0, machine.count);
    check_all("groups", ORDER_GROUP, 0, machine.count);
    if (with_routes)
        show_routes();
    if (!machine.one_host)
        delete_last_host();
}

static void set_route(const char *heading, int route)
{
    order(ORDER_ROUTE, route);
    for (int i = 0; i < machine.count; i++) {
        take_fault(machine.arch[i].sender, machine.arch[i].name);
        take_fault(machine.arch[i].receiver, machine.arch[i].name);
    }
    printf("\n==== %s, %s ====\n", machine.one_host ? "all on one host" : "a host for each", heading);
}

static void master(int argc, char **argv)
{
    int daemon_only = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-1") == 0)
            machine.one_host = 1;
        else if (strcmp(argv[i], "-d") == 0)
            daemon_only = 1;
        else
            read_arch(argv[i]);
    CHECK(machine.count > 1);
    pvm_setopt(PvmAutoErr, 0);
    if (!machine.one_host)
        add_hosts();
    spawn_peers();
    tell_machine();
    set_route("by the daemons", PvmDontRoute);
    exchange();
    if (!daemon_only) {
        set_route("direct links", PvmRouteDirect);
        exchange();
    }
    check_rest(!daemon_only);
    order(ORDER_END, 0);
    printf("\n%d faults\n", faults);
    if (faults)
        check_failed(__FILE__, __LINE__, "%d cells are not ok", faults);
}

static const struct check_role roles[] = {{"peer", peer}, {"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("%s\n", pvm_version()) < 0;
    return check_main(argc, argv, master, roles);
}
