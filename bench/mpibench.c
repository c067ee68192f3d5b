/*
 * mpibench - the measurements of pvmbench with MPI: prints "name value unit" lines. The same source is built with Open
 * MPI and with MPICH.
 *
 *   mpirun -n N mpibench COMMAND [ARGUMENT]... [+ COMMAND [ARGUMENT]...]...
 *
 *   pingpong BYTES...     half the round-trip time between ranks 0 and 1, in us
 *   early BYTES           the same of exchanges 501 to 1000 of a new pair: give it first
 *   rate BYTES            a stream from rank 0 to rank 1, in messages per second
 *   mcast BYTES           MPI_Bcast from rank 0 until all ranks have answered, in us
 *   barrier               MPI_Barrier of all ranks, in us
 *   ring BYTES            a message once through all ranks, in us
 *   match WAITING         one receive while WAITING other messages wait, in us
 *   start START           from START, in ns of CLOCK_REALTIME, until rank 0 knows that all ranks are up, in ms
 */
#include <mpi.h>
#include <string.h>
#include "measure.h"

enum { TAG_DATA = 1, TAG_ACK, TAG_WAITING = 1000, TAGS = 100 };

static int rank, ranks;
static char *data;

static void send_to(int to, int bytes, int tag)
{
    MPI_Send(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive_from(int from, int bytes, int tag)
{
    MPI_Recv(data, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Broadcasts a value of rank 0. */
static int agreed(int value)
{
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value;
}

static void report(const char *format, int number, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, format, number);
    if (rank == 0)
        print(name, value, unit);
}

/* ---- operations repeated `count` times; each returns the us of one, on rank 0 ---- */

static double round_trips(int bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            send_to(1, bytes, TAG_DATA);
        if (rank < 2)
            receive_from(!rank, bytes, TAG_DATA);
        if (rank == 1)
            send_to(0, bytes, TAG_DATA);
    }
    return (now_us() - start) / count / 2;
}

static double stream(int bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++)
        if (rank == 0)
            send_to(1, bytes, TAG_DATA);
        else if (rank == 1)
            receive_from(0, bytes, TAG_DATA);
    if (rank == 1)
        send_to(0, 0, TAG_ACK);
    if (rank == 0)
        receive_from(1, 0, TAG_ACK);
    return (now_us() - start) / count;
}

static double broadcasts(int bytes, int count)
{
    double start = now_us();
    for (int i = 0; i < count; i++) {
        MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        for (int other = 1; rank == 0 && other < ranks; other++)
            receive_from(MPI_ANY_SOURCE, 0, TAG_ACK);
        if (rank > 0)
            send_to(0, 0, TAG_ACK);
    }
    return (now_us() - start) / count;
}

static double barriers(int unused, int count)
{
    (void)unused;
    double start = now_us();
    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (now_us() - start) / count;
}

static double rings(int bytes, int count)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    double start = now_us();
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            send_to(next, bytes, TAG_DATA);
        receive_from(before, bytes, TAG_DATA);
        if (rank > 0)
            send_to(next, bytes, TAG_DATA);
    }
    return (now_us() - start) / count;
}

/* The median of blocks; fewer blocks if one takes long, as with more ranks than processors. */
static double timed(double (*work)(int bytes, int count), int bytes)
{
    double blocks[BLOCKS];
    int slow = agreed(work(bytes, 1) > SLOW_US), n = slow ? BLOCKS_SLOW : BLOCKS;
    int count = 1;
    if (!slow)
        for (int next = 5; next > 2 * count;)
            next = agreed(next_count(count = next, work(bytes, next)));
    for (int i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        blocks[i] = work(bytes, count);
    }
    return median(blocks, n);
}

/* ---- commands ---- */

static void run_pingpong(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        int bytes = number_of(argv[i], BYTES_MAX);
        report("pingpong.%d", bytes, timed(round_trips, bytes), "us");
    }
}

static void run_early(int argc, char **argv)
{
    int bytes = argc > 0 ? number_of(argv[0], BYTES_MAX) : 1;
    round_trips(bytes, EARLY);
    report("early.%d", bytes, round_trips(bytes, EARLY), "us");
}

static void run_rate(int argc, char **argv)
{
    int bytes = argc > 0 ? number_of(argv[0], BYTES_MAX) : 8;
    report("rate.%d", bytes, 1e6 / timed(stream, bytes), "messages/s");
}

static void run_mcast(int argc, char **argv)
{
    int bytes = argc > 0 ? number_of(argv[0], BYTES_MAX) : 8;
    char format[64];
    snprintf(format, sizeof format, "mcast.%d.%%d", ranks - 1);
    report(format, bytes, timed(broadcasts, bytes), "us");
}

static void run_barrier(int argc, char **argv)
{
    (void)argc, (void)argv;
    report("barrier.%d", ranks, timed(barriers, 0), "us");
}

static void run_ring(int argc, char **argv)
{
    int bytes = argc > 0 ? number_of(argv[0], BYTES_MAX) : 8;
    char format[64];
    snprintf(format, sizeof format, "ring.%d.%%d", ranks);
    report(format, bytes, timed(rings, bytes), "us");
}

/* us for one receive on rank 0 of a message that has already arrived. */
static double match_us(int count)
{
    double blocks[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 1 && i < count; i++)
            send_to(0, 8, TAG_DATA);
        if (rank == 1)
            send_to(0, 0, TAG_ACK);
        if (rank != 0)
            continue;
        receive_from(1, 0, TAG_ACK);
        double start = now_us();
        for (int i = 0; i < count; i++)
            receive_from(1, 8, TAG_DATA);
        blocks[block] = (now_us() - start) / count;
    }
    return rank == 0 ? median(blocks, BLOCKS) : 0;
}

static void run_match(int argc, char **argv)
{
    enum { COUNT = 100 };
    int waiting = argc > 0 ? number_of(argv[0], 10000000) : 0;
    for (int i = 0; rank == 1 && i < waiting; i++)
        send_to(0, 8, TAG_WAITING + i % TAGS);
    report("match.%d", waiting, match_us(COUNT), "us");
    for (int i = 0; rank == 0 && i < waiting; i++)
        receive_from(1, 8, TAG_WAITING + i % TAGS);
}

static void run_start(int argc, char **argv)
{
    long start = argc > 0 ? atol(argv[0]) : 0;
    struct timespec now;
    MPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_REALTIME, &now);
    report("spawn.%d", ranks, (double)(now.tv_sec * 1000000000 + now.tv_nsec - start) / 1e6, "ms");
}

static const struct {
    const char *name;
    int ranks; /* least number of ranks */
    void (*run)(int argc, char **argv);
} commands[] = {
    {"pingpong", 2, run_pingpong}, {"early", 2, run_early}, {"rate", 2, run_rate},   {"mcast", 2, run_mcast},
    {"barrier", 1, run_barrier},   {"ring", 2, run_ring},   {"match", 2, run_match}, {"start", 1, run_start},
};

static void run(int argc, char **argv)
{
    for (size_t i = 0; argc > 0 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, argv[0]) == 0 && ranks >= commands[i].ranks) {
            commands[i].run(argc - 1, argv + 1);
            return;
        }
    errx(2, "usage: mpibench pingpong|early|rate|mcast|barrier|ring|match|start [ARGUMENT]... [+ ...], of 2 ranks and "
            "more");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = calloc(1, BYTES_MAX);
    if (!data)
        err(1, "memory");
    for (int begin = 1, end; begin < argc; begin = end + 1) {
        for (end = begin; end < argc && strcmp(argv[end], "+") != 0; end++)
            ;
        run(end - begin, argv + begin);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
