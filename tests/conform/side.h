/*
 * side.h - one end of a connection under test: what its callbacks received, and frames whose contents can be verified.
 *
 * Frames are numbered from 0 by `seq`; header fields and payload are functions of it, and every side checks all
 * arrivals. Two sides connect in one process (server, client) or in two (each uses one of them).
 */
#ifndef SIDE_H
#define SIDE_H

#include <check.h>
#include <stdbool.h>
#include "core/clock.h"
#include "core/error.h"
#include "transports/transport.h"

enum {
    HELD_MAX = 16, /* references that a receiver keeps for a while */
};

/* Time limit for any event. Virtual time is free, although frames of a slow network need much of it. */
#define LIMIT_US (pvmc_virtual_clock ? INT64_C(3600000000) : INT64_C(10000000) * wire_slowness)

/* Where the payload of a frame lies. */
enum payload {
    PAYLOAD_OWN,     /* at the start of its own memory: a complete message */
    PAYLOAD_PART,    /* in the middle of a message's memory: a part of that message */
    PAYLOAD_INPLACE, /* in memory of the program: the frame has no mem */
    PAYLOAD_FIRST,   /* as OWN; the first frame of a stream of unknown length */
    PAYLOAD_NEXT,    /* a later one */
    PAYLOAD_LAST,    /* its last one, which may be empty */
    PAYLOAD_ABORT,   /* empty: the stream is given up */
};

struct held {
    struct pvmc_mem *mem;
    const uint8_t *data;
    uint32_t seq, length;
};

struct inplace; /* a frame with in-place data that the transport may still need */

struct side {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    /* set by the test */
    bool stop;          /* no progress */
    bool refuse_accept; /* and refuse_frames: what the callbacks refuse */
    bool refuse_frames;
    bool disconnect_in_place, disconnect_in_done, disconnect_in_ready, answer_in_done;
    unsigned hold; /* references to keep, up to HELD_MAX */
    /* what was seen */
    int accepted, done, ready, down, down_reason;
    int refused;       /* frames, by refuse_frames */
    int whole;         /* of done: delivered by rx_whole */
    int references;    /* of whole: with memory */
    int descriptor;    /* the last that arrived, else -1 */
    bool in_frame;     /* rx_place was called, rx_done not yet */
    uint32_t next_seq; /* of the expected frame */
    char wrong[200];   /* the first error, or "" */
    uint8_t *place;
    size_t place_size;
    struct held held[HELD_MAX];
    unsigned held_count;
    struct inplace *inplace;
};

extern const struct pvmt_transport_ops *ops; /* under test */
extern struct side server, client;
extern bool use_whole;    /* sides accept whole messages by rx_whole */
extern bool one_process;  /* the transport under test does not reach other processes */
extern bool faults_end;   /* connections may end by themselves (PVM_FAULT) */
extern int wire_slowness; /* how much longer than on others anything may take, because of heavy loss (CONFORM_SLOW) */
extern bool wire_loses;   /* frames are lost on purpose (CONFORM_LOSSY), and so are unacknowledged notices */

extern bool kills_spread; /* a killed process may take its peers with it, so tests kill none (CONFORM_NO_KILL) */
extern bool devices_stay; /* open until the process ends, and of no use to those that it forks (CONFORM_RDMA_CM) */

/*
 * A process that a test forks must not write to Check's file: a kill tears such a record apart. So it records nothing,
 * and on a failed assertion prints it and exits with a code that its parent checks.
 */
extern bool in_other_process;
void other_process_failed(const char *file, int line, const char *expression, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

#define _mark_point(file, line) (in_other_process ? (void)0 : (_mark_point)(file, line))
#define _ck_assert_failed(file, line, ...)                                                                             \
    (in_other_process ? other_process_failed(file, line, __VA_ARGS__) : (_ck_assert_failed)(file, line, __VA_ARGS__))

/* Opens a side's transport; listens at `address` unless that is NULL. */
void side_open(struct side *s, const char *address);

/* Closes it in the order that tasks use, and checks that nothing is left. */
void side_close(struct side *s);

/* Disconnects the side if it is connected. */
void side_disconnect(struct side *s);

/* A frame with one reference. The pieces differ in length; a frame with fewer bytes than pieces has fewer pieces. */
struct pvmc_frame *frame_make(uint32_t seq, uint32_t length, unsigned pieces, enum payload payload);

/*
 * Sends it: 0, PVMC_EAGAIN, or another error code. Overwrites in-place data as soon as the transport has released it.
 */
int side_send(struct side *s, uint32_t seq, uint32_t length, unsigned pieces, enum payload payload);

/* Sends frame seq of a mix of all sizes, pieces and places. */
int side_send_mixed(struct side *s, uint32_t seq);

/* Like the mix above, but without in-place data, up to 64 KiB. */
int side_send_kept(struct side *s, uint32_t seq);

/* Returns the kept references, after checking their data again. */
void side_release(struct side *s, unsigned keep);

/* Number of frames with in-place data that the transport still needs. */
unsigned side_inplace(struct side *s);

uint32_t frame_max(const struct side *s);
struct pvmt_attributes side_attributes(const struct side *s);

/* Whether the descriptor becomes readable within this time; in a network's virtual time: whether anything wakes us. */
bool side_readable(struct side *s, int timeout_ms);

/*
 * Lets both sides make progress; sleeps, like a task, when neither has anything to do. False when `end_us` is reached.
 */
bool drive(int64_t end_us);

/* The same, but data that the other process of `aside` sends past the transport ends the sleep, too. */
bool drive_beside(int64_t end_us, const struct pvmc_bypass *aside);

#define DRIVE_UNTIL(condition)                                                                                         \
    do {                                                                                                               \
        int64_t end_us_ = pvmc_clock_us() + LIMIT_US;                                                                  \
        bool happened_; /* the condition may have side effects: it is evaluated until it holds, and not again */       \
        while (!(happened_ = (condition)) && drive(end_us_))                                                           \
            ;                                                                                                          \
        ck_assert_msg(happened_, "did not happen: %s (down for %d, %d)", #condition, server.down_reason,               \
                      client.down_reason);                                                                             \
    } while (0)

/* Lets both sides make progress for a while in which nothing should happen. */
void drive_idly(void);

/*
 * Drives a connection whose peer has ended it until it is down. If the notice can be lost, sends a frame after a while;
 * its missing answer reveals the end.
 */
void side_await_down(struct side *s);

/* Whether both sides become idle, so that this one's descriptor stays quiet for a while. */
bool side_comes_to_rest(struct side *s);

/* Asserts that all arrivals were correct. */
#define ASSERT_RIGHT(side) ck_assert_msg(!(side).wrong[0], #side ": %s", (side).wrong)

/* Connects server and client in this process, by offer or by address. */
void meet(void);
/* The same for two sides of the same transport (by offer: `a` offers). */
void meet_by_offer(struct side *a, struct side *b);
void meet_by_address(struct side *listener, struct side *caller);

/* For tcase_add_checked_fixture(): opens server and client; closes them and checks that nothing leaks. */
void both_open(void);
void both_close(void);

/* Resources of this process that a transport might leak: descriptors, and mappings of memfds. */
struct leftovers {
    int descriptors, mappings;
};
struct leftovers leftovers_now(void);

/* The address of a listening side, in a folder of the test's own. */
const char *address_in_folder(void);

#endif
