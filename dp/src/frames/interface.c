/* interface.c - interfaces as the kernel lists them. */
#include "interface.h"
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/error.h"

#define MTU_MIN 268 /* the smallest packet of the reliability layer plus our header */

/* A socket for ioctl(); any kind will do. */
static int open_question(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* The loopback's frames have the same format. */
static bool has_ethernet_frames(const struct sockaddr *hardware)
{
    return hardware->sa_family == ARPHRD_ETHER || hardware->sa_family == ARPHRD_LOOPBACK;
}

/* Fills in the interface; returns NULL, or why it cannot be used. */
static const char *examine(int fd, const char *name, struct dpi_interface *out)
{
    static const char *const gone = "there is no such interface";
    struct ifreq request = {.ifr_ifindex = 0};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    *out = (struct dpi_interface){.index = 0};
    memcpy(out->name, request.ifr_name, sizeof out->name);
    if (ioctl(fd, SIOCGIFINDEX, &request))
        return gone;
    out->index = request.ifr_ifindex;
    if (ioctl(fd, SIOCGIFMTU, &request))
        return gone;
    out->mtu = request.ifr_mtu;
    if (ioctl(fd, SIOCGIFHWADDR, &request))
        return gone;
    if (!has_ethernet_frames(&request.ifr_hwaddr))
        return "it has no Ethernet frames";
    out->loopback = request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
    memcpy(out->hardware, request.ifr_hwaddr.sa_data, 6);
    if (ioctl(fd, SIOCGIFFLAGS, &request))
        return gone;
    return request.ifr_flags & IFF_UP ? NULL : "it is down";
}

/* Whether a comma-separated list contains the name; an empty list contains all names. */
static bool is_named(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, ",")) {
        at += strspn(at, ", ");
        if (!strncmp(at, name, length) && strchr(", ", at[length]))
            return true;
    }
    return !*names;
}

/* Shows the names that are not interfaces. */
static void show_missing(int fd, const char *names,
                         void (*show)(void *arg, const struct dpi_interface *interface, const char *why_not), void *arg)
{
    for (const char *at = names; *(at += strspn(at, ", ")); at += strcspn(at, ", ")) {
        struct dpi_interface interface;
        char name[IFNAMSIZ] = "";
        strncat(name, at, strcspn(at, ", ") < IFNAMSIZ ? strcspn(at, ", ") : IFNAMSIZ - 1);
        const char *why_not = examine(fd, name, &interface);
        if (!interface.index)
            show(arg, &interface, why_not);
    }
}

void dpi_interfaces_show(const char *names,
                         void (*show)(void *arg, const struct dpi_interface *interface, const char *why_not), void *arg)
{
    int fd = open_question();
    struct if_nameindex *all = fd < 0 ? NULL : if_nameindex();
    for (struct if_nameindex *i = all; all && i->if_index; i++) {
        struct dpi_interface interface;
        const char *why_not = examine(fd, i->if_name, &interface);
        if (!why_not && interface.mtu < MTU_MIN)
            why_not = "its MTU is below 268";
        show(arg, &interface, is_named(names, i->if_name) ? why_not : "it is not among those to be used");
    }
    if (all)
        if_freenameindex(all);
    if (fd < 0)
        return;
    show_missing(fd, names, show, arg);
    close(fd);
}

struct collection {
    struct dpi_interface *list;
    int count, most;
};

static void collect(void *arg, const struct dpi_interface *interface, const char *why_not)
{
    struct collection *c = arg;
    if (!why_not && c->count < c->most)
        c->list[c->count++] = *interface;
}

int dpi_interfaces(const char *names, struct dpi_interface *out, int most)
{
    struct collection c = {.list = out, .most = most};
    dpi_interfaces_show(names, collect, &c);
    return c.count;
}

/* ---- one ---- */

static void take_first(void *arg, const struct dpi_interface *interface, const char *why_not)
{
    struct dpi_interface *out = arg;
    if (!why_not && !interface->loopback && !out->index)
        *out = *interface;
}

static int find_first(struct dpi_interface *out)
{
    *out = (struct dpi_interface){.index = 0};
    dpi_interfaces_show("", take_first, out);
    return out->index ? 0 : PVMC_ENOTFOUND;
}

int dpi_interface_find(const char *name, struct dpi_interface *out)
{
    if (!name)
        return find_first(out);
    if (strlen(name) >= IFNAMSIZ)
        return PVMC_EPARAM;
    int fd = open_question();
    if (fd < 0)
        return PVMC_ELIMIT;
    const char *why_not = examine(fd, name, out);
    close(fd);
    return !out->index ? PVMC_EPARAM : why_not ? PVMC_EUNSUPPORTED : 0;
}
