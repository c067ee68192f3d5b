/*
 * secrecy.h - which links are encrypted, according to the user's settings. Links between hosts are encrypted unless
 * both sides trust the network between them; links within a host only with PVM_TCP_TLS=1.
 */
#ifndef PVMT_TCP_SECRECY_H
#define PVMT_TCP_SECRECY_H

#include "wire/address.h"

#define PVMT_TCP_TRUSTED_MAX 16 /* networks in PVM_TCP_PLAIN */

/* PVM_TCP_TLS; offers carry these numbers. */
enum pvmt_tcp_tls_mode { PVMT_TCP_TLS_OFF, PVMT_TCP_TLS_ALWAYS, PVMT_TCP_TLS_AUTO, PVMT_TCP_TLS_MODES };

struct pvmt_tcp_network {
    union pvmw_address address;
    unsigned prefix; /* length of its prefix in bits */
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

/* A description of the policy, for pvm-info. */
const char *pvmt_tcp_secrecy_text(const struct pvmt_tcp_secrecy *s);

/* As the user would write it, for example "auto". */
const char *pvmt_tcp_tls_mode_text(enum pvmt_tcp_tls_mode mode);

#endif
