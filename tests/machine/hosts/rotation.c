/*
 * rotation - pvm_rotate() shuts out who knows the machine's old secret, and disturbs nobody else.
 *
 *   rotation traffic     of 5 hosts, while tasks on all of them send each other messages; a host that left is refused
 *   rotation cut         the same while connections between daemons break (PVM_FAULT)
 *   rotation lost        a host dies in each phase (PVM_FAULT): it is shut out, too
 *   rotation silent      a host is stopped: the others go on without it after PVM_HOST_TIMEOUT=3
 *   rotation killed N    the master dies while the second host makes the change of phase N (PVM_FAULT): the next one
 *                        goes on
 *   rotation comeback N  of 2 hosts: likewise, and it is started again
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "dpvm.h"
#include "pvmd/net/preface.h"
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/daemons.h"

enum { TAG_RING = 1, TAG_VALUE, TAG_STOP, TAG_COUNT, TAG_ECHO, TAG_RESULT, HOSTS = 5, GUEST = 5, LATER = 6, END = -1 };

/* ---- what somebody with a secret gets at a daemon's port ---- */

/* The socket that descriptor `name` of this process is, or 0. */
static unsigned long socket_of(pid_t pid, const char *name)
{
    char path[300], text[64];
    unsigned long inode = 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, name);
    ssize_t n = readlink(path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "socket:[%lu]", &inode) == 1 ? inode : 0;
}

static unsigned listens_at(const char *table, unsigned long socket)
{
    char line[512];
    unsigned port = 0, p, state;
    unsigned long inode;
    FILE *f = fopen(table, "r");
    while (f && !port && fgets(line, sizeof line, f))
        if (sscanf(line, " %*d: %*[^:]:%x %*s %x %*s %*s %*s %*d %*d %lu", &p, &state, &inode) == 3 && state == 10 &&
            inode == socket)
            port = p;
    if (f)
        fclose(f);
    return port;
}

static unsigned port_of(int index)
{
    char path[64];
    unsigned port = 0;
    pid_t pid = daemons_pid(index);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    CHECK(d != NULL);
    for (struct dirent *e; !port && (e = readdir(d));) {
        unsigned long socket = socket_of(pid, e->d_name);
        port = socket ? listens_at("/proc/net/tcp", socket) : 0;
        port = socket && !port ? listens_at("/proc/net/tcp6", socket) : port;
    }
    closedir(d);
    CHECK(port > 0);
    return port;
}

static bool read_whole(int fd, void *to, size_t bytes)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK_EQ(poll(&p, 1, check_limit_s() * 1000), 1);
    return recv(fd, to, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Whether the daemon takes us for a member, because of this secret; it proves to know the secret, too. */
static bool opens(const struct pvmd_machine *m, int index)
{
    static const struct pvmd_preface who = {.from_index = 99, .from_incarnation = 1, .to_index = 98};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port_of(index))};
    uint8_t nonce[PVMD_NONCE_BYTES], wire[PVMD_PREFACE_BYTES], answer[PVMD_ANSWER_BYTES];
    enum pvmd_verdict verdict;
    CHECK_EQ(inet_pton(AF_INET, daemons_name(index), &to.sin_addr), 1);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    CHECK(read_whole(fd, nonce, sizeof nonce));
    CHECK_EQ(pvmd_machine_join(m), 0);
    CHECK_EQ(pvmd_preface_encode(&who, &pvmd_secrets->own.door, nonce, wire), 0);
    CHECK_EQ(send(fd, wire, sizeof wire, MSG_NOSIGNAL), sizeof wire);
    bool answered = read_whole(fd, answer, sizeof answer);
    close(fd);
    if (!answered)
        return false;
    CHECK_EQ(pvmd_preface_verdict(answer, wire, &pvmd_secrets->own.door, nonce, &verdict), 0);
    CHECK(verdict == PVMD_VERDICT_WRONG || verdict == PVMD_VERDICT_OUT); /* there is no such host */
    return true;
}

/* ---- the secret, as a host knows it: from the master's journal ---- */

static struct pvmd_machine secret_of(int master)
{
    static const char magic[] = "dpvm journal";
    struct pvmd_machine m;
    char path[PATH_MAX], text[4096];
    int n = snprintf(path, sizeof path, "%s/pvmj.%u", getenv("PVM_TMP"), (unsigned)getuid());
    if (master)
        snprintf(path + n, sizeof path - (size_t)n, ".%s", daemons_name(master));
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    char *at = memmem(text, length, magic, sizeof magic - 1);
    CHECK(at != NULL);
    memcpy(&m, at + sizeof magic - 1 + sizeof(uint32_t), sizeof m); /* behind the version */
    return m;
}

