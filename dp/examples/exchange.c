/*
 * exchange - complete exchange over Directed Point: each process sends a block to each other process.
 *
 * A directed point graph, not this program, defines the processes and the channels between them. Any graph works: each
 * process sends a block over each of its channels.
 *
 * Shows   dp_graph_read(), dp_process_open(), channels by name, dp_process_write(), dp_read_from().
 * Build   cc -O2 -o exchange exchange.c -ldp
 * Run     ./pattern exchange 3 >exchange.dpg
 *         DP_NID=1 ./exchange exchange.dpg p0     on the first node, p1 on the second, p2 on the third
 * Prints  the number of blocks received. Exit code 1 if one was wrong or missing.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dp.h>
#include <dp_graph.h>

enum { ROUNDS = 20, BLOCK_BYTES = 1024 };

/* The block from one endpoint to another in a round. */
static void fill(unsigned char *block, int from, int to, int round)
{
    for (int i = 0; i < BLOCK_BYTES; i++)
        block[i] = (unsigned char)(from * 31 + to * 17 + round * 7 + i);
}

/* Blocks of later rounds may arrive before the last one of this round; each sender's blocks are in order. */
static void receive(const struct dp_channel *any, int *rounds_of)
{
    unsigned char expected[BLOCK_BYTES];
    char *block;
    int nid, dpid, bytes = dp_read_from(any->fd, &block, &nid, &dpid);
    if (bytes < 0)
        err(EXIT_FAILURE, "no block has arrived");
    fill(expected, dpid, any->dpid, rounds_of[dpid]++);
    if (bytes != BLOCK_BYTES || memcmp(block, expected, BLOCK_BYTES) != 0)
        errx(EXIT_FAILURE, "the block of endpoint %d of node %d is wrong", dpid, nid);
    if (dp_fsync(any->fd, 1) < 0)
        err(EXIT_FAILURE, "dp_fsync");
}

static int exchange(struct dp_process *process)
{
    static int rounds_of[DP_DPID_MAX + 1];
    unsigned char block[BLOCK_BYTES];
    size_t count;
    int received = 0;
    const struct dp_channel *channels = dp_process_channels(process, &count);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            if (!channels[i].outward)
                continue;
            fill(block, channels[i].dpid, channels[i].peer_dpid, round);
            if (dp_process_write(process, &channels[i], block, BLOCK_BYTES) < 0)
                err(EXIT_FAILURE, "channel %s", channels[i].name);
        }
        for (size_t i = 0; i < count; i++)
            if (!channels[i].outward) {
                receive(&channels[i], rounds_of);
                received++;
            }
    }
    return received;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        errx(2, "usage: exchange GRAPH PROCESS");
    struct dp_graph *graph = dp_graph_read(argv[1], stderr);
    if (!graph)
        return EXIT_FAILURE;
    struct dp_process *process = dp_process_open(graph, argv[2]);
    if (!process)
        err(EXIT_FAILURE, "process %s", argv[2]);
    dp_graph_free(graph);
    int received = exchange(process);
    dp_process_close(process); /* waits until the others have received everything */
    printf("%s: %d blocks\n", argv[2], received);
    return EXIT_SUCCESS;
}
