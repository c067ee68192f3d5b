/* channel.c - see channel.h. */
#include "channel.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "endpoint.h"
#include "stopwatch.h"

#define CHARGE_MAX_NS (INT64_C(100) * 86400 * 1000000000)

#define MILLION INT64_C(1000000)

#define LOOKS_FREE 100
#define LOOK_NS    1000 /* virtual time that each further look costs */

#define SEND_BUFFER_BYTES 65536 /* small, so that a sender faster than the network soon blocks */

static struct {
    pthread_mutex_t lock;
    int fd;    /* -1: not connected */
    pid_t pid; /* the process that connected; a forked child has another */
    struct pvma_fore_message welcome;
    int64_t scale;       /* millionths: factor on measured computing time; 0: only declared costs count */
    int64_t per_call_ns; /* declared for each call */
    int64_t cost_ns;     /* computed or declared, and not yet reported */
    int64_t debt_ns;     /* the same if there is a library above, which lets this time pass; see pvma_fore_debt() */
    bool has_above;      /* there is a library above this one */
    bool is_above;       /* it runs, not the program */
    unsigned looks;      /* of the program at the clock, since another call */
    int64_t known_ns;    /* network time in the last answer */
    int64_t known_at_ns; /* monotonic clock at that answer */
    bool stale;          /* messages sent since may have advanced the time */
    const char *name;    /* host to join as; NULL: the host that PVM_ATM_HOST names */
    uint32_t wait_number;
    bool waiting, woken;
    bool lost;     /* the connection to a network in virtual time broke; calls fail until pvma_fore_part() */
    uint64_t owed; /* from the last WAKE */
    uint8_t bytes[PVMA_FORE_MESSAGE_BYTES];
} channel = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static _Thread_local bool inside __attribute__((tls_model("initial-exec"))); /* between enter and leave */

static int errno_of(int rc)
{
    switch (rc) {
    case 0:
        return 0;
    case PVMC_EAGAIN:
        return EAGAIN;
    case PVMC_EDOWN:
        return ENETDOWN;
    case PVMC_ENOMEM:
        return ENOMEM;
    default:
        return EPROTO;
    }
}

int *atm_errno_location(void)
{
    /* The initial-exec model allocates it with the thread: gcc 12's leak checker fails on the dynamic model. */
    static _Thread_local int number __attribute__((tls_model("initial-exec")));
    return &number;
}

int pvma_fore_fail(int error)
{
    *atm_errno_location() = error;
    errno = error;
    return -1;
}

/* ---- connecting ---- */

static int socket_path(char path[PATH_MAX])
{
    const char *given = pvmc_config_text(PVMC_SETTING_ATM_SOCKET);
    if (!*given)
        return pvmc_config_daemon_file("atm-sim", path, PATH_MAX) ? ENAMETOOLONG : 0;
    if (strlen(given) >= PATH_MAX)
        return ENAMETOOLONG;
    strcpy(path, given);
    return 0;
}

/* Returns a connected socket, or -1 with errno. */
static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static const int bytes = SEND_BUFFER_BYTES;
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (!connect(fd, (struct sockaddr *)&address, sizeof address))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* A socket that another user listens on could read all traffic. */
static bool is_ours(int fd)
{
    struct ucred who;
    socklen_t size = sizeof who;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) && (who.uid == geteuid() || who.uid == 0);
}

static void forget(void)
{
    if (channel.fd >= 0)
        close(channel.fd);
    channel.fd = -1;
    pvma_fore_endpoint_orphan_all();
    channel.waiting = channel.woken = channel.stale = false;
    channel.cost_ns = channel.debt_ns = 0;
}

/* Sends HELLO as host `name`. Returns 0 or an errno. */
static int greet(const char *name)
{
    struct pvma_fore_message hello = {.type = PVMA_FORE_HELLO, .number = PVMA_FORE_MAGIC, .version = PVMA_FORE_VERSION};
    snprintf(hello.host, sizeof hello.host, "%s", name);
    int rc = pvma_fore_message_send(channel.fd, &hello, -1, true);
    if (!rc)
        rc = pvma_fore_message_receive(channel.fd, channel.bytes, sizeof channel.bytes, &channel.welcome, NULL, true);
    if (!rc && channel.welcome.type == PVMA_FORE_REFUSED) {
        if (channel.welcome.error == ENOENT)
            pvmc_log_once(PVMC_LOG_ERROR, "PVM_ATM_HOST=%s: the network has no such host; it has %.*s", hello.host,
                          (int)channel.welcome.length, (const char *)channel.welcome.data);
        return channel.welcome.error;
    }
    if (!rc && (channel.welcome.type != PVMA_FORE_WELCOME || channel.welcome.version != PVMA_FORE_VERSION))
        rc = PVMC_EVERSION;
    return errno_of(rc);
}

