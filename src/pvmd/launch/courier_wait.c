/* courier_wait.c - the courier's slave end. Anybody can call its port; the caller with the key is the master. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/message/dsig.h"
#include "channel.h"
#include "pvmd/door/confine.h"
#include "courier.h"
#include "startup.h"

#define STRANGERS_MAX 32
#define STRANGER_US   5000000 /* for a caller to prove that it has the key */
#define LOOK_MS       100     /* interval of checks of strangers' time limits */

/* A caller that has not yet proven anything. */
struct stranger {
    struct pvmd_channel channel; /* fd -1: a free place */
    int64_t deadline_us;
};

static struct stranger strangers[STRANGERS_MAX];

/* Listens on any port of all addresses. */
static int listen_anywhere(uint16_t *port)
{
    static const int off = 0;
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) || bind(fd, (struct sockaddr *)&v6, sizeof v6))) {
        close(fd);
        fd = -1;
    }
    if (fd < 0 &&
        ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0 || bind(fd, (struct sockaddr *)&v4, sizeof v4)))
        return -1;
    union pvmw_address a;
    if (listen(fd, 8) || getsockname(fd, (struct sockaddr *)&bound, &length) ||
        pvmw_address_from((struct sockaddr *)&bound, &a))
        return -1;
    *port = pvmw_address_port(&a);
    return fd;
}

static void print_line(const struct pvmd_courier_key *own, uint16_t port)
{
    char text[PVMD_START_LINE_MAX];
    struct pvmd_start_line line;
    pvmd_start_line_begin(&line, port);
    pvmd_courier_key_text(own, line.key);
    pvmd_start_line_add_ssh(&line);
    pvmw_addresses_add_own(&line.addresses, port);
    pvmd_start_line_format(&line, text, sizeof text);
    printf("%s\n", text);
    fflush(stdout);
}

static void let_go_of_terminal(int in, int out)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* ---- strangers ---- */

static void send_away(struct stranger *s)
{
    pvmd_channel_close(&s->channel);
    s->channel.fd = -1;
}

/* A free place. If there is none, a random stranger is closed, so that a flood cannot single out the master. */
static struct stranger *place(void)
{
    uint8_t chance = 0;
    for (unsigned i = 0; i < STRANGERS_MAX; i++)
        if (strangers[i].channel.fd < 0)
            return &strangers[i];
    RAND_bytes(&chance, sizeof chance);
    struct stranger *s = &strangers[chance % STRANGERS_MAX];
    send_away(s);
    return s;
}

static void take_in(int listener, const struct pvmw_tls_key *key)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct pvmw_tls *tls = fd < 0 ? NULL : pvmw_tls_new(fd, PVMW_TLS_CALLED, key);
    if (tls)
        *place() = (struct stranger){.channel = {fd, tls}, .deadline_us = pvmc_clock_us() + STRANGER_US};
    else if (fd >= 0)
        close(fd);
}

/* Checks a stranger. True: it has proven to be the master. */
static bool hear(struct stranger *s, bool readable)
{
    int rc = readable ? pvmw_tls_handshake(s->channel.tls) : 0;
    if (rc < 0 || (!rc && pvmc_clock_us() >= s->deadline_us))
        send_away(s);
    return rc > 0;
}

/* Waits for events of the listener (place 0) and the strangers, or for the next check of their time limits. */
static void wait_for_events(int listener, struct pollfd p[1 + STRANGERS_MAX])
{
    p[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (unsigned i = 0; i < STRANGERS_MAX; i++)
        p[1 + i] = (struct pollfd){.fd = strangers[i].channel.fd, .events = POLLIN};
    if (poll(p, 1 + STRANGERS_MAX, LOOK_MS) < 0)
        for (unsigned i = 0; i <= STRANGERS_MAX; i++)
            p[i].revents = 0;
}

/* Waits for the master. False: the time limit has passed. */
static bool meet_master(int listener, const struct pvmw_tls_key *key, struct pvmd_channel *master)
{
    struct pollfd p[1 + STRANGERS_MAX];
    int64_t deadline_us = pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_START_TIMEOUT);
    while (pvmc_clock_us() < deadline_us) {
        wait_for_events(listener, p);
        for (unsigned i = 0; i < STRANGERS_MAX; i++)
            if (strangers[i].channel.fd >= 0 && hear(&strangers[i], p[1 + i].revents)) {
                *master = strangers[i].channel;
                strangers[i].channel.fd = -1;
                return true;
            }
        if (p[0].revents)
            take_in(listener, key);
    }
    return false;
}

/* Its listening socket is descriptor 0, the slave's end of the channel 1. */
static void serve(const struct pvmw_tls_key *key)
{
    const int listener = STDIN_FILENO, local = STDOUT_FILENO;
    struct pvmd_channel master;
    pvmd_confine_start("pvmd3-courier");
    for (unsigned i = 0; i < STRANGERS_MAX; i++)
        strangers[i].channel.fd = -1;
    bool ready = !pvmw_tls_start();
    pvmd_confine_calls(PVMD_CONFINE_CALLED); /* it serves without a filter if the system has none */
    bool met = ready && meet_master(listener, key, &master);
    close(listener);
    for (unsigned i = 0; i < STRANGERS_MAX; i++)
        if (strangers[i].channel.fd >= 0)
            send_away(&strangers[i]);
    if (met)
        pvmd_channel_carry(&master, local, local);
    pvmw_tls_stop();
}

/* ---- three processes ---- */

/* The first process ends, and with it the hoster's command; the second serves; the third becomes the daemon. */
static const char *split(int listener, const struct pvmw_tls_key *key)
{
    int pair[2];
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child < 0 || setsid() < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return strerror(errno);
    child = fork();
    if (child < 0)
        return strerror(errno);
    if (child > 0) {
        close(pair[1]);
        let_go_of_terminal(listener, pair[0]);
        serve(key);
        _exit(0);
    }
    close(pair[0]);
    close(listener);
    let_go_of_terminal(pair[1], pair[1]);
    close(pair[1]);
    return NULL;
}

const char *pvmd_courier_wait(const char *master_key)
{
    struct pvmd_courier_key own;
    struct pvmw_tls_key key;
    uint8_t master[PVMD_COURIER_KEY_BYTES];
    uint16_t port;
    if (!pvmd_courier_key_read(master_key, master))
        return "-k takes the key that the master has put into the command";
    if (pvmd_courier_key_new(&own) || !pvmd_courier_agree(&own, master, false, &key))
        return "cannot make a key";
    int listener = listen_anywhere(&port);
    if (listener < 0)
        return strerror(errno);
    print_line(&own, port);
    OPENSSL_cleanse(&own, sizeof own);
    const char *why = split(listener, &key);
    OPENSSL_cleanse(&key, sizeof key);
    return why;
}
