/*
 * message.h - a typed message: its header, its body, and the packing and unpacking of values.
 *
 * "Receiver makes right": values are packed in the sender's own format, without padding or type tags, and the message
 * carries the sender's data signature. Unpacking converts only if the receiver's signature differs.
 */
#ifndef PVMC_MESSAGE_H
#define PVMC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include "dsig.h"
#include "frame.h"
#include "core/memory/copy.h"
#include "core/memory/mem.h"
#include "tid.h"

/* Encoding words as pvm_getminfo() shows them. Raw messages show their data signature. */
#define PVMC_ENC_DEFAULT 0x10000000u
#define PVMC_ENC_INPLACE 0x20000000u
#define PVMC_ENC_TRACE   0x40000000u /* each value preceded by its type, for tracers: see libpvm/trace/trace.h */

struct pvmc_message {
    unsigned refs;
    PVMC_ENVELOPE;
    struct pvmc_mem *mem;  /* the body, contiguous; may be NULL while empty */
    uint64_t length;       /* bytes of body */
    uint64_t position;     /* of the next unpack */
    unsigned items;        /* sizes of the items packed, in bytes, which are powers of 2: their sum without carry */
    struct iovec *inplace; /* in-place message: the user's data in order; mem stays NULL until the sender unpacks it */
    unsigned inplace_count, inplace_capacity;
    uint64_t inplace_length; /* total bytes of `inplace` */
    unsigned cursor;         /* the segment of `inplace` that was last cut ... */
    int partial;             /* received in part, see partial.h: PVMC_PARTIAL_GROWS, or why no more comes; 0: whole */
    uint64_t cursor_offset;  /* ... and its offset in the body */
    struct iovec segment;    /* storage of `inplace` while it has one segment */
};

#define PVMC_INPLACE_MAX (1u << 20) /* segments of one in-place message; adjoining ones count as one */

#define PVMC_COPY_LARGE 2048 /* bytes; from this size on memcpy() may be slow, see pvmc_mem_copy() */

/* Copies bytes. Most messages are one or two numbers, for which an inline move saves the call of memcpy(). */
static inline void pvmc_copy_by(void (*large)(void *, const void *, size_t), void *out, const void *in, size_t length)
{
    if (length == 8)
        memcpy(out, in, 8);
    else if (length == 4)
        memcpy(out, in, 4);
    else if (length < PVMC_COPY_LARGE)
        memcpy(out, in, length);
    else
        large(out, in, length);
}

static inline void pvmc_copy(void *out, const void *in, size_t length)
{
    pvmc_copy_by(pvmc_mem_copy, out, in, length);
}

/* The same into a body that another task may have read before. */
static inline void pvmc_copy_in(void *out, const void *in, size_t length)
{
    pvmc_copy_by(pvmc_mem_fill, out, in, length);
}

/* An empty message in this machine's format, with one reference; NULL when out of memory. */
struct pvmc_message *pvmc_message_new(uint32_t enc);

/* An empty message in encoding `enc` with the addresses, tag, context and format of m; NULL when out of memory. */
struct pvmc_message *pvmc_message_twin(const struct pvmc_message *m, uint32_t enc);

/* Lets the empty twin share the body of m, which is not in place. Packing into either one copies the body first. */
void pvmc_message_share(struct pvmc_message *twin, const struct pvmc_message *m);

/* A message with a copy of m's body, which is not empty and not in place. NULL when out of memory. */
struct pvmc_message *pvmc_message_copy_small(const struct pvmc_message *m);

/*
 * Copies a body that lies in its sender's memory, where the sender can still change it; does nothing for other bodies.
 * Call this before parsing a body in place. Unpacking copies each value and does not need it. 0 or PVMC_ENOMEM.
 */
int pvmc_message_own(struct pvmc_message *m);

static inline struct pvmc_message *pvmc_message_ref(struct pvmc_message *m)
{
    m->refs++;
    return m;
}

/* For pvmc_message_unref(): frees a message without references. */
void pvmc_message_free(struct pvmc_message *m);

/* NULL is allowed. */
static inline void pvmc_message_unref(struct pvmc_message *m)
{
    if (m && !--m->refs)
        pvmc_message_free(m);
}

/* Makes m, to which the caller holds the only reference, empty as if new. It may keep its memory. */
void pvmc_message_renew(struct pvmc_message *m, uint32_t enc);

static inline bool pvmc_message_is_inplace(const struct pvmc_message *m)
{
    return m->enc == PVMC_ENC_INPLACE;
}

/* Bytes of the body: length, or inplace_length for an in-place message. */
uint64_t pvmc_message_bytes(const struct pvmc_message *m);

/*
 * Appends n items of `type` (PVM_BYTE .. PVM_ULONG), `stride` items apart; the stride may be 0 or negative. In-place
 * messages record only the address. A message received from another architecture keeps its format: values are converted
 * to it. Errors: PVMC_EPARAM for n < 0, no data, an unknown type or PVM_STR; PVMC_EUNSUPPORTED in place with stride !=
 * 1; PVMC_ENOMEM; PVMC_ELIMIT beyond PVMC_INPLACE_MAX segments; PVMC_EOVERFLOW, PVMC_EFORMAT from conversion. On error
 * nothing is packed.
 */
int pvmc_message_pack(struct pvmc_message *m, int type, const void *data, int n, int stride);

/* The slow path of pvmc_message_room(), which allocates. */
uint8_t *pvmc_message_grow(struct pvmc_message *m, size_t length);

/* Extends the body by `length` bytes and returns where to write them; NULL when out of memory. Not for in-place
 * messages. */
