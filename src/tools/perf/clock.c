/*
 * clock.c - see clock.h. The network's libraries are looked at only if they are loaded: libforeatm by PVM's transport
 * atm, libatmclock, whose clock_gettime() shows the network's time, by atm-sim exec.
 */
#include "clock.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NETWORK_LIBRARY "libforeatm.so.1"
#define CLOCK_LIBRARY   "libatmclock.so"

static bool lives_in_virtual_time(void)
{
    void *library = dlopen(NETWORK_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    int64_t now_ns;
    if (!library)
        return false;
    int (*now)(int64_t *) = (int (*)(int64_t *))dlsym(library, "atm_sim_now"); /* fails outside of virtual time */
    bool lives = now && !now(&now_ns);
    dlclose(library);
    return lives;
}

static bool clock_is_replaced(void)
{
    Dl_info of;
    void *function = dlsym(RTLD_DEFAULT, "clock_gettime");
    return function && dladdr(function, &of) && of.dli_fname && strstr(of.dli_fname, CLOCK_LIBRARY);
}

enum clock_kind clock_kind(void)
{
    if (!lives_in_virtual_time())
        return CLOCK_KIND_REAL;
    return clock_is_replaced() ? CLOCK_KIND_VIRTUAL : CLOCK_KIND_BESIDE;
}

const char *clock_name(enum clock_kind kind)
{
    static const char *const names[] = {"real", "virtual", "beside"};
    return names[kind];
}

const char *clock_text(enum clock_kind kind)
{
    static const char *const texts[] = {
        "real", "virtual, of the ATM network",
        "real, although messages travel in the network's virtual time, which a program under atm-sim exec shows"};
    return texts[kind];
}
