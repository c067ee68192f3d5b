/*
 * protobuf.h - writes messages in the wire format of Protocol Buffers: as much of it as perfetto.c needs.
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* Bytes being written; zero at first, freed with free(bytes). All functions end the program when out of memory. */
struct protobuf {
    uint8_t *bytes;
    size_t used;
};

void protobuf_uint(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_int(struct protobuf *p, unsigned field, int64_t value); /* int32, int64: not zigzag */
void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_double(struct protobuf *p, unsigned field, double value);

/* A string must be UTF-8: in any other text, all that is not printable ASCII becomes '?'. */
void protobuf_text(struct protobuf *p, unsigned field, const char *text);

/* Begins a message within the message; protobuf_end() gets the result, innermost first. */
size_t protobuf_begin(struct protobuf *p, unsigned field);
void protobuf_end(struct protobuf *p, size_t begun);

#endif
