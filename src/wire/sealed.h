/*
 * sealed.h - encrypted bytes between TLS and the socket. OpenSSL writes its records into one buffer that all
 * connections share, so that one system call sends many records. The connection keeps what the socket does not accept
 * as its backlog.
 */
#ifndef PVMW_SEALED_H
#define PVMW_SEALED_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PVMW_SEALED_RECORD_BYTES (16384u + 512u) /* upper bound of one encrypted record */

struct pvmw_backlog {
    uint8_t *bytes; /* NULL: nothing waits */
    size_t length, done;
};

/* Makes the kind of BIO that writes to the shared buffer; false: no memory. */
bool pvmw_sealed_start(void);
void pvmw_sealed_stop(void);

/* A new BIO of that kind; NULL: no memory. */
BIO *pvmw_sealed_bio(void);

/*
 * Whether the shared buffer must be sent before another record: it lacks room for two, or holds two and is the first of
 * a burst, so that the peer begins to decrypt early.
 */
bool pvmw_sealed_is_full(void);

/*
 * Empties the shared buffer into the socket, behind the backlog. `last`: the next record begins another burst. 0, or
 * the errno that ended the connection.
 */
int pvmw_sealed_send(int fd, struct pvmw_backlog *b, bool last);

/* Forgets what the shared buffer holds. */
void pvmw_sealed_drop(void);

/* Sends the backlog. 0, or the errno that ended the connection. */
int pvmw_backlog_send(int fd, struct pvmw_backlog *b);

void pvmw_backlog_free(struct pvmw_backlog *b);

#endif
