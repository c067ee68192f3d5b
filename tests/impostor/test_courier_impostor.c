/*
 * test_courier_impostor.c - the courier's channel with real processes (PVMD3) at both ends: a process without the key
 * gets no payload, and strangers do not delay the master.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include "core/clock.h"
#include "pvmd/launch/channel.h"
#include "pvmd/launch/courier.h"
#include "pvmd/launch/startup.h"
#include "tests/unit/tcp_pair.h"
#include "suite.h"

static const char secret_text[] = "the machine's secret, and what else a daemon starts with\n";
static char folder[] = "/tmp/impostor.XXXXXX";

/* A process whose three standard streams are ours. */
struct process {
    pid_t pid;
    int in, out, err;
};

static struct process run(const char *first, const char *second, const char *third)
{
    int in[2], out[2], err[2];
    ck_assert(!pipe(in) && !pipe(out) && !pipe(err));
    struct process p = {fork(), in[1], out[0], err[0]};
    if (!p.pid) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(err[1], 2);
        for (int fd = 3; fd < 30; fd++)
            close(fd);
        execl(PVMD3, "pvmd3", first, second, third, NULL);
        _exit(127);
    }
    close(in[0]), close(out[1]), close(err[1]);
    return p;
}

/* Reads up to the end of the stream, or a line. */
static void read_text(int fd, char *text, size_t size, bool line)
{
    size_t n = 0;
    while (n + 1 < size && read(fd, text + n, 1) == 1 && !(line && text[n] == '\n'))
        n++;
    text[n] = '\0';
}

static int end(struct process *p)
{
    int status;
    close(p->in), close(p->out), close(p->err);
    waitpid(p->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("PVM_TMP", folder, 1);
    setenv("PVM_ALLOW_ROOT", "1", 1);
    setenv("PVM_START_TIMEOUT", "20", 1);
    ck_assert_ptr_null(pvmw_tls_start());
}

static void tear_down(void)
{
    pvmw_tls_stop();
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The master's end calls an address where an impostor listens. */
START_TEST(an_impostor_that_is_called)
{
    struct impostor i = called_as(_i);
    struct pvmd_courier_key master, slave;
    struct pvmw_addresses where = {0};
    union pvmw_address a;
    char slave_key[PVMD_COURIER_KEY_TEXT], said[1000];
    uint16_t port = 0;
    set_up();
    ck_assert(!pvmd_courier_key_new(&master) && !pvmd_courier_key_new(&slave));
    ck_assert(pvmd_courier_agree(&master, slave.public_key, true, &i.key));
    pvmd_courier_key_text(&slave, slave_key);
    int listening = listener("127.0.0.1", &port);
    ck_assert_int_eq(pvmw_address_parse("127.0.0.1", port, &a), 0);
    pvmw_addresses_add(&where, &a);
    char *text = pvmd_courier_text(&master, slave_key, &where, secret_text);
    struct process p = run("-K", NULL, NULL);
    ck_assert_int_eq(write(p.in, text, strlen(text)), (ssize_t)strlen(text));
    struct impostor_process q = impostor_start(&i, accept(listening, NULL, NULL), false);
    read_text(p.err, said, sizeof said, false);
    printf("%s is called, proof %d: %s", impostor_names[i.kind], i.proof, said);
    ck_assert_ptr_nonnull(strstr(said, "is not the daemon that the hoster has started"));
    if (i.proof != RELAYED_PROOF)
        ck_assert_ptr_nonnull(strstr(said, "the called side does not have the key"));
    ck_assert_uint_eq(impostor_payload(&q), 0);
    ck_assert_int_eq(end(&p), 1);
    free(text);
    close(listening);
    tear_down();
}
END_TEST

/* The slave's end: the text that it needs in order to be called. */
struct slave {
    struct process process;
    struct pvmw_tls_key key;
    struct sockaddr_in at;
};

static void start_slave(struct slave *s)
{
    struct pvmd_courier_key master;
    struct pvmd_start_line line;
    char master_key[PVMD_COURIER_KEY_TEXT], text[PVMD_START_LINE_MAX];
    uint8_t slave_key[PVMD_COURIER_KEY_BYTES];
    ck_assert_int_eq(pvmd_courier_key_new(&master), 0);
    pvmd_courier_key_text(&master, master_key);
    s->process = run("-s", "-k", master_key);
    read_text(s->process.out, text, sizeof text, true);
    ck_assert_int_eq(pvmd_start_line_parse(text, &line), PVMD_LINE_START);
    ck_assert(pvmd_courier_key_read(line.key, slave_key));
    ck_assert(pvmd_courier_agree(&master, slave_key, true, &s->key));
    s->at = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(line.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int call(const struct slave *s)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&s->at, sizeof s->at), 0);
    return fd;
}

/* The master itself: the slave's end trusts it, and exits with it. */
static void call_as_master(const struct slave *s)
{
    struct pvmd_channel channel;
    int fd = call(s);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ck_assert_ptr_null(pvmd_channel_open(&channel, fd, &s->key));
    pvmd_channel_close(&channel);
}

START_TEST(an_impostor_that_calls)
{
    struct impostor i = {.kind = _i};
    struct slave s;
    set_up();
    start_slave(&s);
    i.key = s.key;
    struct impostor_process q = impostor_start(&i, call(&s), true);
    ck_assert_uint_eq(impostor_payload(&q), 0);
    call_as_master(&s);
    end(&s.process);
    tear_down();
}
END_TEST

/* The process that listens there: its pid, found by its name. */
static int courier_of(void)
{
    char path[300], name[32];
    DIR *d = opendir("/proc");
    int found = 0;
    for (struct dirent *e; (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(name, sizeof name, f) && !strcmp(name, "pvmd3-courier\n"))
            found = atoi(e->d_name);
        if (f)
            fclose(f);
    }
    closedir(d);
    return found;
}

/* A line of /proc/PID/status, as a number. */
static int status_of(int pid, const char *field)
{
    char path[64], line[200];
    int value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, field, strlen(field)))
            value = atoi(line + strlen(field));
    if (f)
        fclose(f);
    return value;
}