static void learn(int64_t now_ns)
{
    channel.known_ns = now_ns;
    channel.known_at_ns = pvmc_clock_real_ns();
    channel.stale = false;
}

/* Connects and greets. Returns 0 or an errno. */
static int reach(const char *name)
{
    char path[PATH_MAX];
    int error = socket_path(path);
    if (error)
        return error;
    channel.fd = dial(path);
    if (channel.fd < 0) {
        error = errno == ENOENT || errno == ECONNREFUSED ? ENETDOWN : errno;
        pvmc_log_once(
            PVMC_LOG_INFO, /* the caller reports the error; one that only probes for a network needs no message */
            "no ATM network at %s (%s): start one (atm-sim serve --topology FILE), or set PVM_ATM_SOCKET", path,
            strerror(errno));
        return error;
    }
    channel.pid = getpid();
    error = is_ours(channel.fd) ? greet(name) : EACCES;
    if (error)
        forget();
    return error;
}

static int join(void)
{
    int error = reach(channel.name ? channel.name : pvmc_config_text(PVMC_SETTING_ATM_HOST));
    if (error)
        return error;
    channel.scale = pvmc_config_integer(PVMC_SETTING_ATM_CPU);
    channel.per_call_ns = pvmc_config_us(PVMC_SETTING_ATM_CALL_COST) * 1000;
    learn(channel.welcome.time_ns);
    return 0;
}

/* ---- calls ---- */

const struct pvma_fore_message *pvma_fore_welcome(void)
{
    return &channel.welcome;
}

bool pvma_fore_is_virtual(void)
{
    return channel.welcome.clock == ATM_CLOCK_VIRTUAL;
}

/* Virtual time ends after 106 days (pvma_ps), and with it what a program can compute at once. */
static int64_t limited(int64_t ns)
{
    if (ns <= CHARGE_MAX_NS)
        return ns;
    pvmc_log_once(PVMC_LOG_ERROR, "this program computes or sleeps for more than 100 days, which virtual time does not "
                                  "have: lower PVM_ATM_CPU");
    return CHARGE_MAX_NS;
}

/* The program has computed for that long. */
static void charge(int64_t ns)
{
    int64_t *total = channel.has_above ? &channel.debt_ns : &channel.cost_ns;
    *total = limited(*total + limited(ns));
}

/* The same, measured: PVM_ATM_CPU is still to be applied. */
static void charge_measured(int64_t ns)
{
    __int128 scaled = (__int128)ns * channel.scale / MILLION;
    charge(scaled < INT64_MAX ? (int64_t)scaled : INT64_MAX);
}

static int enter(bool charged)
{
    inside = true;
    int64_t computed_ns = channel.is_above ? 0 : pvma_stopwatch_stop();
    pthread_mutex_lock(&channel.lock);
    if (channel.pid != getpid()) {
        forget(); /* the parent's connection */
        channel.lost = false;
    }
    int error = channel.fd >= 0 ? 0 : channel.lost ? ENETDOWN : join();
    if (error) {
        pthread_mutex_unlock(&channel.lock);
        inside = false;
        return pvma_fore_fail(error);
    }
    if (pvma_fore_is_virtual()) {
        channel.cost_ns += charged ? channel.per_call_ns : 0;
        charge_measured(computed_ns);
    }
    return 0;
}

int pvma_fore_enter(void)
{
    channel.looks = 0;
    return enter(true);
}

int pvma_fore_enter_free(void)
{
    return enter(false);
}

static void start_stopwatch(void)
{
    if (channel.fd >= 0 && pvma_fore_is_virtual() && channel.scale)
        pvma_stopwatch_start();
}

int pvma_fore_leave(int rc, int error)
{
    pthread_mutex_unlock(&channel.lock);
    if (!channel.is_above)
        start_stopwatch();
    inside = false;
    return error ? pvma_fore_fail(error) : rc;
}

void pvma_fore_lock(void)
{
    pthread_mutex_lock(&channel.lock);
}

/*
 * A program that waits for a time by looking at the clock would otherwise look forever, because what it does between
 * two looks counts as nothing.
 */
