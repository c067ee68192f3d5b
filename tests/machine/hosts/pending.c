/*
 * pending - calls that wait for their answers when the master is lost return once, with the right result, from the next
 * one. PVM_HOST_TIMEOUT=3.
 *
 *   pending asked      of 3 hosts: the master is stopped, tasks on the others call, and it is killed
 *   pending carried    of 4: the master has carried out what was asked, but has not answered, when it is killed
 *   pending adding MS  of 3: the master is killed so many ms after it was asked to add a host
 *   pending joining    of 3: ... when the new host waits to become a member
 *   pending becoming   of 3: ... when the others know that it is one, and its own tables are on the way
 *   pending deleting   of 4: the master is killed while it waits for a deleted host's daemon
 */
#include <dirent.h>
#include <signal.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"
#include "tests/machine/runner/entry.h"

enum { TAG_READY = 1, TAG_GO, TAG_RESULT, TAG_HOST, HOSTS_MAX = 4, SEAT = 1 };

/* ---- what callers call ---- */

static int add_host(void)
{
    char *name = "127.0.0.9";
    int status, added = pvm_addhosts(&name, 1, &status);
    return added == 1 ? status : PvmNoHost;
}

static int delete_host(void)
{
    char *name = "127.0.0.4";
    int status, deleted = pvm_delhosts(&name, 1, &status);
    return deleted == 1 ? status : PvmNoHost;
}

static int names(void)
{
    struct pvmmboxinfo *info;
    int n, code = pvm_getmboxinfo("kept", &n, &info);
    return code < 0 ? code : n;
}

static const struct {
    const char *what;
    int result;
} calls[] = {{"put", 1},   {"take", 11},           {"get", 12},          {"delete", 0}, {"wait", 13},
             {"names", 1}, {"refused", PvmDenied}, {"none", PvmNotFound}};

enum { CALLS = sizeof calls / sizeof *calls };

static int call(const char *what)
{
    if (strcmp(what, "put") == 0)
        return entry_put("many", 2, PvmMboxMultiInstance | PvmMboxPersistent); /* there is one: index 1 */
    if (strcmp(what, "take") == 0)
        return entry_get("taken", 0, PvmMboxReadAndDelete);
    if (strcmp(what, "get") == 0)
        return entry_get("kept", 0, PvmMboxDefault);
    if (strcmp(what, "delete") == 0)
        return pvm_delinfo("deleted", 0, PvmMboxDefault);
    if (strcmp(what, "wait") == 0)
        return entry_get("awaited", 0, PvmMboxWaitForInfo);
    if (strcmp(what, "names") == 0)
        return names();
    if (strcmp(what, "refused") == 0)
        return entry_put("ours", 1, PvmMboxDefault);
    if (strcmp(what, "add") == 0)
        return add_host();
    if (strcmp(what, "remove") == 0)
        return delete_host();
    return entry_get("none", 0, PvmMboxDefault);
}

static void caller(int argc, char **argv)
{
    CHECK_EQ(argc, 2);
    pvm_setopt(PvmAutoErr, 0);
    check_send_int(pvm_parent(), TAG_READY, 0);
    check_sleep_ms(check_receive_int(pvm_parent(), TAG_GO));
    check_send_int(pvm_parent(), TAG_RESULT, call(argv[1]));
    pvm_recv(-1, TAG_GO); /* its entries stay */
}

/* ---- the machine ---- */

static pid_t pids[HOSTS_MAX];
static int host_count;

static void start_machine(int count)
{
    check_hosts(count);
    daemons_enrol_at(SEAT);
    pvm_setopt(PvmAutoErr, 0);
    host_count = count;
    for (int i = 0; i < count; i++)
        pids[i] = daemons_pid(i);
}

static int start_caller(const char *what, int host)
{
    int tid;
    check_spawn("caller", what, check_host_name(host), 1, &tid);
    check_receive_int(tid, TAG_READY);
    return tid;
}

static void send_signal(int host, int number)
{
    CHECK(kill(pids[host], number) == 0);
}

static void end_machine(unsigned killed)
{
    daemons_halt();
    for (int i = 0; i < host_count; i++)
        if (killed >> i & 1)
            daemons_remove_journal(i);
        else
            CHECK(daemons_wait_end(pids[i]));
}

