/* pack.c - packs values into message bodies and unpacks them. Between like machines this only copies. */
#include "message.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"

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

size_t pvmc_type_own_bytes(int type)
{
    return type >= 0 && type <= PVM_ULONG ? own_item_bytes[type] : 0;
}

/* Bytes of one item in the message's format; 0 for unknown types. */
static size_t item_bytes(const struct pvmc_message *m, int type)
{
    return m->dsig == pvmc_dsig_own() ? pvmc_type_own_bytes(type) : pvmc_type_bytes(type, m->dsig);
}

/* ---- copying with strides ---- */

static inline void copy_sized(uint8_t *out, ptrdiff_t out_step, const uint8_t *in, ptrdiff_t in_step, int n,
                              size_t item)
{
    for (int i = 0; i < n; i++, out += out_step, in += in_step)
        memcpy(out, in, item);
}

/* Copies n items of `item` bytes with a step on each side. Constant sizes make each loop body a single move. */
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

/* Makes the body's memory unshared (frames may still refer to it) and at least length + more bytes. */
static int grow(struct pvmc_message *m, size_t more)
{
    if (more > SIZE_MAX / 4 || m->length > SIZE_MAX / 4)
        return PVMC_ENOMEM;
    size_t need = m->length + more, have = m->mem ? m->mem->capacity : 0, capacity = have;
    if (need > have)
        capacity = need > 2 * have ? need : 2 * have;
    if (!m->mem) {
        m->mem = pvmc_mem_new(capacity > BODY_FIRST_BYTES ? capacity : BODY_FIRST_BYTES);
        return m->mem ? 0 : PVMC_ENOMEM;
    }
    if (!pvmc_mem_grow(&m->mem, m->length, capacity))
        return 0;
    return pvmc_mem_grow(&m->mem, m->length, need);
}

uint8_t *pvmc_message_grow(struct pvmc_message *m, size_t length)
{
    if (grow(m, length))
        return NULL;
    m->length += length;
    return m->mem->data + m->length - length;
}

static int grow_segments(struct pvmc_message *m)
{
    if (m->inplace_count == PVMC_INPLACE_MAX) {
        pvmc_log(PVMC_LOG_ERROR,
                 "an in-place message has at most %u pieces: pack larger pieces, or do not pack in place",
                 PVMC_INPLACE_MAX);
        return PVMC_ELIMIT;
    }
    if (!m->inplace_capacity) {
        m->inplace = &m->segment;
        m->inplace_capacity = 1;
        return 0;
    }
    unsigned capacity = m->inplace_capacity > 1 ? 2 * m->inplace_capacity : SEGMENTS_FIRST_COUNT;
    struct iovec *bigger = realloc(m->inplace_capacity > 1 ? m->inplace : NULL, capacity * sizeof *bigger);
    if (!bigger)
        return PVMC_ENOMEM;
    if (m->inplace_capacity == 1)
        bigger[0] = m->segment;
    m->inplace = bigger;
    m->inplace_capacity = capacity;
    return 0;
}

static int pack_inplace(struct pvmc_message *m, const void *data, size_t length)
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

/* Packs into a message that has another machine's format. */
static int pack_foreign(struct pvmc_message *m, int type, const uint8_t *data, int n, int stride, size_t item)
{
    uint64_t start = m->length;
    size_t own_item = own_item_bytes[type];
    uint8_t *to = pvmc_message_room(m, (size_t)n * item);
    int status = to ? 0 : PVMC_ENOMEM;
    for (int i = 0; i < n && !status; i++, data += step_bytes(stride, own_item), to += item)
        status = pvmc_convert_to(type, pvmc_dsig_own(), data, m->dsig, to, 1, 1);
    if (status)
        m->length = start;
    return status;
}

int pvmc_message_pack(struct pvmc_message *m, int type, const void *data, int n, int stride)
{
    size_t item = item_bytes(m, type);
    if (n < 0 || !item || (n && !data))
        return PVMC_EPARAM;
    if (pvmc_message_is_inplace(m) && stride != 1)
        return PVMC_EUNSUPPORTED;
    if (!n)
        return 0;
    m->items |= (unsigned)item;
    if (pvmc_message_is_inplace(m))
        return pack_inplace(m, data, (size_t)n * item);
    if (m->dsig != pvmc_dsig_own())
        return pack_foreign(m, type, data, n, stride, item);
    uint8_t *to = pvmc_message_room(m, (size_t)n * item);
    if (!to)
        return PVMC_ENOMEM;
    if (stride == 1)
        pvmc_copy_in(to, data, (size_t)n * item);
    else
        copy_items(to, (ptrdiff_t)item, data, step_bytes(stride, item), n, item);
    return 0;
}

int pvmc_message_pack_bytes(struct pvmc_message *m, const void *data, size_t length)
{
    if (pvmc_message_is_inplace(m))
        return PVMC_EUNSUPPORTED;
    uint8_t *to = length ? pvmc_message_room(m, length) : NULL;
    if (length && !to)
        return PVMC_ENOMEM;
    if (length)
        pvmc_copy_in(to, data, length);
    m->items |= 1; /* nobody knows what they are */
    return 0;
}

