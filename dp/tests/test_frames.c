/*
 * test_frames.c - the bytes on the wire, as tcpdump shows them and doc/protocol.md describes them; and an endpoint
 * under a storm of damaged frames. They are made from real ones, half of them with a corrected checksum. DP_STORM=N
 * sends N of them.
 */
#include <arpa/inet.h>
#include <dp.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dp/src/net/discovery.h"
#include "wire/reliable/state.h"
#include "unit.h"
#include "wire.h"

enum { HEADERS = DPI_HEADERS_BYTES, FRAMES_MAX = 400, ETHERTYPE = 0x88b5 };

static int a, b;
static char *message;

/* ---- tcpdump ---- */

static FILE *start_tcpdump(int frames)
{
    char command[200], line[500];
    snprintf(command, sizeof command, "tcpdump -l -nn -xx -i v1 -c %d ether proto 0x88b5 2>&1", frames);
    FILE *dump = popen(command, "re");
    ck_assert_ptr_nonnull(dump);
    while (fgets(line, sizeof line, dump))
        if (strstr(line, "listening on"))
            return dump;
    ck_abort_msg("tcpdump does not listen");
}

/* Reads the bytes of the next frame. */
static size_t read_dump(FILE *dump, uint8_t *frame, size_t size)
{
    static char line[500];
    size_t length = 0;
    bool within = false;
    for (; fgets(line, sizeof line, dump); within = true) {
        unsigned offset, words[8];
        int n = sscanf(line, " 0x%x: %4x %4x %4x %4x %4x %4x %4x %4x", &offset, &words[0], &words[1], &words[2],
                       &words[3], &words[4], &words[5], &words[6], &words[7]);
        if (n < 2 && within && length)
            return length;
        for (int i = 0; i < n - 1 && length + 2 <= size; i++) {
            frame[length++] = (uint8_t)(words[i] >> 8);
            frame[length++] = (uint8_t)words[i];
        }
    }
    return length;
}

START_TEST(bytes_of_a_frame)
{
    static const uint8_t expected[] = {2, 0,    0,    0,   0, 2, 2, 0,   0,   0,   0, /* to, from */
                                       1, 0x88, 0xb5,                                 /* EtherType */
                                       1, 1,    0,    5,                              /* version, kind, length */
                                       0, 2,    0,    200, 0, 1, 0, 100, 'h', 'e', 'l', 'l', 'o'}; /* points, data */
    uint8_t frame[2000];
    char path[] = "/tmp/test-nart.XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("1 02:00:00:00:00:01\n2 02:00:00:00:00:02\n", file);
    fclose(file);
    setenv("DP_NART", path, 1);
    wire_pair(1500, DP_RAW, &a, &b);
    FILE *dump = start_tcpdump(3); /* two address requests, then the message */
    dp_close(a);
    a = dp_open_on("v0", 100);
    unlink(path);
    dp_target(a, WIRE_NODE_1, 200);
    ck_assert_int_eq(dp_write(a, "hello", 5), 5);
    ck_assert_int_eq(dp_write(a, "hello", 5), 5);
    ck_assert_int_eq(dp_write(a, "hello", 5), 5);
    size_t length = 0;
    for (int i = 0; i < 3 && !(length && frame[15] == 1); i++)
        length = read_dump(dump, frame, sizeof frame);
    ck_assert_uint_ge(length + 1, sizeof expected); /* tcpdump prints an odd last byte alone */
    ck_assert_mem_eq(frame, expected, sizeof expected - 1);
    pclose(dump);
}
END_TEST

/* ---- the storm ---- */

static struct {
    uint8_t bytes[FRAMES_MAX][2000];
    size_t length[FRAMES_MAX];
    int count;
} corpus;

static uint64_t random_state = 88172645463325252u;

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % below;
}

static int open_raw(const char *interface)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETHERTYPE));
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE), .sll_ifindex = (int)if_nametoindex(interface)};
    ck_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address));
    return fd;
}

/* Collects the peer's frames. Two of its endpoints send, so that all kinds of frames occur. */
static void collect(int tap)
{
    static const char data[1000];
    for (int i = 0; i < 150; i++) {
        while (dp_write(a, data, i * 6) < 0)
            ck_assert_int_eq(errno, EAGAIN);
        dp_work(a);
        while (dp_try(b, &message) >= 0)
            dp_fsync(b, 1);
        dp_work(b);
        ssize_t n;
        while (corpus.count < FRAMES_MAX &&
               (n = recv(tap, corpus.bytes[corpus.count], sizeof corpus.bytes[0], MSG_DONTWAIT)) > 0)
            corpus.length[corpus.count++] = (size_t)n;
    }
    ck_assert_int_ge(corpus.count, 100);
}

