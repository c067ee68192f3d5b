/*
 * message.h - a typed message: its header, its body, and the packing and unpacking of values.
 *
 * Receiver makes right: values are packed in the sender's own format, without padding, and the message carries the
 * sender's data signature; unpacking converts only where the receiver's differs. No type tags travel.
 */
#ifndef PVMI_MESSAGE_H
#define PVMI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include "dsig.h"
#include "frame.h"
#include "mem.h"
#include "tid.h"

/* Encoding words as pvm_getminfo() shows them. Raw messages show their data signature. */
#define PVMI_ENC_DEFAULT 0x10000000u
#define PVMI_ENC_INPLACE 0x20000000u
#define PVMI_ENC_TRACE   0x40000000u /* values with their types before them, for tracers: see libpvm/trace.h */

/* Value types, numbered as PVM_STR .. PVM_ULONG in pvm3.h. */

struct pvmi_message {
    unsigned refs;
    pvmi_tid src, dst;
    int32_t tag;
    uint32_t ctx;
    int32_t wid;
    int32_t crc;
    uint32_t enc;
    pvmi_dsig dsig;
    struct pvmi_mem *mem;  /* the body, contiguous; may be NULL while empty */
    uint64_t length;       /* bytes of body */
    uint64_t position;     /* of the next unpack */
    struct iovec *inplace; /* in-place message: the user's data, in order; mem is NULL unless the sender unpacked it */
    unsigned inplace_count, inplace_capacity;
    uint64_t inplace_length; /* bytes behind `inplace` */
    unsigned cursor;         /* the segment of `inplace` that the last frame ended in ... */
    uint64_t cursor_offset;  /* ... and where it starts in the body */
    struct iovec segment;    /* `inplace` as long as there is only one */
};

#define PVMI_INPLACE_MAX (1u << 20) /* segments of one in-place message; adjoining ones count as one */

#define PVMI_COPY_LARGE 2048 /* bytes; from here on memcpy() may be slow, see pvmi_mem_copy() */

/* Copies bytes. Most messages are a number or two: those are worth not calling memcpy for. */
static inline void pvmi_copy(void *out, const void *in, size_t length)
{
    if (length == 8)
        memcpy(out, in, 8);
    else if (length == 4)
        memcpy(out, in, 4);
    else if (length < PVMI_COPY_LARGE)
        memcpy(out, in, length);
    else
        pvmi_mem_copy(out, in, length);
}

/* An empty message with one reference in this machine's format; NULL when out of memory. */
struct pvmi_message *pvmi_message_new(uint32_t enc);

/* An empty one with the addresses, tag and context of m, for data in `enc`; NULL when out of memory. */
struct pvmi_message *pvmi_message_twin(const struct pvmi_message *m, uint32_t enc);

/* Gives the twin the body of m, which is not in place. Who packs on gets a copy of it. */
void pvmi_message_share(struct pvmi_message *twin, const struct pvmi_message *m);

/*
 * Copies a body that lies in its sender's memory, where the sender can still write; does nothing for others. What
 * parses a body in place calls this first; unpacking copies value by value, and needs it not. 0 or PVMI_ENOMEM.
 */
int pvmi_message_own(struct pvmi_message *m);

struct pvmi_message *pvmi_message_ref(struct pvmi_message *m);
void pvmi_message_unref(struct pvmi_message *m); /* NULL is allowed */

/* Makes m, to which the caller has the only reference, an empty message again, as if new. It may keep its memory. */
void pvmi_message_renew(struct pvmi_message *m, uint32_t enc);

static inline bool pvmi_message_is_inplace(const struct pvmi_message *m)
{
    return m->enc == PVMI_ENC_INPLACE;
}

/* Bytes that unpacking can yield or sending will carry: length, or inplace_length. */
uint64_t pvmi_message_bytes(const struct pvmi_message *m);

/*
 * Appends n items of `type` (PVM_BYTE .. PVM_ULONG), one every `stride` items (0 and negative strides go as one
 * expects). In-place messages record the address only. A message received from another kind of machine keeps its
 * format: values are converted to it. PVMI_EPARAM for n < 0, no data, unknown type or PVM_STR; PVMI_EUNSUPPORTED in
 * place with stride != 1; PVMI_ENOMEM; PVMI_ELIMIT beyond PVMI_INPLACE_MAX segments; PVMI_EOVERFLOW, PVMI_EFORMAT from
 * conversion. Nothing is packed then.
 */
int pvmi_message_pack(struct pvmi_message *m, int type, const void *data, int n, int stride);

/* pvmi_message_room() where memory is to be had first. */
uint8_t *pvmi_message_grow(struct pvmi_message *m, size_t length);

/* Where `length` more bytes of a body go, already counted in; NULL when out of memory. Not for in-place messages. */
static inline uint8_t *pvmi_message_room(struct pvmi_message *m, size_t length)
{
    struct pvmi_mem *mem = m->mem;
    if (__builtin_expect(!mem || mem->refs != 1 || mem->release || mem->capacity - m->length < length, 0))
        return pvmi_message_grow(m, length);
    uint8_t *at = mem->data + m->length;
    m->length += length;
    return at;
}