static void check_doors(const struct pvmd_machine *m, int first, int last, bool open)
{
    for (int i = first; i <= last; i++)
        if (opens(m, i) != open)
            check_failed(__FILE__, __LINE__, "host %d %s the secret", i, open ? "does not take" : "takes");
}

/* ---- tasks ---- */

/* Sends numbers to the next host's task and gets those of the one before, which come in order. */
static void talker(int argc, char **argv)
{
    int ring[HOSTS], me = 0, sent = 0, got = 0;
    (void)argc, (void)argv;
    pvm_setopt(PvmRoute, PvmDontRoute);
    check_receive(pvm_parent(), TAG_RING);
    CHECK_EQ(pvm_upkint(ring, HOSTS, 1), 0);
    while (ring[me] != pvm_mytid())
        me++;
    for (int value = 0; value >= 0 && pvm_nrecv(pvm_parent(), TAG_STOP) == 0; got += value >= 0) {
        check_send_int(ring[(me + 1) % HOSTS], TAG_VALUE, sent++);
        value = check_receive_int(ring[(me + HOSTS - 1) % HOSTS], TAG_VALUE);
        CHECK(value == got || value == END);
    }
    check_send_int(ring[(me + 1) % HOSTS], TAG_VALUE, END);
    check_send_int(pvm_parent(), TAG_COUNT, got);
}

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (;;)
        check_send_int(pvm_parent(), TAG_ECHO, check_receive_int(pvm_parent(), TAG_ECHO));
}

static void rotator(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_send_int(pvm_parent(), TAG_RESULT, pvm_rotate());
}

/* ---- steps ---- */

static bool breaks; /* connections do: also those of hosts that join */

static void add(int index)
{
    char *name = (char *)daemons_name(index);
    int info = 0;
    double end = check_now() + check_limit_s();
    while (pvm_addhosts(&name, 1, &info) != 1)
        CHECK(breaks && check_now() < end);
}

static void delete (int index)
{
    char *name = (char *)daemons_name(index);
    int info = 0;
    CHECK_EQ(pvm_delhosts(&name, 1, &info), 1);
}

static void start_ring(int ring[HOSTS])
{
    for (int i = 0; i < HOSTS; i++)
        check_spawn("talker", NULL, i ? daemons_name(i) : check_host_name(0), 1, &ring[i]);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(ring, HOSTS, 1), 0);
    CHECK_EQ(pvm_mcast(ring, HOSTS, TAG_RING), 0);
}

static int stop_ring(int ring[HOSTS])
{
    int least = INT_MAX;
    CHECK_EQ(pvm_mcast(ring, HOSTS, TAG_STOP), 0);
    for (int i = 0; i < HOSTS; i++) {
        int count = check_receive_int(ring[i], TAG_COUNT);
        least = count < least ? count : least;
    }
    check_wait_exit(HOSTS, ring);
    return least;
}

static void check_echoes(int first, int last)
{
    for (int i = first; i <= last; i++) {
        int tid;
        check_spawn("echo", NULL, daemons_name(i), 1, &tid);
        check_send_int(tid, TAG_ECHO, i);
        CHECK_EQ(check_receive_int(tid, TAG_ECHO), i);
        CHECK_EQ(pvm_kill(tid), 0);
    }
}

/* Whether the master has lost a connection in each phase of some rotation. */
static bool is_cut_in_each_phase(void)
{
    static const char *const phases[] = {"is offered", "is used", "is the only one"};
    char path[PATH_MAX], line[1024];
    bool cut[4] = {false};
    int phase = 3; /* before the first one */
    snprintf(path, sizeof path, "%s/pvml.%u", getenv("PVM_TMP"), (unsigned)getuid());
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f)) {
        for (int i = 0; i < 3; i++)
            phase = strstr(line, "secret ") && strstr(line, phases[i]) ? i : phase;
        cut[phase] |= strstr(line, "lost the connection") != NULL;
    }
    fclose(f);
    return cut[0] && cut[1] && cut[2];
}

/* ---- the cases ---- */

static void check_traffic(int times)
{
    int ring[HOSTS];
    for (int i = 1; i <= GUEST; i++)
        add(i);
    struct pvmd_machine old = secret_of(0);
    delete (GUEST);
    check_doors(&old, 0, HOSTS - 1, true); /* as the host that has left knows it */
    start_ring(ring);
    double end = check_now() + check_limit_s();
    for (int i = 0; i < times || (breaks && !is_cut_in_each_phase()); i++) {
        CHECK_EQ(pvm_rotate(), HOSTS);
        CHECK(check_now() < end);
    }
    int messages = stop_ring(ring);
    check_doors(&old, 0, HOSTS - 1, false);
    struct pvmd_machine present = secret_of(0);
    check_doors(&present, 0, HOSTS - 1, true);
    add(LATER);
    CHECK_EQ(pvm_rotate(), HOSTS + 1);
    check_echoes(LATER, LATER);
    check_doors(&present, 0, HOSTS - 1, false);
    check_doors(&present, LATER, LATER, false);
    printf("%d rotations, %d messages to each task meanwhile\n", times, messages);
}