START_TEST(it_has_given_up_what_strangers_could_use)
{
    struct slave s;
    set_up();
    start_slave(&s);
    int64_t end_us = pvmc_clock_us() + 10000000;
    int pid = 0;
    while ((!(pid = courier_of()) || status_of(pid, "Seccomp:") != 2) && pvmc_clock_us() < end_us)
        usleep(10000);
    ck_assert_int_eq(status_of(pid, "Seccomp:"), 2);
    ck_assert_int_eq(status_of(pid, "NoNewPrivs:"), 1);
    call_as_master(&s);
    end(&s.process);
    tear_down();
}
END_TEST

/* More silent callers than it serves at a time, each for up to 5 s. */
START_TEST(strangers_do_not_keep_the_master_waiting)
{
    enum { STRANGERS = 100 };
    int fds[STRANGERS];
    struct slave s;
    set_up();
    start_slave(&s);
    for (int i = 0; i < STRANGERS; i++)
        fds[i] = call(&s);
    int64_t before_us = pvmc_clock_us();
    call_as_master(&s);
    ck_assert_int_lt(pvmc_clock_us() - before_us, 4000000); /* one at a time, they would take 500 s */
    for (int i = 0; i < STRANGERS; i++)
        close(fds[i]);
    end(&s.process);
    tear_down();
}
END_TEST

int main(void)
{
    /* Sanitizers and Valgrind need system calls of their own. */
    bool filter = !getenv("IMPOSTOR_NO_FILTER");
    const struct impostor_test tests[] = {{an_impostor_that_is_called, IMPOSTORS_THAT_ARE_CALLED},
                                          {an_impostor_that_calls, IMPOSTORS_THAT_CALL},
                                          {strangers_do_not_keep_the_master_waiting, 1},
                                          {filter ? it_has_given_up_what_strangers_could_use : NULL, 1},
                                          {NULL, 0}};
    return impostor_suite("impostor.courier", tests);
}
