/*
 * raw - measures what the machine itself can do, for comparison: prints "name value unit" lines.
 *
 *   raw unix BYTES...                half the round-trip time over a unix socket, in us
 *   raw hops BYTES...                the same through a process in between, as on the daemon route
 *   raw tcp spin|sleep BYTES...      over TCP on the loopback, waiting by polling or in the kernel
 *   raw uring spin|sleep BYTES...    the same by io_uring
 *   raw zerocopy spin|sleep BYTES... the same, sent with MSG_ZEROCOPY
 *   raw sealed spin|sleep BYTES...   the same, encrypted as raw_way.h says
 *   raw serve spin|sleep             the other end of `meet`, for one connection; prints its port
 *   raw meet spin|sleep HOST PORT BYTES...   over TCP to `serve`, which may be on another host
 *   raw sink                         the other end of `pairs`; prints its port, and serves until it is killed
 *   raw pairs N HOST PORT BYTES...   N processes send to N of `sink`: the us in which each sends one message
 *   raw shm BYTES...                 through rings in shared memory, polling
 *   raw memcpy BYTES...              one copy, in us
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "measure.h"
#include "raw_way.h"

enum { SLOTS = 8, SLOT_BYTES = 32768, PAIRS_BYTES = 64 << 20, CONNECT_US = 50000, PROCESSES_MAX = 1024 };

/* One direction of shared memory: a ring of slots. */
struct ring {
    struct {
        _Alignas(64) _Atomic uint32_t full;
        char data[SLOT_BYTES];
    } slots[SLOTS];
    _Alignas(64) unsigned next; /* the writer's */
    _Alignas(64) unsigned due;  /* the reader's */
};

/* One end of a connection. */
struct channel {
    int fd;
    bool spin;
    struct ring *out, *in;     /* without fd */
    const struct raw_way *way; /* NULL: send() and recv() */
    void *state;               /* of the way */
};

static char *data;

/* ---- moving one message; false at the end of the stream ---- */

static bool ring_send(struct ring *ring, size_t bytes)
{
    for (size_t done = 0, some; done < bytes; done += some, ring->next++) {
        some = bytes - done < SLOT_BYTES ? bytes - done : SLOT_BYTES;
        while (atomic_load_explicit(&ring->slots[ring->next % SLOTS].full, memory_order_acquire))
            ;
        memcpy(ring->slots[ring->next % SLOTS].data, data + done, some);
        atomic_store_explicit(&ring->slots[ring->next % SLOTS].full, 1, memory_order_release);
    }
    return true;
}

static bool ring_receive(struct ring *ring, size_t bytes)
{
    for (size_t done = 0, some; done < bytes; done += some, ring->due++) {
        some = bytes - done < SLOT_BYTES ? bytes - done : SLOT_BYTES;
        while (!atomic_load_explicit(&ring->slots[ring->due % SLOTS].full, memory_order_acquire))
            ;
        memcpy(data + done, ring->slots[ring->due % SLOTS].data, some);
        atomic_store_explicit(&ring->slots[ring->due % SLOTS].full, 0, memory_order_release);
    }
    return true;
}