/*
 * The usual case of pvmi_message_pack(), for inlining: `length` bytes that lie together, in our own format. False:
 * nothing was done, it takes pvmi_message_pack() to do it or to say what is wrong.
 */
static inline bool pvmi_message_append(struct pvmi_message *m, const void *data, size_t length)
{
    bool is_copied = m->enc <= PVMI_ENC_DEFAULT; /* not in place, without types */
    uint8_t *to = m->dsig == pvmi_dsig_own() && is_copied ? pvmi_message_room(m, length) : NULL;
    if (!to)
        return false;
    pvmi_copy(to, data, length);
    return true;
}

/* The same for unpacking. */
static inline bool pvmi_message_extract(struct pvmi_message *m, void *data, size_t length)
{
    if (m->length - m->position < length || m->dsig != pvmi_dsig_own() || pvmi_message_is_inplace(m))
        return false;
    pvmi_copy(data, m->mem->data + m->position, length);
    m->position += length;
    return true;
}

/*
 * Appends a string: its length including the NUL as an int, then the bytes. PVMI_ELIMIT from 2 GiB on;
 * PVMI_EUNSUPPORTED in place, as for the two calls below.
 */
int pvmi_message_pack_string(struct pvmi_message *m, const char *text);

/* Appends bytes as they are. */
int pvmi_message_pack_bytes(struct pvmi_message *m, const void *data, size_t length);

/* Room for `length` more bytes, to be filled by the caller at the returned address; counts as packed. NULL: no memory,
 * or in place. The address is valid until something else is packed. */
uint8_t *pvmi_message_reserve(struct pvmi_message *m, size_t length);

/*
 * Takes n items out. PVMI_ESHORT past the end (position then at the end, nothing stored), PVMI_EOVERFLOW when a value
 * does not fit this machine's type (all values before it are stored, position after the n items), PVMI_EPARAM,
 * PVMI_EFORMAT when the signature is not convertible (bytes always are).
 * The sender of an in-place message may unpack it: that reads a copy of its data made at the first unpack, or string
 * call.
 */
int pvmi_message_unpack(struct pvmi_message *m, int type, void *data, int n, int stride);

/*
 * Bytes of the next string including its NUL, without moving; PVMI_ESHORT, or PVMI_EFORMAT when there is no string
 * here: its length is not positive or its last byte is not NUL.
 */
int64_t pvmi_message_string_bytes(struct pvmi_message *m);

/*
 * Takes a string of at most `size` bytes with its NUL; SIZE_MAX for an unchecked copy. The copy has its NUL whatever
 * the sender writes meanwhile. PVMI_ELIMIT if it is longer and the errors of pvmi_message_string_bytes(): position does
 * not move then, except that PVMI_ESHORT puts it at the end.
 */
int pvmi_message_unpack_string(struct pvmi_message *m, char *text, size_t size);

/* Bytes that one item of `type` takes here; 0 for unknown types and PVM_STR. */
size_t pvmi_type_own_bytes(int type);

/* Bytes that one item of `type` takes in format `sig`; 0 for unknown types and PVM_STR. */
size_t pvmi_type_bytes(int type, pvmi_dsig sig);

/*
 * Converts n values of `type` from format `from` at `in`, one after the other, to format `to` at `out`, one every
 * `stride` items: the whole of "receiver makes right". Neither needs to be aligned. PVMI_EOVERFLOW: all values before
 * the one that does not fit are stored; PVMI_EPARAM for unknown types; PVMI_EFORMAT for a signature that is not
 * convertible.
 */
int pvmi_convert_to(int type, pvmi_dsig from, const void *in, pvmi_dsig to, void *out, size_t n, int stride);

/* As pvmi_convert_to(), to this machine's format. */
int pvmi_convert(int type, pvmi_dsig from, const void *in, void *out, size_t n, int stride);

/* ---- messages and frames ---- */

/*
 * The frame of at most `payload_max` bytes at body offset `offset`, which is below pvmi_message_bytes(); an empty
 * message has one empty frame. It may be shorter than payload_max: go on at offset + h.length. For a stream the caller
 * keeps payload_max within PVMI_FRAME_PAYLOAD_MAX; a transport that passes references takes more. The header has m's
 * fields and `seq`; in-place data travels as raw. NULL when out of memory. The frame shares the body (or points at
 * in-place data).
 */
struct pvmi_frame *pvmi_message_frame(struct pvmi_message *m, uint64_t offset, size_t payload_max, uint32_t seq);

/*
 * A message that waits for the frames of the one that `h` belongs to: length is the whole body's and mem has room for
 * it (NULL when the body is empty), position is 0. NULL when out of memory.
 */
struct pvmi_message *pvmi_message_from_header(const struct pvmi_frame_header *h);

#endif
