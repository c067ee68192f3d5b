/*
 * sections_machine.c - hosts, tasks, events, mailbox: calls that the daemon answers.
 */
#include "probe.h"
#include "pvmtev.h"

static int me, host, no_task, no_host;
static char host_name[256];

static void begin(void)
{
    struct pvmhostinfo *hosts;

    probe_quiet();
    me = pvm_mytid();
    host = pvm_tidtohost(me);
    no_task = host + 0x3fff0;
    no_host = 0x7fc0000;
    pvm_config(NULL, NULL, &hosts);
    snprintf(host_name, sizeof host_name, "%s", hosts[0].hi_name);
}

static void send_int(int tid, int tag, int value)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    pvm_send(tid, tag);
}

/* The next event message with `tag`: one int, a task or host. */
static void event(int tag)
{
    struct timeval limit = {5, 0};
    int mid = pvm_trecv(-1, tag, &limit), tid = 0, bytes, from;

    if (mid <= 0) {
        FACT("no event");
        return;
    }
    pvm_bufinfo(mid, &bytes, NULL, &from);
    pvm_upkint(&tid, 1, 1);
    FACT("event tag=%d from %s, %d bytes: %s", tag, probe_name(from), bytes,
         tid == no_host   ? "no host"
         : tid == no_task ? "no task"
                          : probe_name(tid));
}

static void machine(void)
{
    struct pvmhostinfo *hosts;
    struct timeval clock, delta;
    int nhost = 0, narch = 0, *fds;

    begin();
    CALL(pvm_config(&nhost, &narch, &hosts));
    FACT("%d host, %d format, %s %s speed %d dsig 0x%x", nhost, narch, probe_name(hosts[0].hi_tid), hosts[0].hi_arch,
         hosts[0].hi_speed, hosts[0].hi_dsig);
    CALL(strcmp(hosts[0].hi_name, host_name));
    CALL(pvm_config(NULL, NULL, NULL));
    CALL(pvm_mstat(host_name));
    CALL(pvm_mstat("."));
    CALL(pvm_mstat("nosuchhost"));
    CALL(pvm_mstat(""));
    CALL(pvm_mstat(NULL));
    CALL(pvm_archcode("LINUX64"));
    CALL(pvm_archcode("NOSUCH"));
    CALL(pvm_archcode(""));
    CALL(pvm_archcode(NULL));
    CALL(pvm_hostsync(host, &clock, &delta));
    CALL(delta.tv_sec * 1000000 + delta.tv_usec < 1000000);
    CALL(pvm_hostsync(host, NULL, NULL));
    CALL(pvm_hostsync(no_host, &clock, &delta));
    CALL(pvm_hostsync(0, &clock, &delta));
    CALL(pvm_getfds(&fds));
    CALL(fds[0] > 2);
}

static void tasks(void)
{
    struct pvmtaskinfo *info;
    int n = 0;

    begin();
    CALL(pvm_tasks(0, &n, &info));
    FACT("%d: %s of %s on %s, flags 0x%x, \"%s\", pid %d", n, probe_name(info[0].ti_tid), probe_name(info[0].ti_ptid),
         probe_name(info[0].ti_host), info[0].ti_flag, info[0].ti_a_out, info[0].ti_pid == getpid());
    probe_children("wait", NULL, 2);
    send_int(probe_child[0], 1, 0);
    probe_wait_ms(300); /* while children enrol, the reference also lists tasks without name */
    CALL(pvm_tasks(host, &n, &info));
    FACT("%d", n);
    for (int i = 0; i < n; i++)
        FACT("%s of %s", probe_name(info[i].ti_tid), probe_name(info[i].ti_ptid));
    CALL(pvm_tasks(probe_child[1], &n, &info));
    FACT("%d: %s of %s, flags 0x%x, %s", n, probe_name(info[0].ti_tid), probe_name(info[0].ti_ptid), info[0].ti_flag,
         strcmp(info[0].ti_a_out, probe_self) == 0 ? "its path" : info[0].ti_a_out);
    CALL(pvm_tasks(no_host, &n, &info));
    CALL(pvm_tasks(no_task, &n, &info));
    CALL(pvm_tasks(-1, &n, &info));
    CALL(pvm_tasks(me, NULL, NULL));
    CALL(pvm_pstat(me));
    CALL(pvm_pstat(probe_child[0]));
    CALL(pvm_pstat(no_task));
    CALL(pvm_pstat(host));
    CALL(pvm_pstat(7));
    CALL(pvm_pstat(0));
    CALL(pvm_pstat(-1));
    send_int(probe_child[0], 99, 0);
    send_int(probe_child[1], 99, 0);
}

