/*
 * replay.h - frames that may have to be sent again: a row of them, in the order of their numbers.
 *
 * A link that can lose what it took (attribute `lossless` is false) keeps each frame here until it is acknowledged.
 * When it goes down, the rest moves to the peer's row, which goes by the daemon.
 */
#ifndef PVMI_REPLAY_H
#define PVMI_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../core/frame.h"

#define PVMI_REPLAY_FRAMES_MAX 8192
#define PVMI_REPLAY_BYTES_MAX  ((size_t)64 << 20)

/*
 * In-place data of messages up to this size are copied to be kept; the sender of larger ones waits until they have been
 * acknowledged. The receiver acknowledges at the end of each message above it at once.
 */
#define PVMI_REPLAY_COPY_BYTES 65536

/* The receiver acknowledges after so many frames or bytes. */
#define PVMI_REPLAY_ACK_FRAMES 64
#define PVMI_REPLAY_ACK_BYTES  (256u << 10)

struct pvmi_replay {
    struct pvmi_frame **frames; /* a ring of `capacity`, a power of two */
    unsigned first, count, capacity;
    size_t bytes;
};

/* Whether frames must wait until others have been acknowledged. */
static inline bool pvmi_replay_is_full(const struct pvmi_replay *r)
{
    return r->count >= PVMI_REPLAY_FRAMES_MAX || r->bytes >= PVMI_REPLAY_BYTES_MAX;
}

/*
 * The form in which f is kept, and better sent, since its owner may then change the data: a copy of a small in-place
 * message, else f. The caller gets a reference; NULL when out of memory.
 */
struct pvmi_frame *pvmi_replay_copy(struct pvmi_frame *f);

/* Appends f in that form. 0, or PVMI_ENOMEM with nothing changed. */
int pvmi_replay_keep(struct pvmi_replay *r, struct pvmi_frame *f);

/* All frames with numbers before `due` have come: drops them. */
void pvmi_replay_acknowledge(struct pvmi_replay *r, uint32_t due);

/* Moves all frames to the end of another row, marked as sent AGAIN. Out of memory drops them, logged. */
void pvmi_replay_move(struct pvmi_replay *from, struct pvmi_replay *to);

/* The oldest frame, or NULL; the row keeps its reference. */
struct pvmi_frame *pvmi_replay_first(const struct pvmi_replay *r);
void pvmi_replay_drop_first(struct pvmi_replay *r);

void pvmi_replay_clear(struct pvmi_replay *r);

#endif
