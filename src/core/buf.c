/* buf.c - the checked buffer. Only room() and take() decide about bounds; everything else goes through them. */
#include "buf.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"

#define FIRST_CAPACITY 128

static uint8_t nothing[1]; /* where zero bytes are read from, so that NULL always means an error */

void pvmi_buf_init(struct pvmi_buf *b)
{
    *b = (struct pvmi_buf){0};
}

void pvmi_buf_view(struct pvmi_buf *b, const void *data, size_t length)
{
    *b = (struct pvmi_buf){.data = data ? (uint8_t *)data : nothing, .length = length};
}

void pvmi_buf_free(struct pvmi_buf *b)
{
    if (b->capacity)
        free(b->data);
    pvmi_buf_init(b);
}

int pvmi_buf_error(const struct pvmi_buf *b)
{
    return b->error;
}

size_t pvmi_buf_left(const struct pvmi_buf *b)
{
    return b->error ? 0 : b->length - b->position;
}

int pvmi_buf_end(const struct pvmi_buf *b)
{
    return !b->error && b->position < b->length ? PVMI_EFORMAT : b->error;
}

static void fail(struct pvmi_buf *b, int error)
{
    if (!b->error)
        b->error = error;
}

/* Makes the capacity at least `need`; 0 or the error that sticks from now on. */
static int grow(struct pvmi_buf *b, size_t need)
{
    size_t capacity = b->capacity ? b->capacity * 2 : FIRST_CAPACITY;
    if (capacity < need)
        capacity = need;
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        fail(b, PVMI_ENOMEM);
        return b->error;
    }
    b->data = data;
    b->capacity = capacity;
    return 0;
}

/* Where `length` bytes may be written, already counted in; NULL on error. */
static uint8_t *room(struct pvmi_buf *b, size_t length)
{
    if (!b->capacity && b->data)
        fail(b, PVMI_EPARAM);
    else if (length > PVMI_BUF_MAX - b->length)
        fail(b, PVMI_ELIMIT);
    if (b->error)
        return NULL;
    if (b->capacity - b->length < length && grow(b, b->length + length))
        return NULL;
    uint8_t *at = b->data + b->length;
    b->length += length;
    return at;
}

/* The next `length` bytes, already counted as read; NULL on error. */
static const uint8_t *take(struct pvmi_buf *b, size_t length)
{
    if (length > b->length - b->position)
        fail(b, PVMI_ESHORT);
    if (b->error)
        return NULL;
    const uint8_t *at = b->data ? b->data + b->position : nothing;
    b->position += length;
    return at;
}

void pvmi_buf_put_bytes(struct pvmi_buf *b, const void *data, size_t length)
{
    if (!length)
        return;
    uint8_t *to = room(b, length);
    if (to)
        memcpy(to, data, length);
}

void pvmi_buf_put_u8(struct pvmi_buf *b, uint8_t v)
{
    pvmi_buf_put_bytes(b, &v, sizeof v);
}

void pvmi_buf_put_u16(struct pvmi_buf *b, uint16_t v)
{
    v = htole16(v);
    pvmi_buf_put_bytes(b, &v, sizeof v);
}

void pvmi_buf_put_u32(struct pvmi_buf *b, uint32_t v)
{
    v = htole32(v);
    pvmi_buf_put_bytes(b, &v, sizeof v);
}

void pvmi_buf_put_i32(struct pvmi_buf *b, int32_t v)
{
    pvmi_buf_put_u32(b, (uint32_t)v);
}

void pvmi_buf_put_u64(struct pvmi_buf *b, uint64_t v)
{
    v = htole64(v);
    pvmi_buf_put_bytes(b, &v, sizeof v);
}

void pvmi_buf_put_blob(struct pvmi_buf *b, const void *data, size_t length)
{
    if (length > PVMI_BUF_MAX) {
        fail(b, PVMI_ELIMIT);
        return;
    }
    pvmi_buf_put_u32(b, (uint32_t)length);
    pvmi_buf_put_bytes(b, data, length);
}

void pvmi_buf_put_string(struct pvmi_buf *b, const char *text)
{
    pvmi_buf_put_blob(b, text, text ? strlen(text) : 0);
}

uint8_t pvmi_buf_get_u8(struct pvmi_buf *b)
{
    const uint8_t *from = take(b, 1);
    return from ? *from : 0;
}

uint16_t pvmi_buf_get_u16(struct pvmi_buf *b)
{
    uint16_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le16toh(v);
}

uint32_t pvmi_buf_get_u32(struct pvmi_buf *b)
{
    uint32_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le32toh(v);
}

int32_t pvmi_buf_get_i32(struct pvmi_buf *b)
{
    return (int32_t)pvmi_buf_get_u32(b);
}

uint64_t pvmi_buf_get_u64(struct pvmi_buf *b)
{
    uint64_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le64toh(v);
}

const uint8_t *pvmi_buf_get_bytes(struct pvmi_buf *b, size_t length)
{
    return take(b, length);
}

const uint8_t *pvmi_buf_get_blob(struct pvmi_buf *b, size_t *length)
{
    size_t told = pvmi_buf_get_u32(b);
    const uint8_t *from = take(b, told);
    *length = from ? told : 0;
    return from;
}

/* Copies a string's bytes, and then looks for NULs: where it comes from somebody may still be writing. */
static bool copy_text(struct pvmi_buf *b, char *text, const uint8_t *from, size_t length)
{
    memcpy(text, from, length);
    text[length] = '\0';
    if (strlen(text) == length)
        return true;
    fail(b, PVMI_EFORMAT);
    return false;
}

char *pvmi_buf_get_string(struct pvmi_buf *b)
{
    size_t length;
    const uint8_t *from = pvmi_buf_get_blob(b, &length);
    if (!from)
        return NULL;
    char *text = malloc(length + 1);
    if (!text)
        fail(b, PVMI_ENOMEM);
    if (text && copy_text(b, text, from, length))
        return text;
    free(text);
    return NULL;
}

void pvmi_buf_get_string_to(struct pvmi_buf *b, char *text, size_t size)
{
    size_t length;
    const uint8_t *from = pvmi_buf_get_blob(b, &length);
    if (from && length >= size)
        fail(b, PVMI_ELIMIT);
    if (!from || length >= size || !copy_text(b, text, from, length))
        text[0] = '\0';
}
