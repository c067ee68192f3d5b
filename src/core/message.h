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
#include <sys/uio.h>
#include "dsig.h"
#include "frame.h"
#include "mem.h"
#include "tid.h"

/* Encoding words as pvm_getminfo() shows them. Raw messages show their data signature. */
#define PVMI_ENC_DEFAULT 0x10000000u
#define PVMI_ENC_INPLACE 0x20000000u

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
    struct pvmi_mem *mem; /* the body, contiguous; NULL while empty */
    uint64_t length;      /* bytes of body */
    uint64_t position;    /* of the next unpack */
    struct iovec *inplace; /* in-place message: the user's data, in order; mem is NULL */
    unsigned inplace_count, inplace_capacity;
    uint64_t inplace_length; /* bytes behind `inplace` */
};

/* An empty message with one reference in this machine's format; NULL when out of memory. */
struct pvmi_message *pvmi_message_new(uint32_t enc);
struct pvmi_message *pvmi_message_ref(struct pvmi_message *m);
void pvmi_message_unref(struct pvmi_message *m); /* NULL is allowed */

/* Bytes that unpacking can yield or sending will carry: length, or inplace_length. */
uint64_t pvmi_message_bytes(const struct pvmi_message *m);

/*
 * Appends n items of `type` (PVM_BYTE .. PVM_ULONG), one every `stride` items. In-place messages record the address only.
 * PVMI_EPARAM for n < 0, unknown type or PVM_STR; PVMI_EUNSUPPORTED in place with stride != 1; PVMI_ENOMEM.
 */
int pvmi_message_pack(struct pvmi_message *m, int type, const void *data, int n, int stride);

/* Appends a string: u32 length including the NUL in the message's format (an int), then the bytes. */
int pvmi_message_pack_string(struct pvmi_message *m, const char *text);

/* Appends bytes as they are. */
int pvmi_message_pack_bytes(struct pvmi_message *m, const void *data, size_t length);

/* Room for `length` more bytes, to be filled by the caller at the returned address; counts as packed. NULL: no memory. */
uint8_t *pvmi_message_reserve(struct pvmi_message *m, size_t length);

/*
 * Takes n items out. PVMI_ESHORT past the end (position then at the end), PVMI_EOVERFLOW when a value does not fit this
 * machine's type (all values before it are stored), PVMI_EPARAM, PVMI_EFORMAT when the signature is not convertible.
 */
int pvmi_message_unpack(struct pvmi_message *m, int type, void *data, int n, int stride);

/* Bytes of the next string including its NUL, without moving; PVMI_ESHORT / PVMI_EFORMAT. */
int64_t pvmi_message_string_bytes(struct pvmi_message *m);

/* Takes a string of at most `size` bytes with its NUL; PVMI_ELIMIT if it is longer. Pass SIZE_MAX for an unchecked copy. */
int pvmi_message_unpack_string(struct pvmi_message *m, char *text, size_t size);

/* Bytes that one item of `type` takes in format `sig`; 0 for unknown types and PVM_STR. */
size_t pvmi_type_bytes(int type, pvmi_dsig sig);

/* Converts n values of `type` from format `from` at `in` to this machine's at `out`: the whole of "receiver makes right". */
int pvmi_convert(int type, pvmi_dsig from, const void *in, void *out, size_t n, int stride);

/* ---- messages and frames ---- */

/*
 * The frame of at most `payload_max` bytes at body offset `offset`; an empty message has one empty frame. The header has
 * m's fields and `seq`. NULL when out of memory. The frame shares the body (or points at in-place data).
 */
struct pvmi_frame *pvmi_message_frame(struct pvmi_message *m, uint64_t offset, size_t payload_max, uint32_t seq);

/* A message that waits for the frames of the one that `h` belongs to; NULL when out of memory. */
struct pvmi_message *pvmi_message_from_header(const struct pvmi_frame_header *h);

#endif