static void show_codes(const char *call, int started, const int *tids, int n)
{
    printf("%s = %d:", call, started);
    for (int i = 0; i < n; i++)
        tids[i] > 0 ? printf(" id") : printf(" %d", tids[i]);
    printf("\n");
}

/* The result of a spawn, and its tids or error codes. */
#define SPAWN(file, argv, flags, where, n)                                                                             \
    do {                                                                                                               \
        int tids[4] = {0, 0, 0, 0};                                                                                    \
        int started = pvm_spawn(file, argv, flags, where, n, tids);                                                    \
        show_codes("pvm_spawn(" #file ", " #argv ", " #flags ", " #where ", " #n ")", started, tids,                   \
                   (n) > 0 ? (n) : 0);                                                                                 \
    } while (0)

static void spawning(void)
{
    char *leave[] = {"child", "exit", NULL};

    begin();
    SPAWN(probe_self, leave, PvmTaskDefault, NULL, 1);
    SPAWN(probe_self, leave, PvmTaskDefault, "", 3);
    SPAWN(probe_self, leave, PvmTaskDefault, "nosuchhost", 1);
    SPAWN(probe_self, leave, PvmTaskHost, ".", 2);
    SPAWN(probe_self, leave, PvmTaskHost, host_name, 1);
    SPAWN(probe_self, leave, PvmTaskHost, ".:/tmp", 1);
    SPAWN(probe_self, leave, PvmTaskHost, "nosuchhost", 2);
    SPAWN(probe_self, leave, PvmTaskHost, "", 1);
    SPAWN(probe_self, leave, PvmTaskHost, NULL, 1);
    SPAWN(probe_self, leave, PvmTaskArch, "LINUX64", 1);
    SPAWN(probe_self, leave, PvmTaskArch, "NOSUCH", 1);
    SPAWN(probe_self, leave, PvmTaskHost | PvmHostCompl, "nosuchhost", 1);
    SPAWN(probe_self, leave, PvmTaskHost | PvmHostCompl, ".", 1);
    SPAWN(probe_self, leave, PvmTaskHost | PvmTaskArch, ".", 1);
    SPAWN(probe_self, leave, PvmMppFront, "", 1);
    SPAWN(probe_self, leave, PvmNoSpawnParent, "", 1);
    SPAWN("nosuchprogram", NULL, PvmTaskDefault, "", 2);
    SPAWN("/no/such/program", NULL, PvmTaskDefault, "", 1);
    SPAWN("/etc/passwd", NULL, PvmTaskDefault, "", 1);
    SPAWN("/", NULL, PvmTaskDefault, "", 1);
    SPAWN("", NULL, PvmTaskDefault, "", 1);
    SPAWN(probe_self, leave, PvmTaskDefault, "", 0);
    SPAWN(probe_self, leave, PvmTaskDefault, "", -1);
    CALL(pvm_spawn(probe_self, leave, PvmTaskDefault, "", 1, NULL));
    probe_wait_ms(100);
}

static void spawning_nothing(void)
{
    begin();
    SPAWN(NULL, NULL, PvmTaskDefault, "", 1);
}

static void print_file(FILE *file)
{
    char line[1024], *name;

    rewind(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        name = line[0] == '[' ? strchr(line, ']') : NULL;
        if (name)
            FACT("[%s%s", probe_name((int)strtol(line + 2, NULL, 16)), name);
        else
            FACT("%s", line);
    }
}