static bool send_all(struct channel *c, size_t bytes)
{
    if (c->out)
        return ring_send(c->out, bytes);
    if (c->way)
        return c->way->send(c->state, data, bytes);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = send(c->fd, data + done, bytes - done, MSG_NOSIGNAL | (c->spin ? MSG_DONTWAIT : 0));
        if (n < 0 && errno != EAGAIN)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool receive_all(struct channel *c, size_t bytes)
{
    if (c->in)
        return ring_receive(c->in, bytes);
    if (c->way && c->way->receive)
        return c->way->receive(c->state, data, bytes);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = recv(c->fd, data + done, bytes - done, c->spin ? MSG_DONTWAIT : 0);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Two polling processes must not share a processor: each would wait for the end of the other's time slice. */
static void use_processor(int which)
{
    static cpu_set_t may; /* at program start */
    cpu_set_t one;
    CPU_ZERO(&one);
    if (CPU_COUNT(&may) == 0)
        sched_getaffinity(0, sizeof may, &may);
    if (CPU_COUNT(&may) < 2)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && which-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* ---- measuring ---- */

static double round_trips(struct channel *c, size_t bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++)
        if (!send_all(c, bytes) || !receive_all(c, bytes))
            errx(1, "the other process has gone");
    return (now_us() - start) / count / 2;
}

static double copies(size_t bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++) {
        memcpy(data + bytes, data, bytes);
        __asm__ volatile("" ::: "memory");
    }
    return (now_us() - start) / count;
}

/* With c NULL, measures copies in this process. */
static void measure(const char *name, struct channel *c, size_t bytes)
{
    double blocks[BLOCKS];
    int count = 1;
    for (int next = 5; next > 2 * count;) {
        count = next;
        next = next_count(count, c ? 2 * round_trips(c, bytes, count) : copies(bytes, count));
    }
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = c ? round_trips(c, bytes, count) : copies(bytes, count);
    char text[64];
    snprintf(text, sizeof text, "%s.%zu", name, bytes);
    print(text, median(blocks, BLOCKS), "us");
}

/* Forwards messages from a to b, and back if they differ, until the stream ends. Does not return. */
static void pass(struct channel *a, struct channel *b, size_t bytes)
{
    while (receive_all(a, bytes) && send_all(b, bytes))
        if (a != b && !(receive_all(b, bytes) && send_all(a, bytes)))
            break;
    _exit(0);
}

/* ---- unix sockets ---- */

static void measure_unix(size_t bytes, int hops)
{
    int first[2], second[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, second) < 0)
        err(1, "socketpair");
    struct channel near = {.fd = first[0]}, middle = {.fd = first[1]}, on = {.fd = second[0]}, far = {.fd = second[1]};
    if (fork() == 0) {
        close(first[0]);
        close(second[1]);
        pass(&middle, hops > 1 ? &on : &middle, bytes);
    }
    if (hops > 1 && fork() == 0) {
        close(first[0]);
        close(first[1]);
        close(second[0]);
        pass(&far, &far, bytes);
    }
    close(first[1]);
    close(second[0]);
    close(second[1]);
    measure(hops > 1 ? "unix2" : "unix", &near, bytes);
    close(first[0]);
    while (wait(NULL) > 0)
        ;
}

/* ---- TCP ---- */

static int listen_anywhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        err(1, "cannot listen on TCP");
    *port = ntohs(address.sin_port);
    return fd;
}

static void no_delay(int fd)
{
    int on = 1;
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        err(1, "TCP");
}

/* Of that name; NULL for tcp, or if there is none. */
static const struct raw_way *way_named(const char *name)
{
    static const struct raw_way *const ways[] = {
        &raw_sealed,
        &raw_zerocopy,
#ifdef HAVE_LIBURING
        &raw_uring,
#endif
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i]->name, name) == 0)
            return ways[i];
    return NULL;
}

static void open_way(struct channel *c, const char *name, bool spin)
{
    no_delay(c->fd);
    c->way = way_named(name);
    c->state = c->way ? c->way->open(c->fd, spin) : NULL;
}

static void close_way(struct channel *c)
{
    close(c->fd);
    if (c->way)
        c->way->close(c->state);
}

/* Accepts one connection; each block is preceded by the size and the number of its messages, both in the clear. */
static void serve(int listener, bool spin, const char *way)
{
    struct channel c = {.fd = accept(listener, NULL, NULL), .spin = false};
    open_way(&c, way, spin);
    if (spin)
        use_processor(1);
    for (;;) {
        uint64_t setup[2]; /* bytes, messages */
        c.spin = false;
        if (recv(c.fd, setup, sizeof setup, MSG_WAITALL) != sizeof setup || setup[0] > BYTES_MAX)
            return;
        c.spin = spin;
        for (uint64_t i = 0; i < setup[1]; i++)
            if (!receive_all(&c, setup[0]) || !send_all(&c, setup[0]))
                return;
    }
}

