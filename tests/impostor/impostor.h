/*
 * impostor.h - the other side of a handshake, played by somebody without the key: what it says before TLS, what it
 * shows in TLS, and how many bytes of payload it gets. It is made from OpenSSL's own calls, and believes everything.
 */
#ifndef IMPOSTOR_H
#define IMPOSTOR_H

#include <stdbool.h>
#include <stddef.h>
#include "wire/tls.h"

enum impostor_kind {
    SELF_SIGNED,        /* ignores keys and shows a certificate of its own */
    OTHER_KEY,          /* a key of another name, and a certificate for those who do not like it */
    RIGHT_ID_WRONG_KEY, /* the name of the right key, and another secret */
    NO_KEY,             /* neither key nor certificate */
    OLD_TLS,            /* TLS 1.2 and a certificate */
    REPLAY,             /* what an honest side once said, byte by byte */
    IMPOSTOR_KINDS
};

extern const char *const impostor_names[IMPOSTOR_KINDS];

/* How an impostor answers the caller's nonce. */
enum impostor_proof {
    NO_PROOF,       /* random bytes */
    REFLECTED,      /* the nonce itself */
    REPLAYED_PROOF, /* the proof of an earlier connection */
    RELAYED_PROOF,  /* the right one: it asked the side that has the key, as a man in the middle can */
    IMPOSTOR_PROOFS
};

struct impostor {
    enum impostor_kind kind;
    enum impostor_proof proof; /* of one that is called */
    struct pvmw_tls_key key;   /* the honest one: for the proof a relay would get, and for its id */
    const uint8_t *greeting;   /* said in TLS, if there is anything that the honest side waits for */
    size_t greeting_bytes;
};

/*
 * Plays the called or the calling side on a connected socket, until the other side ends it or 5 s are over. Returns the
 * bytes of payload that it got to see.
 */
size_t impostor_is_called(const struct impostor *i, int fd);
size_t impostor_calls(const struct impostor *i, int fd);

/* From TLS on, after what precedes it. */
size_t impostor_talks_tls(const struct impostor *i, int fd, bool calls);

/* The same in a process of its own, which closes fd here. The result is asked for once. */
struct impostor_process {
    int pid, result;
};

struct impostor_process impostor_start(const struct impostor *i, int fd, bool calls);
size_t impostor_payload(const struct impostor_process *p);

#endif
