/* network.c - interfaces and ports of this host. */
#include "network.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/config.h"
#include "core/place/address.h"
#include "probe.h"
#include "result.h"
#include "wire/interfaces.h"
#include "wire/socket.h"

enum { MTU_LEAST = 1280 }; /* that IPv6 asks for */

/* ---- MTU ---- */

/* 0: unknown. Asks the kernel, since /sys may show the interfaces of another namespace. */
static int mtu_of(const char *interface)
{
    struct ifreq request = {.ifr_mtu = 0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    int mtu = fd >= 0 && ioctl(fd, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
    if (fd >= 0)
        close(fd);
    return mtu;
}

int network_mtu(const char *own, const char *peer)
{
    struct pvmw_interface list[PVMW_INTERFACES_MAX];
    union pvmw_address address, other;
    int count = pvmw_interfaces("", list);

    if (pvmw_address_parse(own, 0, &address) != 0 || pvmw_address_parse(peer, 0, &other) != 0)
        return 0;
    for (int i = 0; i < count; i++)
        if (pvmw_address_same(&list[i].address, &address))
            return pvmw_interface_reaches(&list[i], &other) ? mtu_of(list[i].name) : 0;
    return 0;
}

json_t *network_path(void)
{
    char from[64], to[64];
    const char *connection = getenv("SSH_CONNECTION");

    if (connection == NULL || sscanf(connection, "%63s %*s %63s", from, to) != 2)
        return NULL;
    return json_pack("{s:s, s:s, s:i}", "from", from, "to", to, "mtu", network_mtu(to, from));
}

static bool seen(const struct pvmw_interface *list, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(list[k].name, list[i].name) == 0)
            return true;
    return false;
}

/* Writes "eth0 (MTU 1500), ..." of all interfaces that others can reach, and reports small MTUs. Returns their number.
 */
static int look_at_interfaces(json_t *results, const struct pvmw_interface *list, int count, char *text, size_t size)
{
    int others = 0;
    size_t at = 0;

    for (int i = 0; i < count; i++) {
        int mtu = mtu_of(list[i].name);
        if (seen(list, i) || pvmw_address_is_loopback(&list[i].address))
            continue;
        others++;
        if (at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s (MTU %d)", at > 0 ? ", " : "", list[i].name, mtu);
        char cure[128];
        snprintf(cure, sizeof(cure), "ip link set %s mtu 1500 as root", list[i].name);
        if (mtu > 0 && mtu < MTU_LEAST)
            result_add(results, "network", SEVERITY_WARNING, cure, "the MTU of %s is only %d bytes", list[i].name, mtu);
    }
    return others;
}

void probe_network(json_t *results)
{
    struct pvmw_interface list[PVMW_INTERFACES_MAX];
    char text[1024] = "";
    int count = pvmw_interfaces("", list);
    int others = look_at_interfaces(results, list, count, text, sizeof(text));

    if (count <= 0)
        result_add(results, "network", SEVERITY_WARNING, "ip link set lo up as root",
                   "no interface is up, not even the loopback: only one host can be used");
    else if (others == 0)
        result_add(results, "network", SEVERITY_WARNING, "set up a network, if you want to add other computers",
                   "no interface is up but the loopback");
    else if (json_array_size(results) == 0)
        result_add(results, "network", SEVERITY_OK, "", "%s", text);
}

/* ---- ports ---- */

static bool own_daemon_runs(void)
{
    char path[PVMC_ADDRESS_PATH_BYTES], why[2 * PVMC_ADDRESS_PATH_BYTES + 256];

    return pvmc_address_find(path, why, sizeof(why)) == 0 && pvmc_address_listener(path) > 0;
}

static void judge_port(json_t *results, const char *ip, int port, int error)
{
    char where[32];

    snprintf(where, sizeof(where), port > 0 ? "port %d" : "a port", port);
    if (error == EADDRINUSE && own_daemon_runs())
        result_add(results, "ports", SEVERITY_OK, "", "%s is in use, as it seems by the daemon that runs", where);
    else if (error == EADDRINUSE)
        result_add(results, "ports", SEVERITY_WARNING,
                   "set PVMNETSOCKPORT to a free port, if a firewall lets only some through",
                   "%s (PVMNETSOCKPORT) is in use: the daemon takes the next free one", where);
    else if (error == EINVAL && *ip != '\0')
        result_add(results, "ports", SEVERITY_ERROR, "set PVM_IP to an address of this host (ip addr shows them)",
                   "PVM_IP=%s is no IP address", ip);
    else if (error == EADDRNOTAVAIL)
        result_add(results, "ports", SEVERITY_ERROR, "set PVM_IP to an address of this host (ip addr shows them)",
                   "PVM_IP=%s is no address of this host", ip);
    else if (error == EACCES && port > 0)
        result_add(results, "ports", SEVERITY_ERROR, "set PVMNETSOCKPORT to 1024 or more",
                   "only root may listen on %s (PVMNETSOCKPORT)", where);
    else
        result_add(results, "ports", SEVERITY_ERROR, "allow TCP sockets to this user",
                   "cannot listen on %s: %s; no other host can be added", where, strerror(error));
}

/* As the daemon listens: without PVM_IP at all addresses, of IPv6 only if there is such. */
static int try_to_listen(const char *ip, int port)
{
    struct pvmw_socket_listen how = {.backlog = 1, .v4_too = true, .low = (unsigned)port, .count = 1};
    union pvmw_address a;
    int fd =
        pvmw_address_parse(*ip != '\0' ? ip : "::", (uint16_t)port, &a) == 0 ? pvmw_socket_listen(&a, &how) : -EINVAL;

    if (fd == -EAFNOSUPPORT && *ip == '\0' && pvmw_address_parse("0.0.0.0", (uint16_t)port, &a) == 0)
        fd = pvmw_socket_listen(&a, &how);
    return fd;
}

void probe_ports(json_t *results)
{
    const char *ip = pvmc_config_text(PVMC_SETTING_IP);
    int port = (int)pvmc_config_integer(PVMC_SETTING_PORT), fd = try_to_listen(ip, port);

    if (fd < 0) {
        judge_port(results, ip, port, -fd);
        return;
    }
    close(fd);
    if (port > 0)
        result_add(results, "ports", SEVERITY_OK, "", "the daemon can listen on port %d", port);
    else
        result_add(results, "ports", SEVERITY_OK, "", "the daemon can listen on a port");
}