static void put_entries(void)
{
    CHECK_EQ(entry_put("many", 1, PvmMboxMultiInstance), 0);
    CHECK_EQ(entry_put("taken", 11, PvmMboxOverWritable), 0);
    CHECK_EQ(entry_put("kept", 12, PvmMboxDefault), 0);
    CHECK_EQ(entry_put("deleted", 1, PvmMboxOverWritable), 0);
    CHECK_EQ(entry_put("ours", 1, PvmMboxDefault), 0);
}

/* Each was done once. */
static void check_entries(void)
{
    int n;
    struct pvmmboxinfo *info;
    CHECK_EQ(pvm_getmboxinfo("many", &n, &info), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(info->mi_nentries, 2);
    CHECK_EQ(entry_get("taken", 0, PvmMboxDefault), PvmNotFound);
    CHECK_EQ(entry_get("kept", 0, PvmMboxDefault), 12);
    CHECK_EQ(entry_get("deleted", 0, PvmMboxDefault), PvmNotFound);
}

static void check_results(const int *tids, double start)
{
    for (int i = 0; i < CALLS; i++) {
        if (strcmp(calls[i].what, "wait") == 0)
            CHECK_EQ(entry_put("awaited", 13, PvmMboxDefault), 0);
        int result = check_receive_int(tids[i], TAG_RESULT);
        if (result != calls[i].result)
            check_failed(__FILE__, __LINE__, "%s returned %d, not %d", calls[i].what, result, calls[i].result);
    }
    printf("all have returned after %.3f s\n", check_now() - start);
}

/* ---- cases ---- */

static void check_asked(void)
{
    int tids[CALLS];
    start_machine(3);
    put_entries();
    for (int i = 0; i < CALLS; i++)
        tids[i] = start_caller(calls[i].what, 1 + i % 2);
    send_signal(0, SIGSTOP);
    for (int i = 0; i < CALLS; i++)
        check_send_int(tids[i], TAG_GO, 0);
    check_sleep_ms(500);
    double start = check_now();
    send_signal(0, SIGKILL);
    check_results(tids, start);
    check_entries();
    end_machine(1);
}

/* The port of a host's daemon, from the master's log, or 0. */
static int logged_port(const char *host)
{
    char path[4096], line[4096], start[64];
    int port = 0;
    snprintf(path, sizeof path, "%s/pvml.%u", getenv("PVM_TMP"), (unsigned)getuid());
    snprintf(start, sizeof start, "%s port ", host);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (!port && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, start);
        port = at ? atoi(at + strlen(start)) : 0;
    }
    fclose(f);
    return port;
}

/* Waits until the master has logged it, which may be later than others know the host. */
static int port_of(const char *host)
{
    int port;
    for (double start = check_now(); !(port = logged_port(host)) && check_now() - start < 10;)
        check_sleep_ms(5);
    CHECK(port > 0);
    return port;
}

/* Destroys the host's connections together with what has arrived and not been read. Returns their number. */
static int destroy_connections(const char *host)
{
    char command[128], line[256];
    int count = -1; /* the heading */
    snprintf(command, sizeof command, "ss -K -tn state established 'sport = :%d' 2>/dev/null", port_of(host));
    FILE *out = popen(command, "r");
    CHECK(out != NULL);
    while (fgets(line, sizeof line, out))
        count++;
    pclose(out);
    return count;
}

/*
 * The daemon of the callers is stopped when it has asked, and goes on when the master and its answers are gone: hosts 1
 * and 3 have the changes.
 */
static void check_carried(void)
{
    int tids[CALLS];
    start_machine(4);
    put_entries();
    for (int i = 0; i < CALLS; i++)
        tids[i] = start_caller(calls[i].what, 2);
    send_signal(0, SIGSTOP);
    for (int i = 0; i < CALLS; i++)
        check_send_int(tids[i], TAG_GO, 0);
    check_sleep_ms(500); /* their daemon has asked */
    send_signal(2, SIGSTOP);
    send_signal(0, SIGCONT); /* carries all out, with the others */
    check_sleep_ms(300);
    double start = check_now();
    send_signal(0, SIGKILL);
    int destroyed = destroy_connections("127.0.0.3");
    send_signal(2, SIGCONT);
    check_results(tids, start);
    check_entries();
    end_machine(1);
    if (destroyed < 1)
        check_skip("the kernel does not destroy connections (ss -K), so the answers were not lost");
}

