/*
 * broadcast - sends messages down a tree over Directed Point, from the root to the leaves.
 *
 * A directed point graph defines the tree. The root is the process at which no channel ends; it reads lines from
 * standard input. Every other process prints the lines that it receives and forwards them to its children.
 *
 * Shows   dp_graph_read(), dp_process_open(), a root with several channels, dp_read(), dp_process_write().
 * Build   cc -O2 -o broadcast broadcast.c -ldp
 * Run     ./pattern tree 3 >tree.dpg
 *         DP_NID=1 ./broadcast tree.dpg p0 <lines     on the first node, p1 on the second, p2 on the third
 * Prints  the lines, except at the root. Exit code 1 if a process of the tree failed.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dp.h>
#include <dp_graph.h>

enum { LINE_BYTES_MAX = 1000 };

/* The channel from the parent; NULL at the root. */
static const struct dp_channel *parent_of(const struct dp_process *process)
{
    size_t count;
    const struct dp_channel *channels = dp_process_channels(process, &count), *parent = NULL;
    for (size_t i = 0; i < count; i++) {
        if (channels[i].outward)
            continue;
        if (parent)
            errx(EXIT_FAILURE, "two channels end here: the graph is not a tree");
        parent = &channels[i];
    }
    return parent;
}

static void pass_on(struct dp_process *process, const char *line, int bytes)
{
    size_t count;
    const struct dp_channel *channels = dp_process_channels(process, &count);
    for (size_t i = 0; i < count; i++)
        if (channels[i].outward && dp_process_write(process, &channels[i], line, bytes) < 0)
            err(EXIT_FAILURE, "channel %s", channels[i].name);
}

/* An empty message ends the loop. */
static void relay(struct dp_process *process, const struct dp_channel *parent)
{
    for (;;) {
        char *line;
        int bytes = dp_read(parent->fd, &line);
        if (bytes < 0)
            err(EXIT_FAILURE, "channel %s", parent->name);
        pass_on(process, line, bytes); /* straight from the receive ring, without a copy */
        fwrite(line, 1, (size_t)bytes, stdout);
        dp_fsync(parent->fd, 1);
        if (bytes == 0)
            return;
    }
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES_MAX];
    if (argc != 3)
        errx(2, "usage: broadcast GRAPH PROCESS");
    struct dp_graph *graph = dp_graph_read(argv[1], stderr);
    if (!graph)
        return EXIT_FAILURE;
    struct dp_process *process = dp_process_open(graph, argv[2]);
    if (!process)
        err(EXIT_FAILURE, "process %s", argv[2]);
    dp_graph_free(graph);
    const struct dp_channel *parent = parent_of(process);
    if (parent)
        relay(process, parent);
    else {
        while (fgets(line, sizeof line, stdin))
            pass_on(process, line, (int)strlen(line));
        pass_on(process, "", 0);
    }
    dp_process_close(process); /* waits until the children have received everything */
    return EXIT_SUCCESS;
}
