/* pack.c - values into and out of message bodies. Between like machines this is copying and nothing else. */
#include "message.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "log.h"

#define BODY_FIRST_BYTES     256
#define SEGMENTS_FIRST_COUNT 16

static const uint8_t own_item_bytes[] = {
    [PVM_BYTE] = 1,
    [PVM_SHORT] = sizeof(short),
    [PVM_INT] = sizeof(int),
    [PVM_FLOAT] = sizeof(float),
    [PVM_CPLX] = 2 * sizeof(float),
    [PVM_DOUBLE] = sizeof(double),
    [PVM_DCPLX] = 2 * sizeof(double),
    [PVM_LONG] = sizeof(long),
    [PVM_USHORT] = sizeof(short),
    [PVM_UINT] = sizeof(int),
    [PVM_ULONG] = sizeof(long),
};

size_t pvmi_type_own_bytes(int type)
{
    return type >= 0 && type <= PVM_ULONG ? own_item_bytes[type] : 0;
}

/* Bytes of one item in the message's format; 0 for unknown types. */
static size_t item_bytes(const struct pvmi_message *m, int type)
{
    return m->dsig == pvmi_dsig_own() ? pvmi_type_own_bytes(type) : pvmi_type_bytes(type, m->dsig);
}

/* ---- copying with strides ---- */

static inline void copy_sized(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step, int n,
                              size_t item)
{
    for (int i = 0; i < n; i++, out += out_step, in += in_step)
        memcpy(out, in, item);
}

/* n items of `item` bytes, one every `step` bytes on each side. The sizes are spelt out so that each loop is moves. */
static void copy_items(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step, int n, size_t item)
{
    switch (item) {
    case 1:
        copy_sized(out, out_step, in, in_step, n, 1);
        return;
    case 2:
        copy_sized(out, out_step, in, in_step, n, 2);
        return;
    case 4:
        copy_sized(out, out_step, in, in_step, n, 4);
        return;
    case 8:
        copy_sized(out, out_step, in, in_step, n, 8);
        return;
    default:
        copy_sized(out, out_step, in, in_step, n, item);
        return;
    }
}

static ptrdiff_t step_bytes(int stride, size_t item)
{
    return (ptrdiff_t)stride * (ptrdiff_t)item;
}

/* ---- packing ---- */

/* Makes the body's memory ours alone (frames may still be sending from it) and at least length + more bytes. */
static int grow(struct pvmi_message *m, size_t more)
{
    if (more > SIZE_MAX / 4 || m->length > SIZE_MAX / 4)
        return PVMI_ENOMEM;
    size_t need = m->length + more, have = m->mem ? m->mem->capacity : 0, capacity = have;
    if (need > have)
        capacity = need > 2 * have ? need : 2 * have;
    if (!m->mem) {
        m->mem = pvmi_mem_new(capacity > BODY_FIRST_BYTES ? capacity : BODY_FIRST_BYTES);
        return m->mem ? 0 : PVMI_ENOMEM;
    }
    if (!pvmi_mem_grow(&m->mem, m->length, capacity))
        return 0;
    return pvmi_mem_grow(&m->mem, m->length, need);
}

uint8_t *pvmi_message_grow(struct pvmi_message *m, size_t length)
{
    if (grow(m, length))
        return NULL;
    m->length += length;
    return m->mem->data + m->length - length;
}

static int grow_segments(struct pvmi_message *m)
{
    if (m->inplace_count == PVMI_INPLACE_MAX) {
        pvmi_log(PVMI_LOG_ERROR, "an in-place message takes %u pieces at most: pack more at once, or not in place",
                 PVMI_INPLACE_MAX);
        return PVMI_ELIMIT;
    }
    if (!m->inplace_capacity) {
        m->inplace = &m->segment;
        m->inplace_capacity = 1;
        return 0;
    }
    unsigned capacity = m->inplace_capacity > 1 ? 2 * m->inplace_capacity : SEGMENTS_FIRST_COUNT;
    struct iovec *bigger = realloc(m->inplace_capacity > 1 ? m->inplace : NULL, capacity * sizeof *bigger);
    if (!bigger)
        return PVMI_ENOMEM;
    if (m->inplace_capacity == 1)
        bigger[0] = m->segment;
    m->inplace = bigger;
    m->inplace_capacity = capacity;
    return 0;
}