/* The environment of a child, and its output with and without task ids. */
static void output(void)
{
    FILE *file = tmpfile();

    begin();
    setenv("PROBE_VARIABLE", "exported", 1);
    CALL(pvm_catchout(file));
    CALL(pvm_export("PROBE_VARIABLE"));
    probe_children("show", "a b", 1);
    CALL(pvm_notify(PvmTaskExit, 40, 1, probe_child));
    event(40);
    CALL(pvm_unexport("PROBE_VARIABLE"));
    CALL(pvm_catchout(NULL));
    print_file(file);
    file = tmpfile();
    CALL(pvm_setopt(PvmShowTids, 0));
    CALL(pvm_catchout(file));
    probe_children("show", NULL, 1);
    pvm_notify(PvmTaskExit, 40, 1, probe_child);
    event(40);
    CALL(pvm_catchout(NULL));
    print_file(file);
}

/* pvm_exit() waits for the output of children. */
static void output_at_exit(void)
{
    begin();
    CALL(pvm_catchout(stdout));
    CALL(pvm_setopt(PvmShowTids, 0));
    probe_children("exit", "300", 1);
    CALL(pvm_exit());
    printf("after\n");
}

static void killing(void)
{
    begin();
    probe_children("wait", NULL, 3);
    CALL(pvm_kill(no_task));
    CALL(pvm_kill(0));
    CALL(pvm_kill(-1));
    CALL(pvm_kill(host));
    CALL(pvm_sendsig(no_task, SIGTERM));
    CALL(pvm_sendsig(0, SIGTERM));
    CALL(pvm_sendsig(probe_child[0], 0));
    CALL(pvm_sendsig(probe_child[0], 999));
    CALL(pvm_sendsig(probe_child[0], -1));
    CALL(pvm_notify(PvmTaskExit, 41, 3, probe_child));
    CALL(pvm_kill(probe_child[0]));
    event(41);
    CALL(pvm_pstat(probe_child[0]));
    CALL(pvm_kill(probe_child[0]));
    CALL(pvm_sendsig(probe_child[1], SIGKILL));
    event(41);
    send_int(probe_child[2], 99, 0);
    event(41);
    CALL(pvm_nrecv(-1, 41));
}

static void kill_self(void)
{
    begin();
    printf("before\n");
    CALL(pvm_kill(me));
    probe_wait_ms(2000);
    printf("not reached\n");
}

static void events(void)
{
    begin();
    probe_children("wait", NULL, 2);
    CALL(pvm_notify(PvmTaskExit, 42, 1, &no_task));
    event(42);
    CALL(pvm_notify(PvmHostDelete, 43, 1, &no_host));
    event(43);
    CALL(pvm_notify(PvmHostDelete, 43, 1, &host));
    CALL(pvm_notify(PvmHostDelete | PvmNotifyCancel, 43, 1, &host));
    event(43);
    CALL(pvm_notify(PvmTaskExit, 44, 2, probe_child));
    CALL(pvm_notify(PvmTaskExit, 44, 1, probe_child));
    send_int(probe_child[0], 99, 0);
    event(44);
    event(44);
    CALL(pvm_notify(PvmTaskExit | PvmNotifyCancel, 44, 1, probe_child + 1));
    event(44);
    probe_wait_ms(50);
    CALL(pvm_nrecv(-1, 44));
    CALL(pvm_notify(PvmTaskExit, 45, 0, probe_child));
    CALL(pvm_notify(PvmTaskExit, 45, -1, probe_child));
    CALL(pvm_notify(PvmHostDelete, 45, 0, &host));
    CALL(pvm_notify(PvmHostAdd, 45, -1, NULL));
    CALL(pvm_notify(PvmHostAdd, 45, 3, NULL));
    CALL(pvm_notify(PvmHostAdd, 45, 0, NULL));
    CALL(pvm_notify(PvmRouteAdd, 46, -1, NULL));
    CALL(pvm_notify(PvmRouteAdd, 46, 0, NULL));
    CALL(pvm_notify(PvmRouteDelete, 47, 1, probe_child + 1));
    CALL(pvm_notify(PvmRouteDelete, 47, 0, probe_child));
    CALL(pvm_notify(0, 48, 1, probe_child));
    CALL(pvm_notify(77, 48, 1, probe_child));
    CALL(pvm_notify(PvmTaskExit, -1, 1, probe_child + 1));
    CALL(pvm_notify(PvmTaskExit, 49, 1, (int[]){0}));
    CALL(pvm_notify(PvmTaskExit, 49, 1, (int[]){-1}));
    CALL(pvm_notify(PvmTaskExit, 49, 1, &host));
    CALL(pvm_notify(PvmHostDelete, 49, 1, &me));
    CALL(pvm_nrecv(-1, 49));
    send_int(probe_child[1], 99, 0);
}

