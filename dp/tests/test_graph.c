/* test_graph.c - directed point graphs: their text, and a process of one, opened and changed over a fake libdp. */
#include <errno.h>
#include "dp_graph.h"
#include "unit.h"

#define PAPER                                                                                                          \
    "# the paper's example: five channels, two of three processes on one node\n"                                       \
    "node 1 first\n"                                                                                                   \
    "node 2\n"                                                                                                         \
    "process a 1\n"                                                                                                    \
    "process b 1\r\n"                                                                                                  \
    "process c 2\n"                                                                                                    \
    "endpoint a:1 reliable\n"                                                                                          \
    "\tendpoint b:5   reliable on=eth1   # on another interface\n"                                                     \
    "endpoint c:1 reliable\n"                                                                                          \
    "endpoint c:2\n"                                                                                                   \
    "endpoint a:2\n"                                                                                                   \
    "channel ab a:1 -> b:5\n"                                                                                          \
    "channel ac a:1 -> c:1\n"                                                                                          \
    "channel ca c:1 -> a:1\n"                                                                                          \
    "channel raw c:2 -> a:2"

static char faults[8192];

static struct dp_graph *edit(const struct dp_graph *base, const char *text)
{
    FILE *to = fmemopen(faults, sizeof faults, "w");
    ck_assert_ptr_nonnull(to);
    struct dp_graph *graph = dp_graph_edit(base, "g", text, strlen(text), to);
    int error = errno;
    fclose(to);
    errno = error;
    return graph;
}

/* ---- texts ---- */

START_TEST(a_graph_is_read)
{
    struct dp_graph *g = edit(NULL, PAPER);
    ck_assert_ptr_nonnull(g);
    ck_assert_uint_eq(g->node_count, 2);
    ck_assert_str_eq(g->nodes[0].name, "first");
    ck_assert_uint_eq(g->process_count, 3);
    ck_assert_uint_eq(g->endpoint_count, 5);
    ck_assert_uint_eq(g->channel_count, 4);
    ck_assert_uint_eq(dp_graph_find_process(g, "c")->node, 1);
    ck_assert_ptr_null(dp_graph_find_process(g, "d"));
    const struct dp_graph_channel *ab = dp_graph_find_channel(g, "ab");
    ck_assert_ptr_nonnull(ab);
    const struct dp_graph_endpoint *to = &g->endpoints[ab->to];
    ck_assert_uint_eq(to->dpid, 5);
    ck_assert_int_eq(to->mode, DP_RELIABLE);
    ck_assert_str_eq(to->interface, "eth1");
    ck_assert_uint_eq(dp_graph_nid(g, to), 1);
    ck_assert_ptr_null(dp_graph_find_channel(g, "ba"));
    dp_graph_free(g);
}
END_TEST

/* An invalid line after those of PAPER, and a part of its message. */
static const struct {
    const char *line, *told;
} wrong[] = {
    {"nodes 1", "\"nodes\" is not one of node"},
    {"node", "has the form: node NID [NAME]"},
    {"node 0", "\"0\" is not a node id, a number from 1 to 65534"},
    {"node 65535", "not a node id"},
    {"node 4294967297", "not a node id"},
    {"node 3x", "not a node id"},
    {"node 3 -x", "\"-x\" is not a name"},
    {"node 3 a b", "has the form"},
    {"node 2", "node 2 is declared twice"},
    {"process a 2", "process a is declared twice"},
    {"process d 7", "there is no node 7"},
    {"process a:b 1", "not a name"},
    {"endpoint d:1", "there is no process d"},
    {"endpoint a", "PROCESS:DPID"},
    {"endpoint a:0", "not an endpoint's number (DPID), which is from 1 to 65535"},
    {"endpoint a:65536", "not an endpoint's number"},
    {"endpoint a:1", "endpoint a:1 is declared twice"},
    {"endpoint b:1", "process a has DPID 1 of node 1 already"},
    {"endpoint b:9 quick", "not one of raw, reliable"},
    {"endpoint b:9 on=", "does not name an interface"},
    {"endpoint b:9 on=aaaaaaaaaaaaaaaa", "does not name an interface"},
    {"channel ab b:5 -> c:1", "channel ab is declared twice"},
    {"channel x a:1 -> b:5", "channel ab joins the same endpoints"},
    {"channel x a:1 -> c:9", "there is no endpoint c:9"},
    {"channel x a:1 -> d:1", "there is no endpoint d:1"},
    {"channel x b:1 -> c:1", "there is no endpoint b:1"},
    {"channel x a:1 -> a:2", "begins and ends at process a"},
    {"channel x a:1 -> c:2", "differ in their mode"},
    {"channel x a:1 <- c:1", "expected \"->\" instead of"},
    {"channel x a:1 c:1", "has the form"},
    {"remove node 1", "still has processes"},
    {"remove node 9", "there is no node 9"},
    {"remove process a", "still has endpoints"},
    {"remove process d", "there is no process d"},
    {"remove endpoint c:7", "there is no endpoint c:7"},
    {"remove channel d", "there is no channel d"},
    {"remove edge ab", "not one of node, process"},
    {"a b c d e f g h i", "more words than any statement, from \"i\""},
    {"node 3 \001", "control characters"},
};

