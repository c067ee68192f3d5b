/* listing.c - what pvm-info -d prints about dp: the opener of its raw sockets, and each interface. */
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "dp_transport.h"

#define LINE_BYTES 640

struct listing {
    void (*line)(void *arg, const char *text);
    void *arg;
    int used; /* interfaces so far */
};

static void tell_sockets(const struct listing *l)
{
    char text[LINE_BYTES], why[LINE_BYTES];
    const char *helper = NULL;
    int rc = dpi_helper_may_open(&helper, why, sizeof why);
    if (helper)
        snprintf(text, sizeof text, "raw sockets are opened by the helper %s", helper);
    l->line(l->arg, rc ? why : helper ? text : "raw sockets are opened by the task itself, which has CAP_NET_RAW");
}

static void tell_interface(void *arg, const struct dpi_interface *i, const char *why_not)
{
    struct listing *l = arg;
    const uint8_t *h = i->hardware;
    char text[LINE_BYTES];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", i->name);
    if (i->index)
        at += (size_t)snprintf(text + at, sizeof text - at, ": address %02x:%02x:%02x:%02x:%02x:%02x, MTU %d", h[0],
                               h[1], h[2], h[3], h[4], h[5], i->mtu);
    if (i->mtu > DP_MTU_MAX)
        at += (size_t)snprintf(text + at, sizeof text - at, ", %d of it used", DP_MTU_MAX);
    if (!why_not && l->used++ >= PVMT_DP_PLACES_MAX)
        why_not = "it comes after the first five";
    if (why_not)
        snprintf(text + at, sizeof text - at, "; not used: %s", why_not);
    l->line(l->arg, text);
}

void pvmt_dp_describe(void (*line)(void *arg, const char *text), void *arg)
{
    struct listing l = {.line = line, .arg = arg};
    tell_sockets(&l);
    dpi_interfaces_show(pvmc_config_text(PVMC_SETTING_DP_LINK_IF), tell_interface, &l);
}