void pvma_fore_look_at_clock(void)
{
    if (pvma_fore_is_virtual() && !channel.is_above && ++channel.looks > LOOKS_FREE)
        charge(LOOK_NS);
}

void pvma_fore_charge(int64_t ns)
{
    if (pvma_fore_is_virtual())
        charge(ns);
}

void pvma_fore_enter_above(void)
{
    inside = true;
    int64_t computed_ns = pvma_stopwatch_stop();
    channel.has_above = channel.is_above = true;
    channel.looks = 0;
    charge_measured(computed_ns);
    inside = false;
}

void pvma_fore_leave_above(void)
{
    inside = true;
    channel.is_above = false;
    start_stopwatch();
    inside = false;
}

bool pvma_fore_is_program_of_above(void)
{
    return channel.has_above && !channel.is_above;
}

int64_t pvma_fore_debt(void)
{
    return channel.debt_ns;
}

/* ---- messages ---- */

/* Maps a result to 0 or an errno; a failure ends the connection. */
static int settle(int rc)
{
    if (rc) {
        channel.lost = pvma_fore_is_virtual();
        forget();
    }
    return errno_of(rc);
}

static bool begins_wait(const struct pvma_fore_message *m)
{
    return m->type == PVMA_FORE_WAIT || m->type == PVMA_FORE_SLEEP;
}

/* Messages without a cost, which the network takes in at once. */
static bool is_aside(enum pvma_fore_message_type type)
{
    return type == PVMA_FORE_RESUME || type == PVMA_FORE_LOCAL || type == PVMA_FORE_EXPECT || type == PVMA_FORE_TASK;
}

int pvma_fore_tell(struct pvma_fore_message *m)
{
    bool aside = is_aside(m->type);
    if (!aside && !begins_wait(m))
        pvma_fore_wait_end(); /* one that the program has jumped out of */
    if (!aside) {
        m->cost_ns = channel.cost_ns;
        channel.cost_ns = 0;
    }
    channel.stale = channel.stale || !aside || m->type == PVMA_FORE_RESUME;
    return settle(pvma_fore_message_send(channel.fd, m, -1, true));
}

/* Takes a WAKE, unless it belongs to an earlier wait, which ended while the WAKE was in flight. */
static void take_wake(const struct pvma_fore_message *m)
{
    if (!channel.waiting || m->number != channel.wait_number)
        return;
    channel.woken = true;
    channel.owed = m->given;
    learn(m->time_ns);
}

/* Receives the next message. Returns 0 or an errno; EAGAIN: there is none. */
static int hear(struct pvma_fore_message *m, int *fd, bool wait)
{
    int rc = pvma_fore_message_receive(channel.fd, channel.bytes, sizeof channel.bytes, m, fd, wait);
    return rc == PVMC_EAGAIN ? EAGAIN : settle(rc);
}

int pvma_fore_ask(struct pvma_fore_message *m, struct pvma_fore_message *reply, int *fd)
{
    int error = pvma_fore_tell(m);
    reply->type = PVMA_FORE_NONE;
    while (!error && reply->type != PVMA_FORE_REPLY) {
        error = hear(reply, fd, true);
        if (!error && reply->type == PVMA_FORE_WAKE)
            take_wake(reply);
    }
    if (error)
        return error;
    learn(reply->time_ns);
    return reply->error;
}

/* ---- time ---- */

int pvma_fore_now(int64_t *now_ns)
{
    struct pvma_fore_message ask = {.type = PVMA_FORE_TIME}, reply;
    int error = pvma_fore_is_virtual() && channel.stale ? pvma_fore_ask(&ask, &reply, NULL) : 0;
    int64_t computed_ns = channel.cost_ns + (channel.is_above ? 0 : channel.debt_ns);
    int64_t since_ns = pvma_fore_is_virtual() ? computed_ns : pvmc_clock_real_ns() - channel.known_at_ns;
    *now_ns = channel.known_ns + since_ns;
    return error;
}

int pvma_fore_catch_up(void)
{
    struct pvma_fore_message ask = {.type = PVMA_FORE_TIME}, reply;
    bool ahead = pvma_fore_is_virtual() && (channel.stale || channel.cost_ns > 0);
    return ahead ? pvma_fore_ask(&ask, &reply, NULL) : 0;
}

/* ---- waiting ---- */