START_TEST(wrong_lines_are_named)
{
    char text[2000];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, PAPER "\n\n%s\nnode 9", wrong[i].line);
        ck_assert_ptr_null(edit(NULL, text));
        ck_assert_int_eq(errno, EINVAL);
        ck_assert_msg(!strncmp(faults, "g:17: ", 6) && strstr(faults, wrong[i].told), "%s: %s", wrong[i].line, faults);
        ck_assert_ptr_eq(strchr(faults, '\n'), faults + strlen(faults) - 1);
    }
}
END_TEST

START_TEST(limits)
{
    char line[2000];
    memset(line, 'a', sizeof line);
    line[sizeof line - 1] = '\0';
    ck_assert_ptr_null(edit(NULL, line));
    ck_assert_ptr_nonnull(strstr(faults, "longer than 1024"));
    ck_assert_ptr_null(dp_graph_parse("g", line, DP_GRAPH_BYTES_MAX + 1, NULL));
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_ptr_null(dp_graph_parse("g", "node 1 \0", 8, NULL));
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_null(dp_graph_read("/nowhere/graph", NULL));
    ck_assert_int_eq(errno, ENOENT);
    char many[400] = "";
    for (int i = 0; i < 50; i++)
        strcat(many, "x\n");
    ck_assert_ptr_null(edit(NULL, many));
    ck_assert_ptr_nonnull(strstr(faults, "g:20: "));
    ck_assert_ptr_nonnull(strstr(faults, "only 20 are reported"));
    ck_assert_ptr_null(strstr(faults, "g:21: "));
}
END_TEST

START_TEST(a_graph_is_edited)
{
    struct dp_graph *g = edit(NULL, PAPER);
    struct dp_graph *h = edit(g, "remove endpoint a:1\nremove channel raw\nremove endpoint a:2\nremove process a\n"
                                 "node 7\nprocess a 7\nendpoint a:1 reliable\nchannel ba b:5 -> a:1");
    ck_assert_msg(h != NULL, "%s", faults);
    ck_assert_uint_eq(g->channel_count, 4); /* unchanged */
    ck_assert_uint_eq(h->channel_count, 1);
    ck_assert_uint_eq(h->endpoint_count, 4);
    ck_assert_uint_eq(dp_graph_nid(h, &h->endpoints[h->channels[0].to]), 7);
    ck_assert_ptr_null(edit(g, "remove channel ab\nremove channel ab"));
    dp_graph_free(h);
    dp_graph_free(g);
}
END_TEST

/* ---- a fake libdp: descriptors are 100 + DPID ---- */

static struct {
    int opened, closed, mode, target_nid, target_dpid;
    char interface[16];
} played[64];
static int refused_dpid, refused_target, node = 1, written_to;

int dp_open_on(const char *interface, int dpid)
{
    if (dpid == refused_dpid || played[dpid].opened > played[dpid].closed) {
        errno = EADDRINUSE;
        return -1;
    }
    played[dpid].opened++;
    played[dpid].target_nid = 0;
    strcpy(played[dpid].interface, interface);
    return 100 + dpid;
}

int dp_open(int dpid)
{
    return dp_open_on("", dpid);
}

int dp_close(int fd)
{
    played[fd - 100].closed++;
    return 0;
}

int dp_mode(int fd, int mode)
{
    played[fd - 100].mode = mode;
    return 0;
}

int dp_target(int fd, int nid, int dpid)
{
    if (dpid == refused_target) {
        errno = ENOMEM;
        return -1;
    }
    played[fd - 100].target_nid = nid;
    played[fd - 100].target_dpid = dpid;
    return 0;
}

int dp_write(int fd, const void *message, int bytes)
{
    (void)message;
    written_to = played[fd - 100].target_dpid;
    return bytes;
}

int dp_address(int fd, dpaddress_t *address)
{
    *address = (dpaddress_t){.nid = node,
                             .dpid = fd - 100,
                             .target_nid = played[fd - 100].target_nid,
                             .target_dpid = played[fd - 100].target_dpid};
    return 0;
}

static bool is_open(int dpid)
{
    return played[dpid].opened == played[dpid].closed + 1;
}

/* ---- a process ---- */

