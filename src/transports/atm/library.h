/*
 * library.h - libforeatm, the Fore API, which is loaded when PVM_TRANSPORT names atm: so a program that uses it itself
 * shares it with us, and the network sees one program.
 */
#ifndef PVMI_ATM_LIBRARY_H
#define PVMI_ATM_LIBRARY_H

#include <stddef.h>
#include "fore_atm.h"

#define PVMI_ATM_LIBRARY_FILE "libforeatm.so.1"

/* X(name): the call atm_name() of fore_atm.h. */
#define PVMI_ATM_CALLS(X)                                                                                              \
    X(open)                                                                                                            \
    X(bind)                                                                                                            \
    X(listen)                                                                                                          \
    X(accept)                                                                                                          \
    X(reject)                                                                                                          \
    X(connect)                                                                                                         \
    X(send)                                                                                                            \
    X(recv)                                                                                                            \
    X(gethostbyname)                                                                                                   \
    X(close)                                                                                                           \
    X(errno_location)                                                                                                  \
    X(sim_clock)                                                                                                       \
    X(sim_address)                                                                                                     \
    X(sim_now)                                                                                                         \
    X(sim_look)                                                                                                        \
    X(sim_sleep)                                                                                                       \
    X(sim_catch_up)                                                                                                    \
    X(sim_fd)                                                                                                          \
    X(sim_knows)                                                                                                       \
    X(sim_local)                                                                                                       \
    X(sim_expect)                                                                                                      \
    X(sim_leave)                                                                                                       \
    X(sim_observe)

struct pvmi_atm_library {
#define X(name) __typeof__(atm_##name) *name;
    PVMI_ATM_CALLS(X)
#undef X
};

/* Loaded once for each process; NULL when it cannot be, with the reason in why[size]. */
const struct pvmi_atm_library *pvmi_atm_library(char *why, size_t size);

#endif