static double told_trips(struct channel *c, size_t bytes, int count)
{
    uint64_t setup[2] = {bytes, (uint64_t)count};
    if (send(c->fd, setup, sizeof setup, MSG_NOSIGNAL) != sizeof setup)
        errx(1, "the other process has gone");
    return round_trips(c, bytes, count);
}

static void meet(const char *way, const char *host, int port, bool spin, int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct channel c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .spin = spin};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        errx(2, "an IPv4 address is wanted, not \"%s\"", host);
    if (c.fd < 0 || connect(c.fd, (struct sockaddr *)&address, sizeof address) < 0)
        err(1, "cannot connect to %s port %d", host, port);
    open_way(&c, way, spin);
    if (spin)
        use_processor(0);
    for (int i = 0; i < argc; i++) {
        size_t bytes = (size_t)number_of(argv[i], BYTES_MAX);
        double blocks[BLOCKS];
        char text[64];
        int count = 1;
        for (int next = 5; next > 2 * count;)
            next = next_count(count = next, 2 * told_trips(&c, bytes, next));
        for (int block = 0; block < BLOCKS; block++)
            blocks[block] = told_trips(&c, bytes, count);
        snprintf(text, sizeof text, "%s.%s.%zu", way, spin ? "spin" : "sleep", bytes);
        print(text, median(blocks, BLOCKS), "us");
    }
    close_way(&c);
}

/* ---- many pairs ---- */

/* Each connection is preceded by the size and the number of its messages, and is answered by a byte. */
static void drain(int fd)
{
    struct channel c = {.fd = fd};
    uint64_t setup[2];
    if (recv(fd, setup, sizeof setup, MSG_WAITALL) != sizeof setup || setup[0] > BYTES_MAX)
        return;
    for (uint64_t i = 0; i < setup[1]; i++)
        if (!receive_all(&c, setup[0]))
            return;
    send_all(&c, 1);
}

static void run_sink(void)
{
    int port, fd, listener = listen_anywhere(&port);
    printf("%d\n", port);
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN);
    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        if (fork() == 0) {
            drain(fd);
            _exit(0);
        }
        close(fd);
    }
    err(1, "accept");
}

/* In a process of its own: connects, waits for the end of `go`, and sends. Does not return. */
static void pour(const struct sockaddr_in *address, int go, size_t bytes, int count)
{
    uint64_t setup[2] = {bytes, (uint64_t)count};
    struct channel c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    char unused;
    if (c.fd < 0 || connect(c.fd, (const struct sockaddr *)address, sizeof *address) < 0)
        err(1, "cannot connect");
    no_delay(c.fd);
    if (send(c.fd, setup, sizeof setup, MSG_NOSIGNAL) != sizeof setup || read(go, &unused, 1) != 0)
        err(1, "pairs");
    for (int i = 0; i < count; i++)
        if (!send_all(&c, bytes))
            err(1, "the other process has gone");
    _exit(receive_all(&c, 1) ? 0 : 1);
}

/* The us in which each of n processes sends a message, over `count` of them. */
static double pour_all(int n, const struct sockaddr_in *address, size_t bytes, int count)
{
    int go[2], status;
    if (pipe(go) < 0)
        err(1, "pipe");
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            close(go[1]);
            pour(address, go[0], bytes, count);
        }
    close(go[0]);
    usleep(CONNECT_US);
    double start = now_us();
    close(go[1]);
    while (wait(&status) > 0)
        if (status != 0)
            errx(1, "a pair has failed");
    return (now_us() - start) / count;
}

