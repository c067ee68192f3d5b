/*
 * secrecy.h - which links are encrypted, as the user has set it. Between hosts they are, unless both sides trust the
 * network that the link crosses; within a host they are not, unless PVM_TCP_TLS=1 asks for it.
 */
#ifndef PVMI_TCP_SECRECY_H
#define PVMI_TCP_SECRECY_H

#include "address.h"

#define PVMI_TCP_TRUSTED_MAX 16 /* networks in PVM_TCP_PLAIN */

/* PVM_TCP_TLS; the numbers are those of an offer. */
enum pvmi_tcp_tls_mode { PVMI_TCP_TLS_OFF, PVMI_TCP_TLS_ALWAYS, PVMI_TCP_TLS_AUTO, PVMI_TCP_TLS_MODES };

struct pvmi_tcp_network {
    union pvmi_tcp_address address;
    unsigned prefix; /* bits of it that count */
};

struct pvmi_tcp_secrecy {
    enum pvmi_tcp_tls_mode mode;
    unsigned count;
    struct pvmi_tcp_network trusted[PVMI_TCP_TRUSTED_MAX];
};

/* Reads PVM_TCP_TLS and PVM_TCP_PLAIN: 0, or PVMI_EPARAM with the reason in why[size]. */
int pvmi_tcp_secrecy_read(struct pvmi_tcp_secrecy *s, char *why, size_t size);

/* Whether the address is in a network that the user trusts. */
bool pvmi_tcp_secrecy_trusts(const struct pvmi_tcp_secrecy *s, const union pvmi_tcp_address *a);

/* Whether a link must be encrypted when one side has `a` set and the other `b`; `open`: one host, or both trust. */
bool pvmi_tcp_must_encrypt(enum pvmi_tcp_tls_mode a, enum pvmi_tcp_tls_mode b, bool open);

/* What becomes of links, for pvm-info. */
const char *pvmi_tcp_secrecy_text(const struct pvmi_tcp_secrecy *s);

/* As the user would write it: "auto". */
const char *pvmi_tcp_tls_mode_text(enum pvmi_tcp_tls_mode mode);

#endif