/* Takes WAKEs that have arrived. */
static int hear_wakes(void)
{
    struct pvma_fore_message m;
    int error;
    while (!(error = hear(&m, NULL, false)))
        if (m.type == PVMA_FORE_WAKE)
            take_wake(&m);
    return error == EAGAIN ? 0 : error;
}

int pvma_fore_wait_begin(int64_t until_ns)
{
    if (!pvma_fore_is_virtual())
        return 0;
    pvma_fore_wait_end(); /* as in pvma_fore_tell() */
    int error = hear_wakes();
    if (error)
        return error;
    struct pvma_fore_message m = {
        .type = PVMA_FORE_WAIT, .number = ++channel.wait_number, .time_ns = until_ns < 0 ? PVMA_FORE_NEVER : until_ns};
    channel.waiting = true;
    channel.woken = false;
    return pvma_fore_tell(&m);
}

int pvma_fore_wait_end(void)
{
    if (!channel.waiting)
        return 0;
    int error = channel.woken ? 0 : hear_wakes();
    bool woken = channel.woken;
    channel.waiting = false;
    if (!error && !woken) {
        struct pvma_fore_message m = {.type = PVMA_FORE_RESUME, .number = channel.wait_number};
        error = pvma_fore_tell(&m);
    }
    return error ? 0 : woken;
}

/* Waits for the WAKE without the lock. */
static int wait_for_wake(int error)
{
    while (!error && channel.waiting && !channel.woken) {
        struct pollfd fd = {.fd = channel.fd, .events = POLLIN};
        pthread_mutex_unlock(&channel.lock);
        inside = false; /* a signal handler may jump out of here, and look at the clock */
        poll(&fd, 1, -1);
        inside = true;
        pthread_mutex_lock(&channel.lock);
        error = hear_wakes();
    }
    channel.waiting = false;
    return error;
}

int pvma_fore_wait(int64_t until_ns)
{
    return wait_for_wake(pvma_fore_wait_begin(until_ns));
}

/* While there is debt, a sleep ends at the latest when the debt has passed. */
static int limit_by_debt(int64_t *until_ns, int64_t *begin_ns)
{
    if (!channel.debt_ns)
        return 0;
    int error = pvma_fore_now(begin_ns);
    if (*until_ns < 0 || *until_ns > *begin_ns + channel.debt_ns)
        *until_ns = *begin_ns + channel.debt_ns;
    return error;
}

static void pay_debt(int64_t passed_ns)
{
    channel.debt_ns = passed_ns < channel.debt_ns ? channel.debt_ns - passed_ns : 0;
}

int pvma_fore_sleep(int64_t until_ns, pid_t aside, uint64_t given, uint64_t taken, uint64_t *owed)
{
    int64_t begin_ns = 0;
    int error = limit_by_debt(&until_ns, &begin_ns);
    if (error)
        return error;
    struct pvma_fore_message m = {.type = PVMA_FORE_SLEEP,
                                  .time_ns = until_ns < 0 ? PVMA_FORE_NEVER : until_ns,
                                  .process = (uint32_t)aside,
                                  .given = given,
                                  .taken = taken};
    pvma_fore_wait_end(); /* as in pvma_fore_tell() */
    m.number = ++channel.wait_number;
    channel.waiting = true;
    channel.woken = false;
    error = wait_for_wake(pvma_fore_tell(&m));
    if (channel.debt_ns)
        pay_debt(channel.known_ns - begin_ns);
    *owed = channel.owed;
    return error;
}

bool pvma_fore_is_outside(void)
{
    return !inside && !channel.name && channel.fd >= 0 && channel.pid == getpid() && pvma_fore_is_virtual();
}

int pvma_fore_look(void)
{
    inside = true;
    pthread_mutex_lock(&channel.lock);
    bool here = channel.fd >= 0 && channel.pid == getpid();
    int error = 0, kind = (int)channel.welcome.clock;
    if (!here) {
        if (channel.fd >= 0)
            forget();
        error = reach("?");
        kind = (int)channel.welcome.clock;
        forget();
    }
    pthread_mutex_unlock(&channel.lock);
    inside = false;
    return error ? pvma_fore_fail(error) : kind;
}

int pvma_fore_descriptor(void)
{
    return channel.fd;
}

int pvma_fore_part(void)
{
    if (channel.fd >= 0 && channel.pid == getpid() && pvma_fore_endpoint_any())
        return EBUSY;
    forget();
    channel.lost = channel.has_above = channel.is_above = false;
    return 0;
}

void pvma_fore_call_itself(const char *name)
{
    channel.name = name;
}