static inline uint8_t *pvmc_message_room(struct pvmc_message *m, size_t length)
{
    struct pvmc_mem *mem = m->mem;
    if (__builtin_expect(!mem || mem->refs != 1 || mem->release || mem->capacity - m->length < length, 0))
        return pvmc_message_grow(m, length);
    uint8_t *at = mem->data + m->length;
    m->length += length;
    return at;
}

/*
 * The fast path of pvmc_message_pack(), inline: `length` contiguous bytes, items of `item` bytes, in our own format.
 * False: nothing was done; call pvmc_message_pack(), which packs them or returns the error.
 */
static inline bool pvmc_message_append(struct pvmc_message *m, const void *data, size_t length, unsigned item)
{
    bool is_copied = m->enc <= PVMC_ENC_DEFAULT; /* neither in place nor PVMC_ENC_TRACE */
    uint8_t *to = m->dsig == pvmc_dsig_own() && is_copied ? pvmc_message_room(m, length) : NULL;
    if (!to)
        return false;
    m->items |= item;
    pvmc_copy_in(to, data, length);
    return true;
}

/* The fast path of pvmc_message_unpack(). */
static inline bool pvmc_message_extract(struct pvmc_message *m, void *data, size_t length)
{
    if (m->length - m->position < length || m->dsig != pvmc_dsig_own() || pvmc_message_is_inplace(m))
        return false;
    pvmc_copy(data, m->mem->data + m->position, length);
    m->position += length;
    return true;
}

/*
 * Appends a string: its length including the NUL as an int, then the bytes. PVMC_ELIMIT from 2 GiB on;
 * PVMC_EUNSUPPORTED in place, as for the two calls below.
 */
int pvmc_message_pack_string(struct pvmc_message *m, const char *text);

/* Appends bytes as they are. */
int pvmc_message_pack_bytes(struct pvmc_message *m, const void *data, size_t length);

/*
 * Unpacks n items. PVMC_ESHORT past the end (nothing is stored, the position moves to the end); PVMC_EOVERFLOW when a
 * value does not fit this machine's type (all values before it are stored, the position is after the n items);
 * PVMC_EPARAM; PVMC_EFORMAT when the signature is not convertible (bytes always are).
 * The sender of an in-place message may unpack it: the first unpack or string call copies its data.
 */
int pvmc_message_unpack(struct pvmc_message *m, int type, void *data, int n, int stride);

/*
 * Takes the next n items without copying them: *at is their place in the body's memory, and the caller gets a reference
 * to that, or, if `held` is not NULL, keeps the one that an earlier call for this message returned. NULL, with nothing
 * taken, if they must be unpacked: they are converted or misaligned, there are fewer, or others may use that memory.
 */
struct pvmc_mem *pvmc_message_view(struct pvmc_message *m, struct pvmc_mem *held, int type, int n, void **at);

/*
 * Bytes of the next string including its NUL; the position does not move. PVMC_ESHORT, or PVMC_EFORMAT when there is no
 * string here: the length is not positive or the last byte is not NUL.
 */
int64_t pvmc_message_string_bytes(struct pvmc_message *m);

/*
 * Unpacks a string of at most `size` bytes with its NUL; SIZE_MAX for an unchecked copy. The copy ends in a NUL even if
 * the sender overwrites the body meanwhile. PVMC_ELIMIT if it is longer, and the errors of pvmc_message_string_bytes().
 * On error the position does not move, except that PVMC_ESHORT moves it to the end.
 */
int pvmc_message_unpack_string(struct pvmc_message *m, char *text, size_t size);

/* Bytes of one item of `type` on this machine; 0 for unknown types and PVM_STR. */
size_t pvmc_type_own_bytes(int type);

/* Bytes of one item of `type` in format `sig`; 0 for unknown types and PVM_STR. */
size_t pvmc_type_bytes(int type, pvmc_dsig sig);

/*
 * Converts n contiguous values of `type` in format `from` at `in` to format `to` at `out`, where they are `stride`
 * items apart. Neither address needs to be aligned. PVMC_EOVERFLOW: all values before the one that does not fit are
 * stored; PVMC_EPARAM for unknown types; PVMC_EFORMAT for a signature that is not convertible.
 */
int pvmc_convert_to(int type, pvmc_dsig from, const void *in, pvmc_dsig to, void *out, size_t n, int stride);

/* As pvmc_convert_to(), to this machine's format. */
int pvmc_convert(int type, pvmc_dsig from, const void *in, void *out, size_t n, int stride);

/* ---- messages and frames ---- */

/*
 * The frame of at most `payload_max` bytes at body offset `offset`, which is below pvmc_message_bytes(); an empty
 * message has one empty frame. The frame may be shorter than payload_max: continue at offset + h.length. payload_max is
 * at most PVMC_FRAME_PAYLOAD_MAX for a stream, and may be more for a transport that passes references. The header has
 * m's fields and `seq`; in-place data travels as raw. The frame shares the body or points at in-place data. NULL when
 * out of memory.
 */
struct pvmc_frame *pvmc_message_frame(struct pvmc_message *m, uint64_t offset, size_t payload_max, uint32_t seq);

/*
 * A message to receive the frames of the message that `h` belongs to: length is that of the whole body, mem has room
 * for it (NULL when the body is empty), position is 0. NULL when out of memory.
 */
struct pvmc_message *pvmc_message_from_header(const struct pvmc_frame_header *h);

/* The same for a message with this envelope and a body of `length` bytes. */
struct pvmc_message *pvmc_message_of(const struct pvmc_envelope *e, uint64_t length);

#endif