static int pack_inplace(struct pvmi_message *m, const void *data, size_t length)
{
    struct iovec *last = m->inplace_count ? &m->inplace[m->inplace_count - 1] : NULL;
    if (last && (const uint8_t *)last->iov_base + last->iov_len == data) {
        last->iov_len += length;
    } else {
        int status = m->inplace_count == m->inplace_capacity ? grow_segments(m) : 0;
        if (status)
            return status;
        m->inplace[m->inplace_count++] = (struct iovec){.iov_base = (void *)data, .iov_len = length};
    }
    m->inplace_length += length;
    return 0;
}

/* Into a message of another machine's format. */
static int pack_foreign(struct pvmi_message *m, int type, const uint8_t *data, int n, int stride, size_t item)
{
    uint64_t start = m->length;
    size_t own_item = own_item_bytes[type];
    uint8_t *to = pvmi_message_room(m, (size_t)n * item);
    int status = to ? 0 : PVMI_ENOMEM;
    for (int i = 0; i < n && !status; i++, data += step_bytes(stride, own_item), to += item)
        status = pvmi_convert_to(type, pvmi_dsig_own(), data, m->dsig, to, 1, 1);
    if (status)
        m->length = start;
    return status;
}

int pvmi_message_pack(struct pvmi_message *m, int type, const void *data, int n, int stride)
{
    size_t item = item_bytes(m, type);
    if (n < 0 || !item || (n && !data))
        return PVMI_EPARAM;
    if (pvmi_message_is_inplace(m) && stride != 1)
        return PVMI_EUNSUPPORTED;
    if (!n)
        return 0;
    if (pvmi_message_is_inplace(m))
        return pack_inplace(m, data, (size_t)n * item);
    if (m->dsig != pvmi_dsig_own())
        return pack_foreign(m, type, data, n, stride, item);
    uint8_t *to = pvmi_message_room(m, (size_t)n * item);
    if (!to)
        return PVMI_ENOMEM;
    if (stride == 1)
        pvmi_copy(to, data, (size_t)n * item);
    else
        copy_items(to, (ptrdiff_t)item, data, step_bytes(stride, item), n, item);
    return 0;
}

int pvmi_message_pack_bytes(struct pvmi_message *m, const void *data, size_t length)
{
    if (pvmi_message_is_inplace(m))
        return PVMI_EUNSUPPORTED;
    uint8_t *to = length ? pvmi_message_room(m, length) : NULL;
    if (length && !to)
        return PVMI_ENOMEM;
    if (length)
        pvmi_copy(to, data, length);
    return 0;
}

int pvmi_message_pack_string(struct pvmi_message *m, const char *text)
{
    if (!text)
        return PVMI_EPARAM;
    if (pvmi_message_is_inplace(m))
        return PVMI_EUNSUPPORTED;
    size_t length = strlen(text) + 1;
    if (length > INT_MAX)
        return PVMI_ELIMIT;
    int told = (int)length;
    size_t prefix = pvmi_type_bytes(PVM_INT, m->dsig);
    uint8_t *to = pvmi_message_room(m, prefix + length);
    if (!to)
        return PVMI_ENOMEM;
    int status = pvmi_convert_to(PVM_INT, pvmi_dsig_own(), &told, m->dsig, to, 1, 1);
    if (status)
        m->length -= prefix + length;
    else
        memcpy(to + prefix, text, length);
    return status;
}