/* Corrects the checksum of a frame, if its kind has one. */
static void seal(uint8_t *frame, size_t length)
{
    uint8_t *body = frame + HEADERS;
    struct packet_header h;
    if (frame[15] == DPI_RELIABLE && length > HEADERS + PVMW_RELIABLE_HEADER_BYTES &&
        pvmw_reliable_decode(body, length - HEADERS, &h)) {
        struct iovec payload = {body + PVMW_RELIABLE_HEADER_BYTES, length - HEADERS - PVMW_RELIABLE_HEADER_BYTES};
        memset(body + PVMW_RELIABLE_HEADER_BYTES - 4, 0, 4);
        h.checksum = pvmw_reliable_checksum(body, &payload, 1);
        pvmw_reliable_encode(&h, body);
        return;
    }
    size_t at = frame[15] == DPI_HELLO ? 12 : 8;
    if (frame[15] < DPI_WHO || length < HEADERS + at + 4)
        return;
    uint32_t sum = htonl(dpi_discovery_checksum(frame, at));
    memcpy(body + at, &sum, sizeof sum);
}

static void storm(int fd, long frames)
{
    static uint8_t frame[2000];
    for (long i = 0; i < frames; i++) {
        int which = (int)draw((unsigned)corpus.count);
        size_t length = corpus.length[which];
        memcpy(frame, corpus.bytes[which], length);
        for (unsigned n = draw(4); n; n--)
            frame[DPI_ETHERNET_BYTES + draw((unsigned)length - DPI_ETHERNET_BYTES)] ^= (uint8_t)(1 << draw(8));
        if (!draw(8))
            length = DPI_ETHERNET_BYTES + draw((unsigned)length - DPI_ETHERNET_BYTES);
        if (draw(8)) /* otherwise for another endpoint */
            memcpy(frame + DPI_ETHERNET_BYTES + 4, (uint8_t[]){0, 2, 0, 200}, 4);
        if (draw(2))
            seal(frame, length);
        ck_assert(send(fd, frame, length, 0) >= 0 || errno == ENOBUFS || errno == EAGAIN || errno == EINVAL);
        if (i % 64)
            continue;
        while (dp_try(b, &message) >= 0)
            dp_fsync(b, 1);
        dp_work(b);
    }
}

/* Checks that the endpoint still serves a peer whose frames were not forged. */
static void check_alive(int mode)
{
    pid_t peer = fork();
    if (!peer) {
        int fd = dp_open_on("v0", 300);
        dp_mode(fd, mode);
        dp_target(fd, WIRE_NODE_1, 200);
        _exit(dp_write(fd, "are you there?", 14) != 14 || dp_flush(fd, -1) || dp_read(fd, &message) != 3 ||
              dp_close(fd));
    }
    int nid, dpid;
    do
        ck_assert_int_ge(dp_read_from(b, &message, &nid, &dpid), 0);
    while (dpid != 300 || dp_fsync(b, 1));
    dp_target(b, nid, dpid);
    ck_assert_int_eq(dp_write(b, "yes", 3), 3);
    if (mode != DP_RAW)
        dp_flush(b, 10000);
    int status;
    ck_assert_int_eq(waitpid(peer, &status, 0), peer);
    ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

START_TEST(damaged_frames)
{
    int mode = (int[]){DP_RELIABLE, DP_GO_BACK_N, DP_RAW}[_i];
    const char *frames = getenv("DP_STORM");
    wire_make(1500);
    int tap = open_raw("v1"), hail = open_raw("v0");
    a = dp_open_on("v0", 100);
    b = dp_open_on("v1", 200);
    dp_mode(a, DP_RELIABLE);
    dp_mode(b, DP_RELIABLE);
    fcntl(a, F_SETFL, O_NONBLOCK);
    dp_target(a, WIRE_NODE_1, 200);
    collect(tap);
    if (mode != DP_RELIABLE) { /* the frames then have another mode, too */
        dp_close(b);
        b = dp_open_on("v1", 200);
        dp_mode(b, mode);
    }
    storm(hail, (frames ? atol(frames) : 100000) / 3);
    check_alive(mode);
    dpstats_t statistics;
    dp_stats(b, &statistics);
    ck_assert_uint_gt(statistics.refused, 1000);
    ck_assert_uint_le(statistics.peers, 70000);
}
END_TEST

int main(void)
{
    int missing = wire_missing();
    if (missing)
        return missing;
    Suite *suite = suite_create("dp_frames");
    TCase *all = tcase_create("frames");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, bytes_of_a_frame);
    tcase_add_loop_test(all, damaged_frames, 0, 3);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