static void event_context(void)
{
    int context;

    begin();
    context = pvm_newcontext();
    pvm_setcontext(context);
    CALL(pvm_notify(PvmTaskExit, 42, 1, &no_task));
    pvm_setcontext(0);
    probe_wait_ms(50);
    CALL(pvm_nrecv(-1, 42));
    pvm_setcontext(context);
    event(42);
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

static void show_mailbox(char *pattern)
{
    struct pvmmboxinfo *boxes;
    int n = 0;

    CALL(pvm_getmboxinfo(pattern, &n, &boxes));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < boxes[i].mi_nentries; k++)
            FACT("%s %d of %s flags %d", boxes[i].mi_name, boxes[i].mi_indices[k], probe_name(boxes[i].mi_owners[k]),
                 boxes[i].mi_flags[k]);
}

static void mailbox(void)
{
    struct pvmminfo info;

    begin();
    CALL(put("box", 11, PvmMboxDefault));
    CALL(put("box", 12, PvmMboxDefault)); /* our own: overwritten */
    CALL(take("box", 0, 0));
    CALL(put("box", 13, PvmMboxMultiInstance));
    CALL(put("box", 14, PvmMboxMultiInstance | PvmMboxOverWritable));
    CALL(put("box", 15, PvmMboxMultiInstance | PvmMboxPersistent));
    CALL(put("box", 16, PvmMboxDirectIndex(9)));
    CALL(put("box", 17, PvmMboxDirectIndex(9)));
    CALL(put("other", 21, PvmMboxDirectIndex(5)));
    CALL(put("other", 22, PvmMboxMultiInstance));
    show_mailbox("*");
    show_mailbox("b*");
    show_mailbox("nosuch");
    show_mailbox("");
    CALL(take("box", 7, 0));
    CALL(take("box", 5, PvmMboxFirstAvail));
    CALL(take("box", 99, PvmMboxFirstAvail));
    CALL(take("nosuch", 0, 0));
    CALL(take("nosuch", 0, PvmMboxFirstAvail));
    CALL(take("", 0, 0));
    CALL(take(NULL, 0, 0));
    CALL(take("box", -1, 0));
    ID(pvm_recvinfo("box", 1, 0));
    pvm_getminfo(pvm_getrbuf(), &info);
    FACT("len=%d tag=%d from %s enc=0x%x", info.len, info.tag, probe_name(info.src), info.enc);
    CALL(take("box", 1, PvmMboxReadAndDelete));
    CALL(take("box", 1, PvmMboxReadAndDelete));
    CALL(pvm_delinfo("box", 2, 0));
    CALL(pvm_delinfo("box", 2, 0));
    CALL(pvm_delinfo("nosuch", 0, 0));
    CALL(pvm_delinfo("", 0, 0));
    CALL(pvm_delinfo("box", -1, 0));
    CALL(put("box", 18, PvmMboxMultiInstance)); /* the lowest free index */
    CALL(put("", 1, 0));
    CALL(put(NULL, 1, 0));
    CALL(take("box", 0, PvmMboxWaitForInfo));
    pvm_exit();
    me = pvm_mytid(); /* from another task: entries that are not persistent are gone */
    show_mailbox("*");
    CALL(take("box", 3, 0));
    CALL(put("box", 31, PvmMboxDefault));
    CALL(put("box", 32, PvmMboxPersistent));
    CALL(pvm_delinfo("box", 3, 0));
    CALL(take("box", 3, PvmMboxReadAndDelete));
    show_mailbox("*");
}