int pvmc_message_pack_string(struct pvmc_message *m, const char *text)
{
    if (!text)
        return PVMC_EPARAM;
    if (pvmc_message_is_inplace(m))
        return PVMC_EUNSUPPORTED;
    size_t length = strlen(text) + 1;
    if (length > INT_MAX)
        return PVMC_ELIMIT;
    int told = (int)length;
    size_t prefix = pvmc_type_bytes(PVM_INT, m->dsig);
    uint8_t *to = pvmc_message_room(m, prefix + length);
    if (!to)
        return PVMC_ENOMEM;
    int status = pvmc_convert_to(PVM_INT, pvmc_dsig_own(), &told, m->dsig, to, 1, 1);
    m->items |= 1;
    if (status)
        m->length -= prefix + length;
    else
        memcpy(to + prefix, text, length);
    return status;
}

/* ---- unpacking ---- */

/* Gives an in-place message that its own sender unpacks a body: a copy of its current data. */
static int copy_inplace(struct pvmc_message *m)
{
    struct pvmc_mem *body = m->inplace_length <= SIZE_MAX ? pvmc_mem_new(m->inplace_length) : NULL;
    if (!body)
        return PVMC_ENOMEM;
    size_t done = 0;
    for (unsigned i = 0; i < m->inplace_count; i++) {
        memcpy(body->data + done, m->inplace[i].iov_base, m->inplace[i].iov_len);
        done += m->inplace[i].iov_len;
    }
    pvmc_mem_unref(m->mem);
    m->mem = body;
    m->length = m->inplace_length;
    return 0;
}

static inline int open_body(struct pvmc_message *m)
{
    return pvmc_message_is_inplace(m) && m->length != m->inplace_length ? copy_inplace(m) : 0;
}

/* Consumes the next `length` bytes and returns their address; NULL, with the position at the end, if there are fewer.
 */
static inline const uint8_t *take(struct pvmc_message *m, uint64_t length)
{
    if (length > m->length - m->position) {
        m->position = m->length;
        return NULL;
    }
    const uint8_t *at = m->mem->data + m->position;
    m->position += length;
    return at;
}

int pvmc_message_unpack(struct pvmc_message *m, int type, void *data, int n, int stride)
{
    size_t item = item_bytes(m, type);
    if (n < 0 || !item || (n && !data))
        return PVMC_EPARAM;
    bool like = m->dsig == pvmc_dsig_own() || type == PVM_BYTE;
    if (!like && !pvmc_dsig_valid(m->dsig))
        return PVMC_EFORMAT;
    int status = open_body(m);
    if (status || !n)
        return status;
    const uint8_t *from = take(m, (uint64_t)n * item);
    if (!from)
        return PVMC_ESHORT;
    if (!like)
        return pvmc_convert(type, m->dsig, from, data, (size_t)n, stride);
    if (stride == 1)
        pvmc_copy(data, from, (size_t)n * item);
    else
        copy_items(data, step_bytes(stride, item), from, (ptrdiff_t)item, n, item);
    return 0;
}

/* Whether nobody else reads the body's memory, so that the holder of a view may even write there. */
static bool is_ours_alone(const struct pvmc_message *m, const struct pvmc_mem *held)
{
    bool is_private = m->mem && !m->mem->release && !pvmc_message_is_inplace(m);
    return is_private && (held ? m->mem == held : m->mem->refs == 1);
}

struct pvmc_mem *pvmc_message_view(struct pvmc_message *m, struct pvmc_mem *held, int type, int n, void **at)
{
    size_t item = pvmc_type_own_bytes(type), alignment = item > sizeof(long) ? sizeof(long) : item;
    bool like = m->dsig == pvmc_dsig_own() || type == PVM_BYTE;
    if (n < 1 || !item || !like || !is_ours_alone(m, held) || (uint64_t)n * item > m->length - m->position ||
        (uintptr_t)(m->mem->data + m->position) % alignment)
        return NULL;
    *at = (void *)take(m, (uint64_t)n * item);
    return held ? held : pvmc_mem_ref(m->mem);
}

/* Finds the string at the position, which does not move, and the size of its length prefix. Returns the string's bytes
 * with its NUL, or an error. */
static int64_t peek_string(struct pvmc_message *m, const uint8_t **text, size_t *prefix)
{
    int status = open_body(m), length;
    if (status)
        return status;
    *prefix = pvmc_type_bytes(PVM_INT, m->dsig);
    uint64_t left = m->length - m->position;
    if (left < *prefix)
        return PVMC_ESHORT;
    const uint8_t *at = m->mem->data + m->position;
    status = pvmc_convert(PVM_INT, m->dsig, at, &length, 1, 1);
    if (status || length <= 0)
        return PVMC_EFORMAT;
    if ((uint64_t)length > left - *prefix)
        return PVMC_ESHORT;
    *text = at + *prefix;
    return (*text)[length - 1] ? PVMC_EFORMAT : length;
}

int64_t pvmc_message_string_bytes(struct pvmc_message *m)
{
    const uint8_t *text;
    size_t prefix;
    return peek_string(m, &text, &prefix);
}

int pvmc_message_unpack_string(struct pvmc_message *m, char *text, size_t size)
{
    const uint8_t *from = NULL; /* gcc -O3 does not see that errors are negative */
    size_t prefix = 0;
    int64_t length = peek_string(m, &from, &prefix);
    if (length == PVMC_ESHORT)
        m->position = m->length;
    if (length < 0)
        return (int)length;
    if ((uint64_t)length > size)
        return PVMC_ELIMIT;
    memcpy(text, from, (size_t)length - 1);
    text[length - 1] = '\0'; /* not copied: the sender may have overwritten it since it was checked */
    m->position += prefix + (uint64_t)length;
    return 0;
}
