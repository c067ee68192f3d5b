/*
 * secrecy.h - which links are encrypted, as the user has set it. Between hosts they are, unless both sides trust the
 * network that the link crosses; within a host they are not, unless PVM_TCP_TLS=1 asks for it.
 */
#ifndef PVMT_TCP_SECRECY_H
#define PVMT_TCP_SECRECY_H

#include "wire/address.h"

#define PVMT_TCP_TRUSTED_MAX 16 /* networks in PVM_TCP_PLAIN */

/* PVM_TCP_TLS; the numbers are those of an offer. */
enum pvmt_tcp_tls_mode { PVMT_TCP_TLS_OFF, PVMT_TCP_TLS_ALWAYS, PVMT_TCP_TLS_AUTO, PVMT_TCP_TLS_MODES };

struct pvmt_tcp_network {
    union pvmw_address address;
    unsigned prefix; /* bits of it that count */
};

struct pvmt_tcp_secrecy {
    enum pvmt_tcp_tls_mode mode;
    unsigned count;
    struct pvmt_tcp_network trusted[PVMT_TCP_TRUSTED_MAX];
};

/* Reads PVM_TCP_TLS and PVM_TCP_PLAIN: 0, or PVMC_EPARAM with the reason in why[size]. */
int pvmt_tcp_secrecy_read(struct pvmt_tcp_secrecy *s, char *why, size_t size);

/* Whether the address is in a network that the user trusts. */
bool pvmt_tcp_secrecy_trusts(const struct pvmt_tcp_secrecy *s, const union pvmw_address *a);

/* Whether a link must be encrypted when one side has `a` set and the other `b`; `open`: one host, or both trust. */
bool pvmt_tcp_must_encrypt(enum pvmt_tcp_tls_mode a, enum pvmt_tcp_tls_mode b, bool open);

/* What becomes of links, for pvm-info. */
const char *pvmt_tcp_secrecy_text(const struct pvmt_tcp_secrecy *s);

/* As the user would write it: "auto". */
const char *pvmt_tcp_tls_mode_text(enum pvmt_tcp_tls_mode mode);

#endif
