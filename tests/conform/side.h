/*
 * side.h - one end of a connection under test: what its callbacks saw, and frames whose contents tell whether they are
 * right.
 *
 * Frames are numbered from 0 by `seq`; header fields and payload are functions of it, and every side checks all that
 * comes in. Two sides meet in one process (server, client) or in two (each uses one of them).
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

/* For anything to happen. Virtual time, which a slow network's frames take much of, costs nothing. */
#define LIMIT_US (pvmc_virtual_clock ? INT64_C(3600000000) : INT64_C(10000000) * (wire_is_slow ? 12 : 1))

/* Where the payload of a frame lies. */
enum payload {
    PAYLOAD_OWN,     /* at the start of memory of its own: a whole message */
    PAYLOAD_PART,    /* in the middle of a message's memory: a part of that message */
    PAYLOAD_INPLACE, /* in memory of the program: the frame has no mem */
};

struct held {
    struct pvmc_mem *mem;
    const uint8_t *data;
    uint32_t seq, length;
};

struct inplace; /* a frame with data in place that the transport may still need */

struct side {
    struct pvmt_transport *transport;
    struct pvmt_endpoint *ep;
    /* what the test wants */
    bool stop;          /* no progress */
    bool refuse_accept; /* and refuse_frames: what callbacks refuse */
    bool refuse_frames;
    bool disconnect_in_place, disconnect_in_done, disconnect_in_ready, answer_in_done;
    unsigned hold; /* references to keep, up to HELD_MAX */
    /* what was seen */
    int accepted, done, ready, down, down_reason;
    int refused;       /* frames, by refuse_frames */
    int whole;         /* of done: by rx_whole */
    int references;    /* of whole: with memory */
    int descriptor;    /* the last that came, else -1 */
    bool in_frame;     /* rx_place came, rx_done not yet */
    uint32_t next_seq; /* of the frame due */
    char wrong[200];   /* the first thing that was not as it should be, or "" */
    uint8_t *place;
    size_t place_size;
    struct held held[HELD_MAX];
    unsigned held_count;
    struct inplace *inplace;
};

extern const struct pvmt_transport_ops *ops; /* under test */
extern struct side server, client;
extern bool use_whole;    /* sides take whole messages by rx_whole */
extern bool one_process;  /* the transport under test does not reach other processes */
extern bool faults_end;   /* connections may end by themselves (PVM_FAULT) */
extern bool wire_is_slow; /* by losing much (CONFORM_SLOW) */
extern bool wire_loses;   /* frames are lost on purpose (CONFORM_LOSSY): so is a word that nobody answers */

/*
 * The process that a test forks must not write to the file that Check reads: a kill tears such a record apart. So it
 * leaves no marks, and when an assertion fails it prints that and ends with an exit code that its parent looks at.
 */
extern bool in_other_process;
void other_process_failed(const char *file, int line, const char *expression, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

#define _mark_point(file, line) (in_other_process ? (void)0 : (_mark_point)(file, line))
#define _ck_assert_failed(file, line, ...)                                                                             \
    (in_other_process ? other_process_failed(file, line, __VA_ARGS__) : (_ck_assert_failed)(file, line, __VA_ARGS__))

/* Opens a side's transport; listens at `address`, when not NULL. */
void side_open(struct side *s, const char *address);

/* Closes it, in the order in which tasks do, and checks what is left of it. */
void side_close(struct side *s);

/* Disconnects, if it is not yet. */
void side_disconnect(struct side *s);

/* A frame with one reference. The pieces are of uneven length; there are fewer if it has fewer bytes. */
struct pvmc_frame *frame_make(uint32_t seq, uint32_t length, unsigned pieces, enum payload payload);

/* Sends it: 0, PVMC_EAGAIN, or another code. In-place data is overwritten as soon as the transport is done with it. */
int side_send(struct side *s, uint32_t seq, uint32_t length, unsigned pieces, enum payload payload);

/* Sends frame seq of a mix of all sizes, pieces and places. */
int side_send_mixed(struct side *s, uint32_t seq);

/* As mixed, but without in-place data, up to 64 KiB. */
int side_send_kept(struct side *s, uint32_t seq);

/* Gives references back that were kept, after looking at their data once more. */
void side_release(struct side *s, unsigned keep);

/* Frames with data in place that the transport still needs. */
unsigned side_inplace(struct side *s);

uint32_t frame_max(const struct side *s);
struct pvmt_attributes side_attributes(const struct side *s);

/* Whether the descriptor polls readable within this time; in a network's virtual time: whether anything wakes us. */
bool side_readable(struct side *s, int timeout_ms);

/* Lets both sides move; sleeps, like a task, when neither has anything to do. False when `end_us` has come. */
bool drive(int64_t end_us);

/* The same, and what the other process of `aside` gives us past the transport ends the sleep, too. */
bool drive_beside(int64_t end_us, const struct pvmc_bypass *aside);

#define DRIVE_UNTIL(condition)                                                                                         \
    do {                                                                                                               \
        int64_t end_us_ = pvmc_clock_us() + LIMIT_US;                                                                  \
        bool happened_; /* the condition may have effects: it is evaluated until it holds, and not again */            \
        while (!(happened_ = (condition)) && drive(end_us_))                                                           \
            ;                                                                                                          \
        ck_assert_msg(happened_, "did not happen: %s (down for %d, %d)", #condition, server.down_reason,               \
                      client.down_reason);                                                                             \
    } while (0)

/* Lets both sides move for a while in which nothing should happen. */
void drive_idly(void);

/*
 * Drives until the connection is down, whose peer has ended it. Where the word that says so can be lost, sends
 * something after a while, the answer to which is then missed.
 */
void side_await_down(struct side *s);

/* Whether both sides come to rest so that a sleeper on this one's descriptor is left in peace for a while. */
bool side_comes_to_rest(struct side *s);

/* Everything that came was right. */
#define ASSERT_RIGHT(side) ck_assert_msg(!(side).wrong[0], #side ": %s", (side).wrong)

/* Connects server and client in this process, by offer or by address. */
void meet(void);
/* The same for two sides of the same transports (by offer: `a` offers). */
void meet_by_offer(struct side *a, struct side *b);
void meet_by_address(struct side *listener, struct side *caller);

/* For tcase_add_checked_fixture(): opens server and client; closes them and sees that nothing is left. */
void both_open(void);
void both_close(void);

/* Things of this process that a transport might forget: descriptors, and mappings of memfds. */
struct leftovers {
    int descriptors, mappings;
};
struct leftovers leftovers_now(void);

/* The address that a listening side has, in a folder of the test's own. */
const char *address_in_folder(void);

#endif