uint8_t *pvmi_message_reserve(struct pvmi_message *m, size_t length)
{
    return pvmi_message_is_inplace(m) ? NULL : pvmi_message_room(m, length);
}

/* ---- unpacking ---- */

/* An in-place message that its own sender unpacks gets a body: its data as of now. */
static int copy_inplace(struct pvmi_message *m)
{
    struct pvmi_mem *body = m->inplace_length <= SIZE_MAX ? pvmi_mem_new(m->inplace_length) : NULL;
    if (!body)
        return PVMI_ENOMEM;
    size_t done = 0;
    for (unsigned i = 0; i < m->inplace_count; i++) {
        memcpy(body->data + done, m->inplace[i].iov_base, m->inplace[i].iov_len);
        done += m->inplace[i].iov_len;
    }
    pvmi_mem_unref(m->mem);
    m->mem = body;
    m->length = m->inplace_length;
    return 0;
}

static inline int open_body(struct pvmi_message *m)
{
    return pvmi_message_is_inplace(m) && m->length != m->inplace_length ? copy_inplace(m) : 0;
}

/* The next `length` bytes, already counted as taken; NULL, and position at the end, if there are fewer. */
static inline const uint8_t *take(struct pvmi_message *m, uint64_t length)
{
    if (length > m->length - m->position) {
        m->position = m->length;
        return NULL;
    }
    const uint8_t *at = m->mem->data + m->position;
    m->position += length;
    return at;
}

int pvmi_message_unpack(struct pvmi_message *m, int type, void *data, int n, int stride)
{
    size_t item = item_bytes(m, type);
    if (n < 0 || !item || (n && !data))
        return PVMI_EPARAM;
    bool like = m->dsig == pvmi_dsig_own() || type == PVM_BYTE;
    if (!like && !pvmi_dsig_valid(m->dsig))
        return PVMI_EFORMAT;
    int status = open_body(m);
    if (status || !n)
        return status;
    const uint8_t *from = take(m, (uint64_t)n * item);
    if (!from)
        return PVMI_ESHORT;
    if (!like)
        return pvmi_convert(type, m->dsig, from, data, (size_t)n, stride);
    if (stride == 1)
        pvmi_copy(data, from, (size_t)n * item);
    else
        copy_items(data, step_bytes(stride, item), from, (ptrdiff_t)item, n, item);
    return 0;
}

/* The string at the position and the bytes its length takes; position stays. A count of bytes, or an error. */
static int64_t peek_string(struct pvmi_message *m, const uint8_t **text, size_t *prefix)
{
    int status = open_body(m), length;
    if (status)
        return status;
    *prefix = pvmi_type_bytes(PVM_INT, m->dsig);
    uint64_t left = m->length - m->position;
    if (left < *prefix)
        return PVMI_ESHORT;
    const uint8_t *at = m->mem->data + m->position;
    status = pvmi_convert(PVM_INT, m->dsig, at, &length, 1, 1);
    if (status || length <= 0)
        return PVMI_EFORMAT;
    if ((uint64_t)length > left - *prefix)
        return PVMI_ESHORT;
    *text = at + *prefix;
    return (*text)[length - 1] ? PVMI_EFORMAT : length;
}

int64_t pvmi_message_string_bytes(struct pvmi_message *m)
{
    const uint8_t *text;
    size_t prefix;
    return peek_string(m, &text, &prefix);
}

int pvmi_message_unpack_string(struct pvmi_message *m, char *text, size_t size)
{
    const uint8_t *from;
    size_t prefix;
    int64_t length = peek_string(m, &from, &prefix);
    if (length == PVMI_ESHORT)
        m->position = m->length;
    if (length < 0)
        return (int)length;
    if ((uint64_t)length > size)
        return PVMI_ELIMIT;
    memcpy(text, from, (size_t)length - 1);
    text[length - 1] = '\0'; /* not from there: the sender may have written since the look at it */
    m->position += prefix + (uint64_t)length;
    return 0;
}
