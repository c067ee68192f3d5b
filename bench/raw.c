/*
 * raw - what the machine itself can do, to compare with: prints "name value unit" lines.
 *
 *   raw unix BYTES [HOPS]   half a round trip over a unix socket, in us; with 2 hops through a process between
 *   raw memcpy BYTES        one copy, in us
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 15, BLOCK_US = 10000, BYTES_MAX = 64 << 20 };

static char *data;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moves all bytes of one message; 0 at the end of the stream. */
static int move_all(ssize_t (*move)(int, void *, size_t), int fd, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = move(fd, data + done, bytes - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static ssize_t write_some(int fd, void *from, size_t bytes)
{
    return write(fd, from, bytes);
}

/* Passes whole messages from a to b and back until the stream ends. */
static void pass(int a, int b, size_t bytes)
{
    while (move_all(read, a, bytes) && move_all(write_some, b, bytes))
        if (a != b && !(move_all(read, b, bytes) && move_all(write_some, a, bytes)))
            break;
    _exit(0);
}

static double round_trips(int fd, size_t bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++)
        if (!move_all(write_some, fd, bytes) || !move_all(read, fd, bytes))
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

static void measure(const char *name, int fd, size_t bytes)
{
    double blocks[BLOCKS];
    double first = fd < 0 ? copies(bytes, 10) : (round_trips(fd, bytes, 3), round_trips(fd, bytes, 10));
    int count = 1 + (int)(BLOCK_US / (first * 2 + 0.001));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = fd < 0 ? copies(bytes, count) : round_trips(fd, bytes, count);
    qsort(blocks, BLOCKS, sizeof *blocks, compare_doubles);
    printf("%s.%zu %.3f us\n", name, bytes, blocks[BLOCKS / 2]);
}

static void measure_unix(size_t bytes, int hops)
{
    int first[2], second[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, second) < 0)
        err(1, "socketpair");
    if (fork() == 0) {
        close(first[0]);
        close(second[1]);
        pass(first[1], hops > 1 ? second[0] : first[1], bytes);
    }
    if (hops > 1 && fork() == 0) {
        close(first[0]);
        close(first[1]);
        close(second[0]);
        pass(second[1], second[1], bytes);
    }
    close(first[1]);
    close(second[0]);
    close(second[1]);
    measure(hops > 1 ? "unix2" : "unix", first[0], bytes);
    close(first[0]);
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 2 ? (size_t)atol(argv[2]) : 0;
    data = bytes > 0 && bytes <= BYTES_MAX ? calloc(2, bytes) : NULL;
    if (argc > 2 && data && strcmp(argv[1], "unix") == 0)
        measure_unix(bytes, argc > 3 ? atoi(argv[3]) : 1);
    else if (argc > 2 && data && strcmp(argv[1], "memcpy") == 0)
        measure("memcpy", -1, bytes);
    else
        errx(2, "usage: raw unix BYTES [HOPS] | raw memcpy BYTES");
    free(data);
    return 0;
}
