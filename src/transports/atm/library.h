/*
 * library.h - libforeatm, the Fore API, loaded when PVM_TRANSPORT names atm. A program that itself uses the Fore API
 * shares the library with the transport, so the network sees one program.
 */
#ifndef PVMT_ATM_LIBRARY_H
#define PVMT_ATM_LIBRARY_H

#include <stddef.h>
#include "fore_atm.h"

#define PVMT_ATM_LIBRARY_FILE "libforeatm.so.1"

/* X(name): the call atm_name() of fore_atm.h. */
#define PVMT_ATM_CALLS(X)                                                                                              \
    X(open)                                                                                                            \
    X(bind)                                                                                                            \
    X(assure)                                                                                                          \
    X(item)                                                                                                            \
    X(low_water)                                                                                                       \
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
    X(sim_enter_library)                                                                                               \
    X(sim_leave_library)                                                                                               \
    X(sim_debt)                                                                                                        \
    X(sim_on_pass)                                                                                                     \
    X(sim_sleep)                                                                                                       \
    X(sim_catch_up)                                                                                                    \
    X(sim_fd)                                                                                                          \
    X(sim_knows)                                                                                                       \
    X(sim_task)                                                                                                        \
    X(sim_carry)                                                                                                       \
    X(sim_under_way)                                                                                                   \
    X(sim_local)                                                                                                       \
    X(sim_expect)                                                                                                      \
    X(sim_leave)                                                                                                       \
    X(sim_observe)

struct pvmt_atm_library {
#define X(name) __typeof__(atm_##name) *name;
    PVMT_ATM_CALLS(X)
#undef X
};

/* Loads the library once per process. NULL: it cannot be loaded, with the reason in why[size]. */
const struct pvmt_atm_library *pvmt_atm_library(char *why, size_t size);

#endif
