/* buf.c - the checked buffer. Only room() and take() check bounds; everything else goes through them. */
#include "buf.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"

#define FIRST_CAPACITY 128

static uint8_t nothing[1]; /* the address that a read of zero bytes returns, so that NULL always means an error */

void pvmc_buf_init(struct pvmc_buf *b)
{
    *b = (struct pvmc_buf){0};
}

void pvmc_buf_view(struct pvmc_buf *b, const void *data, size_t length)
{
    *b = (struct pvmc_buf){.data = data ? (uint8_t *)data : nothing, .length = length};
}

void pvmc_buf_free(struct pvmc_buf *b)
{
    if (b->capacity)
        free(b->data);
    pvmc_buf_init(b);
}

int pvmc_buf_error(const struct pvmc_buf *b)
{
    return b->error;
}

size_t pvmc_buf_left(const struct pvmc_buf *b)
{
    return b->error ? 0 : b->length - b->position;
}

int pvmc_buf_end(const struct pvmc_buf *b)
{
    return !b->error && b->position < b->length ? PVMC_EFORMAT : b->error;
}

static void fail(struct pvmc_buf *b, int error)
{
    if (!b->error)
        b->error = error;
}

/* Makes the capacity at least `need`. Returns 0 or the sticky error. */
static int grow(struct pvmc_buf *b, size_t need)
{
    size_t capacity = b->capacity ? b->capacity * 2 : FIRST_CAPACITY;
    if (capacity < need)
        capacity = need;
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        fail(b, PVMC_ENOMEM);
        return b->error;
    }
    b->data = data;
    b->capacity = capacity;
    return 0;
}

/* Appends `length` bytes and returns where to write them; NULL on error. */
static uint8_t *room(struct pvmc_buf *b, size_t length)
{
    if (!b->capacity && b->data)
        fail(b, PVMC_EPARAM);
    else if (length > PVMC_BUF_MAX - b->length)
        fail(b, PVMC_ELIMIT);
    if (b->error)
        return NULL;
    if (b->capacity - b->length < length && grow(b, b->length + length))
        return NULL;
    uint8_t *at = b->data + b->length;
    b->length += length;
    return at;
}

/* Consumes the next `length` bytes and returns their address; NULL on error. */
static const uint8_t *take(struct pvmc_buf *b, size_t length)
{
    if (length > b->length - b->position)
        fail(b, PVMC_ESHORT);
    if (b->error)
        return NULL;
    const uint8_t *at = b->data ? b->data + b->position : nothing;
    b->position += length;
    return at;
}

void pvmc_buf_put_bytes(struct pvmc_buf *b, const void *data, size_t length)
{
    if (!length)
        return;
    uint8_t *to = room(b, length);
    if (to)
        memcpy(to, data, length);
}

void pvmc_buf_put_u8(struct pvmc_buf *b, uint8_t v)
{
    pvmc_buf_put_bytes(b, &v, sizeof v);
}

void pvmc_buf_put_u16(struct pvmc_buf *b, uint16_t v)
{
    v = htole16(v);
    pvmc_buf_put_bytes(b, &v, sizeof v);
}

void pvmc_buf_put_u32(struct pvmc_buf *b, uint32_t v)
{
    v = htole32(v);
    pvmc_buf_put_bytes(b, &v, sizeof v);
}

void pvmc_buf_put_i32(struct pvmc_buf *b, int32_t v)
{
    pvmc_buf_put_u32(b, (uint32_t)v);
}

void pvmc_buf_put_u64(struct pvmc_buf *b, uint64_t v)
{
    v = htole64(v);
    pvmc_buf_put_bytes(b, &v, sizeof v);
}

void pvmc_buf_put_blob(struct pvmc_buf *b, const void *data, size_t length)
{
    if (length > PVMC_BUF_MAX) {
        fail(b, PVMC_ELIMIT);
        return;
    }
    pvmc_buf_put_u32(b, (uint32_t)length);
    pvmc_buf_put_bytes(b, data, length);
}

void pvmc_buf_put_string(struct pvmc_buf *b, const char *text)
{
    pvmc_buf_put_blob(b, text, text ? strlen(text) : 0);
}

uint8_t pvmc_buf_get_u8(struct pvmc_buf *b)
{
    const uint8_t *from = take(b, 1);
    return from ? *from : 0;
}

uint16_t pvmc_buf_get_u16(struct pvmc_buf *b)
{
    uint16_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le16toh(v);
}

uint32_t pvmc_buf_get_u32(struct pvmc_buf *b)
{
    uint32_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le32toh(v);
}

int32_t pvmc_buf_get_i32(struct pvmc_buf *b)
{
    return (int32_t)pvmc_buf_get_u32(b);
}

uint64_t pvmc_buf_get_u64(struct pvmc_buf *b)
{
    uint64_t v = 0;
    const uint8_t *from = take(b, sizeof v);
    if (from)
        memcpy(&v, from, sizeof v);
    return le64toh(v);
}

const uint8_t *pvmc_buf_get_bytes(struct pvmc_buf *b, size_t length)
{
    return take(b, length);
}

const uint8_t *pvmc_buf_get_blob(struct pvmc_buf *b, size_t *length)
{
    size_t told = pvmc_buf_get_u32(b);
    const uint8_t *from = take(b, told);
    *length = from ? told : 0;
    return from;
}

/* Looks for NULs only in the copy: another process may still be writing to the source (shared memory). */
static bool copy_text(struct pvmc_buf *b, char *text, const uint8_t *from, size_t length)
{
    memcpy(text, from, length);
    text[length] = '\0';
    if (strlen(text) == length)
        return true;
    fail(b, PVMC_EFORMAT);
    return false;
}

char *pvmc_buf_get_string(struct pvmc_buf *b)
{
    size_t length;
    const uint8_t *from = pvmc_buf_get_blob(b, &length);
    if (!from)
        return NULL;
    char *text = malloc(length + 1);
    if (!text)
        fail(b, PVMC_ENOMEM);
    if (text && copy_text(b, text, from, length))
        return text;
    free(text);
    return NULL;
}

void pvmc_buf_get_bytes_to(struct pvmc_buf *b, void *to, size_t length)
{
    const uint8_t *from = pvmc_buf_get_bytes(b, length);
    if (from)
        memcpy(to, from, length);
}

void pvmc_buf_get_string_to(struct pvmc_buf *b, char *text, size_t size)
{
    size_t length;
    const uint8_t *from = pvmc_buf_get_blob(b, &length);
    if (from && length >= size)
        fail(b, PVMC_ELIMIT);
    if (!from || length >= size || !copy_text(b, text, from, length))
        text[0] = '\0';
}