/* Each host dies in the rotation after that of the one before, which a second one follows. */
static void check_lost(void)
{
    check_hosts(HOSTS);
    for (int left = HOSTS - 1; left > 1; left--) {
        struct pvmd_machine old = secret_of(0);
        CHECK_EQ(pvm_rotate(), left);
        check_doors(&old, 0, 1, false);
    }
    CHECK(daemons_log_has(0, "secret 6 of this machine is the only one"));
    add(LATER);
    check_echoes(1, 1);
}

static void check_silent(void)
{
    check_hosts(HOSTS);
    pid_t pid = daemons_pid(HOSTS - 1);
    CHECK(kill(pid, SIGSTOP) == 0);
    double start = check_now();
    CHECK_EQ(pvm_rotate(), HOSTS - 1);
    CHECK(check_now() - start < daemons_patience(8));
    CHECK(kill(pid, SIGKILL) == 0);
    add(LATER);
}

static void await_pass(int index, int pass)
{
    char text[64];
    double end = check_now() + check_limit_s();
    snprintf(text, sizeof text, "failpoint keys.change, pass %d: delay", pass);
    while (!daemons_log_has(index, text)) {
        CHECK(check_now() < end);
        check_sleep_ms(2);
    }
}

/* Joining is the first pass. Returns the path of the master's program. */
static void kill_master_in(int phase, char program[PATH_MAX])
{
    char link[64];
    int tid;
    pid_t pid = daemons_pid(0);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, program, PATH_MAX - 1);
    CHECK(n > 0);
    program[n] = '\0';
    check_spawn("rotator", NULL, daemons_name(1), 1, &tid);
    await_pass(1, 1 + phase);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(daemons_wait_end(pid));
}

static int next_master(void)
{
    for (int i = 1; i < HOSTS; i++)
        if (daemons_log_has(i, "this host is the master"))
            return i;
    return 0;
}

static void check_killed(int phase)
{
    char program[PATH_MAX];
    check_hosts(HOSTS);
    struct pvmd_machine old = secret_of(0);
    daemons_enrol_at(2);
    kill_master_in(phase, program);
    CHECK_EQ(check_receive_int(-1, TAG_RESULT), HOSTS - 1);
    int master = next_master();
    CHECK(master > 0);
    struct pvmd_machine present = secret_of(master);
    check_doors(&old, 1, HOSTS - 1, false);
    check_doors(&present, 1, HOSTS - 1, true);
    add(LATER);
    CHECK_EQ(pvm_rotate(), HOSTS);
    check_doors(&present, 1, HOSTS - 1, false);
    check_echoes(1, HOSTS - 1);
    CHECK(daemons_remove_journal(0));
    daemons_halt();
}

static void check_comeback(int phase)
{
    char program[PATH_MAX];
    int status;
    check_hosts(2);
    struct pvmd_machine old = secret_of(0);
    daemons_enrol_at(1);
    kill_master_in(phase, program);
    pid_t daemon = daemons_start_again(program);
    CHECK_EQ(check_receive_int(-1, TAG_RESULT), 2);
    check_doors(&old, 0, 1, false);
    struct pvmd_machine present = secret_of(0);
    check_doors(&present, 0, 1, true);
    add(LATER);
    check_echoes(1, 1);
    daemons_halt();
    CHECK_EQ(waitpid(daemon, &status, 0), daemon);
}

static void master(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int phase = argc > 2 ? atoi(argv[2]) : 0;
    pvm_setopt(PvmRoute, PvmDontRoute);
    breaks = !strcmp(what, "cut");
    if (!strcmp(what, "traffic") || breaks)
        check_traffic(10);
    else if (!strcmp(what, "lost"))
        check_lost();
    else if (!strcmp(what, "silent"))
        check_silent();
    else if (!strcmp(what, "killed"))
        check_killed(phase);
    else if (!strcmp(what, "comeback"))
        check_comeback(phase);
    else
        CHECK(!"usage: rotation traffic | cut | lost | silent | killed N | comeback N");
}

static const struct check_role roles[] = {{"talker", talker}, {"echo", echo}, {"rotator", rotator}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