START_TEST(a_process_is_opened)
{
    struct dp_graph *g = edit(NULL, PAPER);
    size_t count;
    struct dp_process *a = dp_process_open(g, "a");
    ck_assert_ptr_nonnull(a);
    ck_assert(is_open(1) && is_open(2) && !is_open(5));
    ck_assert_int_eq(played[1].mode, DP_RELIABLE);
    ck_assert_int_eq(dp_process_fd(a, 2), 102);
    ck_assert_int_eq(dp_process_fd(a, 5), -1);
    dp_process_channels(a, &count);
    ck_assert_uint_eq(count, 4);
    const struct dp_channel *ac = dp_process_channel(a, "ac"), *raw = dp_process_channel(a, "raw");
    ck_assert(ac->outward && ac->peer_nid == 2 && ac->peer_dpid == 1 && ac->fd == 101 && ac->nid == 1);
    ck_assert(!raw->outward && raw->fd == 102 && raw->peer_dpid == 2);
    ck_assert_int_eq(played[1].target_nid, 0); /* two channels begin there */
    ck_assert_int_eq(dp_process_write(a, dp_process_channel(a, "ab"), "x", 1), 1);
    ck_assert_int_eq(written_to, 5);
    ck_assert_int_eq(dp_process_write(a, ac, "x", 1), 1);
    ck_assert_int_eq(written_to, 1);
    ck_assert_int_eq(dp_process_write(a, raw, "x", 1), -1);
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_null(dp_process_channel(a, "nothing"));
    dp_process_close(a);
    ck_assert(!is_open(1) && !is_open(2));
    node = 2;
    struct dp_process *c = dp_process_open(g, "c");
    ck_assert_int_eq(played[2].target_nid, 1);
    ck_assert_int_eq(played[2].target_dpid, 2);
    dp_process_close(c);
    ck_assert_ptr_null(dp_process_open(g, "d"));
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_ptr_null(dp_process_open(g, "a"));
    ck_assert_int_eq(errno, EADDRNOTAVAIL);
    ck_assert(!is_open(1) && !is_open(2));
    dp_graph_free(g);
}
END_TEST

START_TEST(a_process_changes)
{
    struct dp_graph *g = edit(NULL, PAPER), *h = edit(g, "remove endpoint a:1\nendpoint a:3\nchannel new a:3 -> c:2");
    struct dp_process *a = dp_process_open(g, "a");
    ck_assert_int_eq(dp_process_change(a, h), 0);
    ck_assert(!is_open(1) && is_open(2) && is_open(3));
    ck_assert_int_eq(played[2].opened, 1); /* it remained open */
    ck_assert_ptr_null(dp_process_channel(a, "ab"));
    ck_assert_int_eq(dp_process_channel(a, "new")->fd, 103);
    ck_assert_int_eq(played[3].target_dpid, 2);
    dp_process_close(a);
    dp_graph_free(h);
    dp_graph_free(g);
}
END_TEST

/* A change that fails at its last step leaves everything unchanged. */
START_TEST(a_change_is_whole_or_none)
{
    struct dp_graph *g =
        edit(NULL, "node 1\nnode 2\nprocess a 1\nprocess c 2\nendpoint a:1\nendpoint a:2\nendpoint c:1\n"
                   "endpoint c:2\nchannel x a:1 -> c:1\nchannel y a:2 -> c:1");
    struct dp_graph *h =
        edit(g, "remove channel x\nchannel x a:1 -> c:2\nremove endpoint a:2\nendpoint a:3\nendpoint a:4\n"
                "endpoint c:9\nchannel z a:4 -> c:9");
    struct dp_graph *moded = edit(g, "remove endpoint a:2\nendpoint a:2 reliable"), *gone = edit(NULL, "node 1");
    struct dp_process *a = dp_process_open(g, "a");
    for (int i = 0; i < 2; i++) {
        refused_dpid = i ? 0 : 4;
        refused_target = i ? 9 : 0;
        ck_assert_int_eq(dp_process_change(a, h), -1);
        ck_assert_int_eq(errno, i ? ENOMEM : EADDRINUSE);
        ck_assert(is_open(1) && is_open(2) && !is_open(3) && !is_open(4));
        ck_assert_int_eq(played[1].target_dpid, 1);
        ck_assert_int_eq(dp_process_channel(a, "y")->fd, 102);
        ck_assert_int_eq(dp_process_channel(a, "x")->peer_dpid, 1);
    }
    ck_assert_int_eq(dp_process_change(a, moded), -1);
    ck_assert_int_eq(errno, EBUSY);
    ck_assert_int_eq(dp_process_change(a, gone), -1);
    ck_assert_int_eq(errno, ENOENT);
    refused_target = 0;
    ck_assert_int_eq(dp_process_change(a, h), 0);
    ck_assert(is_open(1) && !is_open(2) && is_open(3) && is_open(4));
    ck_assert_int_eq(played[1].target_dpid, 2);
    dp_process_close(a);
    dp_graph_free(gone);
    dp_graph_free(moded);
    dp_graph_free(h);
    dp_graph_free(g);
}
END_TEST

UNIT_MAIN("dp_graph", a_graph_is_read, wrong_lines_are_named, limits, a_graph_is_edited, a_process_is_opened,
          a_process_changes, a_change_is_whole_or_none)