static void measure_pairs(int n, const char *host, int port, int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        errx(2, "an IPv4 address is wanted, not \"%s\"", host);
    for (int i = 0; i < argc; i++) {
        size_t bytes = (size_t)number_of(argv[i], BYTES_MAX);
        double blocks[BLOCKS_SLOW];
        char text[64];
        for (int block = 0; block < BLOCKS_SLOW; block++)
            blocks[block] = pour_all(n, &address, bytes, 1 + (int)(PAIRS_BYTES / (bytes * (size_t)n + 1)));
        snprintf(text, sizeof text, "pairs.%d.%zu", 2 * n, bytes);
        print(text, median(blocks, BLOCKS_SLOW), "us");
    }
}

static void measure_tcp(const char *way, bool spin, int argc, char **argv)
{
    int port, listener = listen_anywhere(&port);
    if (fork() == 0) {
        serve(listener, spin, way);
        _exit(0);
    }
    close(listener);
    meet(way, "127.0.0.1", port, spin, argc, argv);
    while (wait(NULL) > 0)
        ;
}

static void run_serve(bool spin)
{
    int port, listener = listen_anywhere(&port);
    printf("%d\n", port);
    fflush(stdout);
    serve(listener, spin, "tcp");
}

/* ---- shared memory ---- */

static void measure_shm(size_t bytes)
{
    struct ring *rings = mmap(NULL, 2 * sizeof *rings, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rings == MAP_FAILED)
        err(1, "mmap");
    struct channel near = {.fd = -1, .out = &rings[0], .in = &rings[1]},
                   far = {.fd = -1, .out = &rings[1], .in = &rings[0]};
    use_processor(0);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it polls forever */
        use_processor(1);
        pass(&far, &far, bytes);
    }
    measure("shm", &near, bytes);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    munmap(rings, 2 * sizeof *rings);
}

/* ---- main ---- */

static void usage(void)
{
    errx(2, "usage: raw unix|hops|shm|memcpy BYTES... | raw tcp|sealed|zerocopy|uring spin|sleep BYTES... |\n"
            "       raw serve spin|sleep | raw meet spin|sleep HOST PORT BYTES... | raw sink | raw pairs N HOST PORT "
            "BYTES...");
}

static bool is_spin(const char *text)
{
    if (strcmp(text, "spin") != 0 && strcmp(text, "sleep") != 0)
        usage();
    return strcmp(text, "spin") == 0;
}

static void run_sizes(const char *what, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        size_t bytes = (size_t)number_of(argv[i], BYTES_MAX);
        if (strcmp(what, "unix") == 0 || strcmp(what, "hops") == 0)
            measure_unix(bytes, strcmp(what, "hops") == 0 ? 2 : 1);
        else if (strcmp(what, "shm") == 0)
            measure_shm(bytes);
        else if (strcmp(what, "memcpy") == 0)
            measure("memcpy", NULL, bytes);
        else
            usage();
    }
}

int main(int argc, char **argv)
{
    if (argc < 3 && !(argc == 2 && strcmp(argv[1], "sink") == 0))
        usage();
    data = calloc(2, BYTES_MAX);
    if (!data)
        err(1, "memory");
    if (strcmp(argv[1], "tcp") == 0 || way_named(argv[1]))
        measure_tcp(argv[1], is_spin(argv[2]), argc - 3, argv + 3);
    else if (strcmp(argv[1], "serve") == 0)
        run_serve(is_spin(argv[2]));
    else if (strcmp(argv[1], "meet") == 0 && argc > 4)
        meet("tcp", argv[3], number_of(argv[4], 65535), is_spin(argv[2]), argc - 5, argv + 5);
    else if (strcmp(argv[1], "sink") == 0)
        run_sink();
    else if (strcmp(argv[1], "pairs") == 0 && argc > 4)
        measure_pairs(number_of(argv[2], PROCESSES_MAX), argv[3], number_of(argv[4], 65535), argc - 5, argv + 5);
    else
        run_sizes(argv[1], argc - 2, argv + 2);
    free(data);
    return 0;
}
