/*
 * buf.h - the checked buffer. All foreign bytes are read through it and all control messages are written into it.
 * Integers are little-endian. A read past the end or a write past the maximum sets a sticky error and yields zeros, so
 * a parser reads all its fields and then calls pvmc_buf_error() once.
 */
#ifndef PVMC_BUF_H
#define PVMC_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMC_BUF_MAX ((size_t)64 << 20) /* bytes, of one control message */

struct pvmc_buf {
    uint8_t *data;
    size_t length;   /* bytes written */
    size_t position; /* next byte to read */
    size_t capacity; /* 0: data belongs to the caller and is only read */
    int error;       /* 0 or the first PVMC_E code */
};

/* Makes an empty buffer for writing; free it with pvmc_buf_free(). */
void pvmc_buf_init(struct pvmc_buf *b);

/* Makes a buffer that reads `length` bytes at `data`. The caller keeps them and must keep them valid. */
void pvmc_buf_view(struct pvmc_buf *b, const void *data, size_t length);

void pvmc_buf_free(struct pvmc_buf *b);

/* 0, or the first error: PVMC_ESHORT (read past the end), PVMC_ELIMIT, PVMC_ENOMEM, PVMC_EFORMAT. */
int pvmc_buf_error(const struct pvmc_buf *b);

/* Bytes not read yet. */
size_t pvmc_buf_left(const struct pvmc_buf *b);

/* As pvmc_buf_error(), but PVMC_EFORMAT if unread bytes are left. The last call of a parser. */
int pvmc_buf_end(const struct pvmc_buf *b);

void pvmc_buf_put_u8(struct pvmc_buf *b, uint8_t v);
void pvmc_buf_put_u16(struct pvmc_buf *b, uint16_t v);
void pvmc_buf_put_u32(struct pvmc_buf *b, uint32_t v);
void pvmc_buf_put_i32(struct pvmc_buf *b, int32_t v);
void pvmc_buf_put_u64(struct pvmc_buf *b, uint64_t v);
void pvmc_buf_put_bytes(struct pvmc_buf *b, const void *data, size_t length); /* without a length */
void pvmc_buf_put_blob(struct pvmc_buf *b, const void *data, size_t length);  /* u32 length, bytes */
void pvmc_buf_put_string(struct pvmc_buf *b, const char *text);               /* a blob; NULL is "" */

uint8_t pvmc_buf_get_u8(struct pvmc_buf *b);
uint16_t pvmc_buf_get_u16(struct pvmc_buf *b);
uint32_t pvmc_buf_get_u32(struct pvmc_buf *b);
int32_t pvmc_buf_get_i32(struct pvmc_buf *b);
uint64_t pvmc_buf_get_u64(struct pvmc_buf *b);

/* The next `length` bytes, in place: valid as long as the buffer's memory. NULL on error. */
const uint8_t *pvmc_buf_get_bytes(struct pvmc_buf *b, size_t length);

/* The next blob, in place. On error *length is 0 and the result is NULL. */
const uint8_t *pvmc_buf_get_blob(struct pvmc_buf *b, size_t *length);

/* Copies the next `length` bytes; on error `to` stays as it is. */
void pvmc_buf_get_bytes_to(struct pvmc_buf *b, void *to, size_t length);

/* The next string as a NUL-terminated copy that the caller frees; NULL on error. A NUL byte inside it is PVMC_EFORMAT.
 */
char *pvmc_buf_get_string(struct pvmc_buf *b);

/* Copies the next string to text[size]. On error text is ""; a string that does not fit is PVMC_ELIMIT. */
void pvmc_buf_get_string_to(struct pvmc_buf *b, char *text, size_t size);

#endif
