/*
 * cable - a bad cable between two Ethernet interfaces: forwards frames, and loses, duplicates, delays, reorders and
 * damages some of them. This kernel has no netem, and a seed makes the faults reproducible.
 *
 *   cable IF1 IF2 [loss=P] [dup=P] [reorder=P] [damage=P] [delay=US] [jitter=US] [eth=0xTYPE] [seed=N]
 *
 * P in percent. A reordered frame is held until three later ones have passed, or for 2 ms. With eth=, frames of other
 * EtherTypes pass unharmed. Prints "ready" when it has started, and its counts when SIGTERM or SIGINT ends it. Hosts
 * behind the interfaces may write partial checksums, as veth pairs do: turn that off there (ethtool -K eth0 tx off tso
 * off gso off gro off). Needs CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { FRAME_MAX = 1 << 17, BURST = 64, LATER = 3, LATE_US = 2000 };

struct held {
    struct held *next;
    int64_t due_us;
    int after; /* frames that must pass first; -1: only the time counts */
    size_t length;
    uint8_t frame[];
};

/* One direction. */
static struct way {
    int in, out;
    uint64_t random;
    struct held *held; /* sorted by due time */
    unsigned long frames, lost, doubled, reordered, damaged;
} ways[2];

static struct {
    const char *name;
    double value;
} settings[] = {{"loss", 0},  {"dup", 0},    {"reorder", 0}, {"damage", 0},
                {"delay", 0}, {"jitter", 0}, {"eth", 0},     {"seed", 1}};
enum { LOSS, DUP, REORDER, DAMAGE, DELAY, JITTER, ETH, SEED, SETTINGS };

static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* From 0 to below 1: xorshift. */
static double draw(struct way *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (double)(w->random >> 11) / 9007199254740992.0;
}

static bool happens(struct way *w, int which)
{
    return settings[which].value > 0 && draw(w) < settings[which].value / 100;
}

static int open_end(const char *name)
{
    int on = 1, bytes = 8 << 20, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    if (fd < 0)
        err(1, "a raw socket");
    if (!address.sll_ifindex)
        errx(1, "there is no interface \"%s\"", name);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all))
        err(1, "%s", name);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    return fd;
}

static void put(struct way *w, const uint8_t *frame, size_t length)
{
    while (send(w->out, frame, length, 0) < 0 && (errno == ENOBUFS || errno == EINTR))
        ;
}

static void hold(struct way *w, const uint8_t *frame, size_t length, int64_t due_us, int after)
{
    struct held *h = malloc(sizeof *h + length), **at = &w->held;
    if (!h)
        return;
    h->due_us = due_us;
    h->after = after;
    h->length = length;
    memcpy(h->frame, frame, length);
    while (*at && (*at)->due_us <= due_us)
        at = &(*at)->next;
    h->next = *at;
    *at = h;
}

/* Sends the frames that are due; `passed`: another frame went by. */
static void let_go(struct way *w, bool passed)
{
    int64_t now = now_us();
    struct held *h, **at = &w->held;
    while ((h = *at)) {
        if (passed && h->after > 0)
            h->after--;
        if (h->due_us > now && h->after) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        put(w, h->frame, h->length);
        free(h);
    }
}

/* At once, or later. */
static void forward(struct way *w, const uint8_t *frame, size_t length, bool late)
{
    int64_t due_us = now_us() + (int64_t)(settings[DELAY].value + draw(w) * settings[JITTER].value);
    if (late)
        hold(w, frame, length, due_us + LATE_US, LATER);
    else if (settings[DELAY].value || settings[JITTER].value)
        hold(w, frame, length, due_us, -1);
    else
        put(w, frame, length);
}

static void pass(struct way *w, uint8_t *frame, size_t length)
{
    w->frames++;
    if (settings[ETH].value && (frame[12] << 8 | frame[13]) != (int)settings[ETH].value) {
        put(w, frame, length);
        return;
    }
    if (happens(w, LOSS)) {
        w->lost++;
        return;
    }
    if (happens(w, DAMAGE)) {
        w->damaged++;
        frame[ETHER_HDR_LEN + (size_t)(draw(w) * (double)(length - ETHER_HDR_LEN))] ^=
            (uint8_t)(1 << (int)(draw(w) * 8));
    }
    bool doubled = happens(w, DUP), late = happens(w, REORDER);
    w->doubled += doubled;
    w->reordered += late;
    for (int i = 0; i <= doubled; i++)
        forward(w, frame, length, late);
    if (!late)
        let_go(w, true);
}

static void take_burst(struct way *w)
{
    static uint8_t frame[FRAME_MAX];
    for (int i = 0; i < BURST; i++) {
        ssize_t length = recv(w->in, frame, sizeof frame, MSG_DONTWAIT);
        if (length <= ETHER_HDR_LEN)
            break;
        pass(w, frame, (size_t)length);
    }
    let_go(w, false);
}

static void sleep_for_work(void)
{
    struct pollfd ends[2] = {{ways[0].in, POLLIN, 0}, {ways[1].in, POLLIN, 0}};
    int64_t wait_us = 1000000, now = now_us();
    for (int i = 0; i < 2; i++)
        if (ways[i].held && ways[i].held->due_us - now < wait_us)
            wait_us = ways[i].held->due_us > now ? ways[i].held->due_us - now : 0;
    struct timespec limit = {wait_us / 1000000, wait_us % 1000000 * 1000};
    ppoll(ends, 2, &limit, NULL);
}

static void read_setting(const char *word)
{
    const char *equals = strchr(word, '=');
    for (int i = 0; equals && i < SETTINGS; i++)
        if (strlen(settings[i].name) == (size_t)(equals - word) &&
            !memcmp(word, settings[i].name, (size_t)(equals - word))) {
            char *rest;
            settings[i].value = i == ETH ? (double)strtol(equals + 1, &rest, 0) : strtod(equals + 1, &rest);
            if (rest != equals + 1 && !*rest)
                return;
        }
    errx(2, "\"%s\" is no setting: loss=, dup=, reorder=, damage=, delay=, jitter=, eth= or seed= and a number", word);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: cable IF1 IF2 [loss=P] [dup=P] [reorder=P] [damage=P] [delay=US] [jitter=US] [eth=0xTYPE] "
                "[seed=N]");
    for (int i = 3; i < argc; i++)
        read_setting(argv[i]);
    for (int i = 0; i < 2; i++) {
        ways[i].in = ways[1 - i].out = open_end(argv[1 + i]);
        ways[i].random = 0x9e3779b97f4a7c15 * (uint64_t)(settings[SEED].value * 2 + i + 1);
    }
    signal(SIGINT, end);
    signal(SIGTERM, end);
    puts("ready");
    fflush(stdout);
    while (!ended) {
        sleep_for_work();
        take_burst(&ways[0]);
        take_burst(&ways[1]);
    }
    for (int i = 0; i < 2; i++)
        printf("%s to %s: %lu frames, lost %lu, doubled %lu, reordered %lu, damaged %lu\n", argv[1 + i], argv[2 - i],
               ways[i].frames, ways[i].lost, ways[i].doubled, ways[i].reordered, ways[i].damaged);
    return 0;
}
