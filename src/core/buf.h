/*
 * buf.h - the checked buffer: every byte that comes from outside is read through it, every control message written into
 * it. Integers are little-endian. A read past the end or a write past the maximum sets a sticky error and yields zeros,
 * so a parser reads all its fields and asks once, with pvmi_buf_error().
 */
#ifndef PVMI_BUF_H
#define PVMI_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMI_BUF_MAX ((size_t)64 << 20) /* bytes in one control message */

struct pvmi_buf {
    uint8_t *data;
    size_t length;   /* bytes written */
    size_t position; /* next byte to read */
    size_t capacity; /* 0: data belongs to somebody else and is only read */
    int error;       /* 0 or the first PVMI_E code met */
};

/* Empty buffer to write to; free it with pvmi_buf_free(). */
void pvmi_buf_init(struct pvmi_buf *b);

/* Reads `length` bytes at `data`, which stay the caller's and must outlive the reading. */
void pvmi_buf_view(struct pvmi_buf *b, const void *data, size_t length);

void pvmi_buf_free(struct pvmi_buf *b);

/* 0, or the first error: PVMI_ESHORT (read past the end), PVMI_ELIMIT, PVMI_ENOMEM, PVMI_EFORMAT. */
int pvmi_buf_error(const struct pvmi_buf *b);

/* Bytes not read yet. */
size_t pvmi_buf_left(const struct pvmi_buf *b);

/* As pvmi_buf_error(), and PVMI_EFORMAT if bytes are left: the end of a parser. */
int pvmi_buf_end(const struct pvmi_buf *b);

void pvmi_buf_put_u8(struct pvmi_buf *b, uint8_t v);
void pvmi_buf_put_u16(struct pvmi_buf *b, uint16_t v);
void pvmi_buf_put_u32(struct pvmi_buf *b, uint32_t v);
void pvmi_buf_put_i32(struct pvmi_buf *b, int32_t v);
void pvmi_buf_put_u64(struct pvmi_buf *b, uint64_t v);
void pvmi_buf_put_bytes(struct pvmi_buf *b, const void *data, size_t length); /* bytes alone */
void pvmi_buf_put_blob(struct pvmi_buf *b, const void *data, size_t length);  /* u32 length, bytes */
void pvmi_buf_put_string(struct pvmi_buf *b, const char *text);               /* a blob; NULL is "" */

uint8_t pvmi_buf_get_u8(struct pvmi_buf *b);
uint16_t pvmi_buf_get_u16(struct pvmi_buf *b);
uint32_t pvmi_buf_get_u32(struct pvmi_buf *b);
int32_t pvmi_buf_get_i32(struct pvmi_buf *b);
uint64_t pvmi_buf_get_u64(struct pvmi_buf *b);

/* The next `length` bytes in place, valid while the buffer's memory is; NULL on error. */
const uint8_t *pvmi_buf_get_bytes(struct pvmi_buf *b, size_t length);

/* A blob in place; *length is 0 and the result NULL on error. */
const uint8_t *pvmi_buf_get_blob(struct pvmi_buf *b, size_t *length);

/* A string as a new NUL-terminated copy that the caller frees; NULL on error, or if it holds a NUL byte (EFORMAT). */
char *pvmi_buf_get_string(struct pvmi_buf *b);

/* A string copied to text[size]; longer ones are an error (PVMI_ELIMIT) and give "". */
void pvmi_buf_get_string_to(struct pvmi_buf *b, char *text, size_t size);

#endif
