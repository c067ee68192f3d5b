/*
 * raw_way.h - ways of a plain program to move messages over a TCP connection, beside send() and recv(). Each is a file
 * of its own.
 */
#ifndef RAW_WAY_H
#define RAW_WAY_H

#include <stdbool.h>
#include <stddef.h>

struct raw_way {
    const char *name;

    /* Of one end of a connection. With `spin` it polls. Ends the program if the machine cannot do this. */
    void *(*open)(int fd, bool spin);
    void (*close)(void *state);

    /* One message; false at the end of the stream. `receive` NULL: as without a way. */
    bool (*send)(void *state, const char *data, size_t bytes);
    bool (*receive)(void *state, char *data, size_t bytes);
};

/*
 * What encryption costs: records of 16 KiB by AES-128-GCM, encrypted straight from the user's buffer and decrypted
 * straight into the peer's, over Reno, as dpvm's links within a host. It is no protocol: both ends know a fixed key.
 */
extern const struct raw_way raw_sealed;

/* MSG_ZEROCOPY: the kernel takes the pages themselves and tells when it has read them, which the sender waits for. */
extern const struct raw_way raw_zerocopy;

/* io_uring: one request for each send() and recv(). Only where liburing is (HAVE_LIBURING). */
extern const struct raw_way raw_uring;

#endif
