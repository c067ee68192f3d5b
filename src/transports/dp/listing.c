/* listing.c - what pvm-info -d tells of dp: who opens raw sockets, and each interface. */
#include <stdio.h>
#include <string.h>
#include "../../core/config.h"
#include "dp_transport.h"
#include "helper.h"

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
    int rc = pvmi_dp_helper_may_open(&helper, why, sizeof why);
    if (helper)
        snprintf(text, sizeof text, "raw sockets are opened by the helper %s", helper);
    l->line(l->arg, rc ? why : helper ? text : "raw sockets are opened by the task itself, which has CAP_NET_RAW");
}

static void tell_interface(void *arg, const struct pvmi_dp_interface *i, const char *why_not)
{
    struct listing *l = arg;
    const uint8_t *h = i->hardware;
    int longest = (int)pvmi_config_integer(PVMI_SETTING_DP_LINK_MTU);
    char text[LINE_BYTES];
    size_t at = (size_t)snprintf(text, sizeof text, "%s", i->name);
    if (i->index)
        at += (size_t)snprintf(text + at, sizeof text - at, ": address %02x:%02x:%02x:%02x:%02x:%02x, MTU %d", h[0],
                               h[1], h[2], h[3], h[4], h[5], i->mtu);
    if (i->mtu > longest)
        at += (size_t)snprintf(text + at, sizeof text - at, ", %d of it used (PVM_DP_MTU)", longest);
    if (!why_not && l->used++ >= PVMI_DP_PLACES_MAX)
        why_not = "it comes after the first five";
    if (why_not)
        snprintf(text + at, sizeof text - at, "; not used: %s", why_not);
    l->line(l->arg, text);
}

void pvmi_dp_describe(void (*line)(void *arg, const char *text), void *arg)
{
    struct listing l = {.line = line, .arg = arg};
    tell_sockets(&l);
    pvmi_dp_interfaces_show(pvmi_config_text(PVMI_SETTING_DP_LINK_IF), tell_interface, &l);
}