static void mailbox_owned(void)
{
    begin();
    CALL(put("mine", 1, PvmMboxPersistent));
    CALL(put("ours", 2, PvmMboxPersistent | PvmMboxOverWritable));
    pvm_exit();
    me = pvm_mytid();
    CALL(put("mine", 3, PvmMboxDefault));
    CALL(put("ours", 4, PvmMboxDefault));
    CALL(pvm_delinfo("mine", 0, 0));
    CALL(take("mine", 0, PvmMboxReadAndDelete));
    CALL(take("mine", 0, 0));
    CALL(take("ours", 0, 0));
    CALL(pvm_delinfo("ours", 0, 0));
    show_mailbox("*");
}

static void mailbox_bad_buffer(void)
{
    begin();
    CALL(pvm_putinfo("box", 99999, PvmMboxDefault));
    CALL(pvm_putinfo("box", 0, PvmMboxDefault));
    CALL(pvm_putinfo("box", -1, PvmMboxDefault));
}

static void mailbox_33(void)
{
    int value = 0;

    begin();
    CALL(pvm_insert("old", -1, 42));
    CALL(pvm_insert("old", 0, 43));
    CALL(pvm_insert("old", 3, 44));
    CALL(pvm_insert("old", -1, 45));
    CALL(pvm_insert("", 0, 1));
    CALL(pvm_insert(NULL, 0, 1));
    CALL(pvm_insert("old", -2, 1));
    CALL(pvm_lookup("old", 3, &value));
    FACT("%d", value);
    CALL(pvm_lookup("old", -1, &value));
    FACT("%d", value);
    CALL(pvm_lookup("old", 2, &value));
    CALL(pvm_lookup("nosuch", -1, &value));
    CALL(pvm_lookup("", -1, &value));
    CALL(pvm_lookup("old", 3, NULL));
    CALL(pvm_delete("old", 3));
    CALL(pvm_delete("old", 9));
    CALL(pvm_delete("nosuch", 0));
    CALL(pvm_delete("", 0));
    show_mailbox("*");
}

static void no_resets(void)
{
    int *tids, n = 0;

    begin();
    CALL(pvm_getnoresets(&tids, &n));
    FACT("%d", n);
    CALL(pvm_setopt(PvmNoReset, 1));
    CALL(pvm_getnoresets(&tids, &n));
    FACT("%d: %s", n, n > 0 ? probe_name(tids[0]) : "");
    CALL(pvm_setopt(PvmNoReset, 0));
    CALL(pvm_getnoresets(&tids, &n));
    FACT("%d", n);
}

static void hosts(void)
{
    char *nosuch[] = {"nosuchhost.invalid"}, *empty[] = {""}, *own[] = {host_name};
    int status[2] = {0, 0};

    begin();
    CALL(pvm_addhosts(nosuch, 0, status));
    CALL(pvm_addhosts(nosuch, -1, status));
    CALL(pvm_delhosts(nosuch, 1, status));
    FACT("%d", status[0]);
    CALL(pvm_delhosts(nosuch, 0, status));
    CALL(pvm_delhosts(nosuch, -1, status));
    CALL(pvm_delhosts(own, 1, status));
    FACT("%d", status[0]);
    CALL(pvm_delhosts(empty, 1, status));
    FACT("%d", status[0]);
    CALL(pvm_delhosts(own, 1, NULL));
    CALL(pvm_start_pvmd(0, NULL, 0));
    CALL(pvm_start_pvmd(0, NULL, 1));
}

