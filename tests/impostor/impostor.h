/*
 * impostor.h - the other side of a handshake, played by a process without the key: what it sends before TLS, what it
 * presents in TLS, and how many bytes of payload it gets. It uses OpenSSL directly and accepts any peer.
 */
#ifndef IMPOSTOR_H
#define IMPOSTOR_H

#include <stdbool.h>
#include <stddef.h>
#include "wire/tls.h"

enum impostor_kind {
    SELF_SIGNED,        /* ignores keys and presents its own certificate */
    OTHER_KEY,          /* a key with another name, and a certificate for peers that refuse the key */
    RIGHT_ID_WRONG_KEY, /* the name of the right key with another secret */
    NO_KEY,             /* neither key nor certificate */
    OLD_TLS,            /* TLS 1.2 and a certificate */
    REPLAY,             /* replays what an honest side sent earlier */
    IMPOSTOR_KINDS
};

extern const char *const impostor_names[IMPOSTOR_KINDS];

/* How an impostor answers the caller's nonce. */
enum impostor_proof {
    NO_PROOF,       /* random bytes */
    REFLECTED,      /* the nonce itself */
    REPLAYED_PROOF, /* the proof of an earlier connection */
    RELAYED_PROOF,  /* the right one, which it requested from the side with the key, as a man in the middle can */
    IMPOSTOR_PROOFS
};

struct impostor {
    enum impostor_kind kind;
    enum impostor_proof proof; /* for the called side */
    struct pvmw_tls_key key;   /* the honest side's: for the proof that a relay would get, and for its id */
    const uint8_t *greeting;   /* sent in TLS, if the honest side expects anything */
    size_t greeting_bytes;
};

/*
 * Plays the called or the calling side on a connected socket, until the other side closes it or 5 s have passed.
 * Returns the number of payload bytes that it received in plain text.
 */
size_t impostor_is_called(const struct impostor *i, int fd);
size_t impostor_calls(const struct impostor *i, int fd);

/* The same from TLS on, after the bytes that precede it. */
size_t impostor_talks_tls(const struct impostor *i, int fd, bool calls);

/* The same in a separate process; closes fd here. The result can be fetched once. */
struct impostor_process {
    int pid, result;
};

struct impostor_process impostor_start(const struct impostor *i, int fd, bool calls);
size_t impostor_payload(const struct impostor_process *p);

#endif