static void check_added(int added)
{
    int n, tid;
    struct pvmhostinfo *hosts;
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    CHECK_EQ(n, 3);
    CHECK_TEXT(hosts[2].hi_name, "127.0.0.9");
    CHECK_EQ(hosts[2].hi_tid, added);
    check_spawn("caller", "none", "127.0.0.9", 1, &tid);
    check_receive_int(tid, TAG_READY);
}

/* Whether the host was added by the first master, the second or not yet at all: it is a member once, with one tid. */
static void check_adding(int after_ms, int joining)
{
    int caller_tid, host;
    start_machine(3);
    host = daemons_host(0);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST, 1, &host), 0);
    caller_tid = start_caller("add", 2);
    check_send_int(caller_tid, TAG_GO, joining ? 300 : 0);
    if (joining) { /* it becomes a member only if our daemon knows it */
        check_sleep_ms(150);
        send_signal(SEAT, SIGSTOP);
    }
    check_sleep_ms(after_ms);
    pid_t newcomer = joining ? daemons_pid(8) : 0;
    if (joining) /* so that it is still there when the next master starts it again */
        CHECK(kill(newcomer, SIGSTOP) == 0);
    double start = check_now();
    send_signal(0, SIGKILL);
    if (joining) {
        send_signal(SEAT, SIGCONT);
        put_entries();
        check_sleep_ms(500);
        CHECK(kill(newcomer, SIGCONT) == 0);
        CHECK(daemons_wait_end(newcomer));
    }
    int added = check_receive_int(caller_tid, TAG_RESULT);
    printf("the host is added after %.3f s\n", check_now() - start);
    CHECK_EQ(check_receive_int(-1, TAG_HOST), host);
    check_added(added);
    end_machine(1);
}

/* Two of the four that are members then have nobody but the new one to make them a majority. */
static void check_becoming(void)
{
    start_machine(3);
    int caller_tid = start_caller("add", 2);
    check_send_int(caller_tid, TAG_GO, 300);
    check_sleep_ms(150);
    send_signal(SEAT, SIGSTOP);
    check_sleep_ms(1000);
    pid_t newcomer = daemons_pid(8);
    CHECK(kill(newcomer, SIGSTOP) == 0);
    send_signal(SEAT, SIGCONT);
    while (pvm_mstat("127.0.0.9") != PvmOk)
        check_sleep_ms(5);
    double start = check_now();
    int destroyed = destroy_connections("127.0.0.9");
    send_signal(0, SIGKILL);
    CHECK(kill(newcomer, SIGCONT) == 0);
    int added = check_receive_int(caller_tid, TAG_RESULT);
    put_entries();
    printf("the machine goes on after %.3f s\n", check_now() - start);
    check_added(added);
    end_machine(1);
    if (destroyed < 1)
        check_skip("the kernel does not destroy connections (ss -K), so the new host has its tables");
}

/* The deleted host's daemon is stopped, so that the master waits for its end. */
static void check_deleting(void)
{
    start_machine(4);
    int tid = start_caller("remove", 2);
    send_signal(3, SIGSTOP);
    check_send_int(tid, TAG_GO, 0);
    while (pvm_mstat("127.0.0.4") != PvmNoHost)
        check_sleep_ms(5);
    for (int i = 0; i < 2; i++) /* what came before is committed, and half of the others know that: 2 of 3 may elect */
        CHECK(entry_put("settled", i, PvmMboxPersistent | PvmMboxOverWritable) >= 0);
    double start = check_now();
    send_signal(0, SIGKILL);
    CHECK_EQ(check_receive_int(tid, TAG_RESULT), 0);
    printf("the host is deleted after %.3f s\n", check_now() - start);
    send_signal(3, SIGCONT);
    CHECK(daemons_wait_end(pids[3]));
    end_machine(1);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "asked") == 0)
        check_asked();
    else if (strcmp(what, "carried") == 0)
        check_carried();
    else if (strcmp(what, "adding") == 0)
        check_adding(argc > 2 ? atoi(argv[2]) : 40, 0);
    else if (strcmp(what, "joining") == 0)
        check_adding(1000, 1);
    else if (strcmp(what, "becoming") == 0)
        check_becoming();
    else if (strcmp(what, "deleting") == 0)
        check_deleting();
    else
        CHECK(!"usage: pending asked | carried | adding | joining | becoming | deleting");
}

static const struct check_role roles[] = {{"caller", caller}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
