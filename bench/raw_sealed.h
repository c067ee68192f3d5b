/*
 * raw_sealed.h - what encryption costs a plain program: records of 16 KiB by AES-128-GCM, encrypted straight from the
 * user's buffer and decrypted straight into the peer's. It is no protocol: both ends know a fixed key.
 */
#ifndef RAW_SEALED_H
#define RAW_SEALED_H

#include <stdbool.h>
#include <stddef.h>

struct sealed;

/* One end of a connection. With `spin` it polls. */
struct sealed *sealed_new(int fd, bool spin);
void sealed_free(struct sealed *s);

/* One message; false at the end of the stream. */
bool sealed_send(struct sealed *s, const char *data, size_t bytes);
bool sealed_receive(struct sealed *s, char *data, size_t bytes);

#endif