static void adding_hosts(void)
{
    char *nosuch[] = {"nosuchhost.invalid"}, *own[] = {host_name}, *bad[] = {"nosuchhost.invalid xx=1"};
    int status[2] = {0, 0};

    begin();
    CALL(pvm_addhosts(nosuch, 1, status));
    FACT("%d", status[0]);
    CALL(pvm_addhosts(own, 1, status));
    FACT("%d", status[0]);
    CALL(pvm_addhosts(bad, 1, status));
    FACT("%d", status[0]);
}

static void tickle(void)
{
    int arguments[] = {5, 0}, n = 0, results[10];

    begin();
    CALL(pvm_tickle(1, arguments, &n, results));
    FACT("%d: %d", n, n > 0 ? results[0] : 0);
    CALL(pvm_tickle(0, arguments, &n, results));
    CALL(pvm_tickle(11, arguments, &n, results));
    arguments[0] = 6, arguments[1] = 0;
    CALL(pvm_tickle(2, arguments, &n, results));
    arguments[0] = 999;
    CALL(pvm_tickle(1, arguments, &n, results));
    CALL(pvm_tickle(1, arguments, NULL, NULL));
}

/* Another task can be the tracer only when we are not. */
static void rival(void)
{
    int rc = 0;

    probe_children("rival", NULL, 1);
    pvm_recv(probe_child[0], 99);
    pvm_upkint(&rc, 1, 1);
    FACT("another task: %d", rc);
}

static void tracers(void)
{
    Pvmtmask mask;

    TEV_MASK_INIT(mask);
    CALL(pvm_reg_tracer(1, 2, 3, 4, mask, 0, PvmTraceFull));
    rival();
    show_mailbox(PVMTRACERCLASS);
    CALL(pvm_reg_tracer(1, 2, 3, 4, mask, 0, PvmTraceFull));
    show_mailbox(PVMTRACERCLASS);
    rival();
    CALL(pvm_reg_hoster());
    show_mailbox(PVMHOSTERCLASS);
}

static void system_tasks(void)
{
    begin();
    CALL(pvm_reg_hoster());
    CALL(pvm_reg_hoster());
    CALL(pvm_reg_tasker());
    CALL(pvm_reg_tasker());
    tracers();
}

static void halt(void)
{
    begin();
    printf("before\n");
    pvm_halt();
    probe_wait_ms(2000);
    printf("not reached\n");
}

/* When the daemon dies, every call returns an error at once. */
static void lost_daemon(void)
{
    const char *daemon = getenv("MACHINE_DAEMON"); /* its pid, from with-machine */
    int n, tid;

    begin();
    pvm_initsend(PvmDataDefault);
    if (!daemon || atoi(daemon) <= 1)
        exit(1);
    kill(atoi(daemon), SIGKILL);
    probe_wait_ms(100);
    CALL(pvm_recv(-1, -1));
    CALL(pvm_config(&n, NULL, NULL));
    CALL(pvm_spawn("x", NULL, 0, NULL, 1, &tid));
    CALL(pvm_notify(PvmTaskExit, 1, 1, &me));
    CALL(pvm_nrecv(-1, -1));
    CALL(pvm_errno);
}

const struct probe_section probe_machine_table[] = {
    {"machine", machine},
    {"tasks", tasks},
    {"spawning", spawning},
    {"spawning-nothing", spawning_nothing},
    {"output", output},
    {"output-at-exit", output_at_exit},
    {"killing", killing},
    {"kill-self", kill_self},
    {"events", events},
    {"event-context", event_context},
    {"mailbox", mailbox},
    {"mailbox-owned", mailbox_owned},
    {"mailbox-bad-buffer", mailbox_bad_buffer},
    {"mailbox-33", mailbox_33},
    {"no-resets", no_resets},
    {"hosts", hosts},
    {"adding-hosts", adding_hosts},
    {"tickle", tickle},
    {"system-tasks", system_tasks},
    {"halt", halt},
    {"lost-daemon", lost_daemon},
    {NULL, NULL},
};
