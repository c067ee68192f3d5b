/*
 * listen.h - the TCP port of this daemon, and the strangers at it.
 *
 * Whoever connects is a stranger until its preface proves that it knows the machine's secret. A stranger costs one
 * descriptor and a few hundred bytes for at most 5 s; when there are too many, the oldest goes.
 */
#ifndef PVMD_LISTEN_H
#define PVMD_LISTEN_H

#include <ev.h>
#include <stdint.h>
#include "preface.h"

#define PVMD_STRANGER_S    5. /* until the preface must be there, and again until TLS stands */
#define PVMD_STRANGERS_MAX 128

struct pvmd_listen_events {
    /* A proven preface: what to answer. Nothing may be kept of it yet. */
    enum pvmd_verdict (*offered)(const struct pvmd_preface *p);
    /* GO was answered: TLS may begin on fd, which is the callee's from here on. */
    void (*accepted)(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES]);
};

/*
 * Listens on `ip` ("" for all addresses, IPv6 and IPv4), at the first free port from `port` on (0: any). 0, or a PVMI_E
 * code, logged with the cure.
 */
int pvmd_listen_start(struct ev_loop *loop, const char *ip, uint16_t port, const struct pvmd_listen_events *events);
void pvmd_listen_stop(void);

/* The port. */
uint16_t pvmd_listen_port(void);

/* Strangers turned away so far, by reason: for statistics and tests. */
struct pvmd_listen_counts {
    unsigned long accepted, malformed, denied, too_slow, too_many;
};

const struct pvmd_listen_counts *pvmd_listen_counts(void);

#endif
