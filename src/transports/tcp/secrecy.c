/* secrecy.c - see secrecy.h. */
#include "secrecy.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"

static const struct {
    const char *text;
    enum pvmt_tcp_tls_mode mode;
} modes[] = {
    {"auto", PVMT_TCP_TLS_AUTO}, {"0", PVMT_TCP_TLS_OFF},      {"1", PVMT_TCP_TLS_ALWAYS},  {"no", PVMT_TCP_TLS_OFF},
    {"off", PVMT_TCP_TLS_OFF},   {"yes", PVMT_TCP_TLS_ALWAYS}, {"on", PVMT_TCP_TLS_ALWAYS},
};

static bool read_mode(const char *text, enum pvmt_tcp_tls_mode *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(modes[i].text, text)) {
            *mode = modes[i].mode;
            return true;
        }
    return false;
}

const char *pvmt_tcp_tls_mode_text(enum pvmt_tcp_tls_mode mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (modes[i].mode == mode)
            return modes[i].text;
    return "?";
}

const char *pvmt_tcp_secrecy_text(const struct pvmt_tcp_secrecy *s)
{
    static const char *const texts[PVMT_TCP_TLS_MODES] = {
        [PVMT_TCP_TLS_OFF] = "in the clear",
        [PVMT_TCP_TLS_ALWAYS] = "encrypted",
        [PVMT_TCP_TLS_AUTO] = "encrypted between hosts",
    };
    bool trusting = s->mode == PVMT_TCP_TLS_AUTO && s->count;
    return trusting ? "encrypted between hosts, but in the clear on PVM_TCP_PLAIN" : texts[s->mode];
}

/* "10.1.0.0/16", "fd00::/8", or one address. */
static bool read_network(const char *text, struct pvmt_tcp_network *n)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchrnul(text, '/');
    *n = (struct pvmt_tcp_network){0};
    if ((size_t)(slash - text) >= sizeof address)
        return false;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    bool v4 = inet_pton(AF_INET, address, &n->address.v4.sin_addr) == 1;
    if (!v4 && inet_pton(AF_INET6, address, &n->address.v6.sin6_addr) != 1)
        return false;
    n->address.any.sa_family = v4 ? AF_INET : AF_INET6;
    unsigned most = v4 ? 32 : 128;
    char *end = NULL;
    unsigned long prefix = *slash ? strtoul(slash + 1, &end, 10) : most;
    n->prefix = (unsigned)prefix;
    return prefix <= most && (!*slash || (end != slash + 1 && !*end));
}

static bool read_networks(const char *text, struct pvmt_tcp_secrecy *s)
{
    char list[1024], *rest;
    if (strlen(text) >= sizeof list)
        return false;
    strcpy(list, text);
    for (char *word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        if (s->count == PVMT_TCP_TRUSTED_MAX || !read_network(word, &s->trusted[s->count++]))
            return false;
    return true;
}

int pvmt_tcp_secrecy_read(struct pvmt_tcp_secrecy *s, char *why, size_t size)
{
    const char *mode = pvmc_config_text(PVMC_SETTING_TCP_TLS), *plain = pvmc_config_text(PVMC_SETTING_TCP_PLAIN);
    *s = (struct pvmt_tcp_secrecy){0};
    if (!read_mode(mode, &s->mode)) {
        snprintf(why, size, "PVM_TCP_TLS=%s must be auto, 0 or 1", mode);
        return PVMC_EPARAM;
    }
    if (!read_networks(plain, s)) {
        snprintf(why, size, "PVM_TCP_PLAIN=%s is not a list of up to %d networks such as 10.1.0.0/16,fd00::/8", plain,
                 PVMT_TCP_TRUSTED_MAX);
        return PVMC_EPARAM;
    }
    return 0;
}

bool pvmt_tcp_secrecy_trusts(const struct pvmt_tcp_secrecy *s, const union pvmw_address *a)
{
    for (unsigned i = 0; i < s->count; i++)
        if (pvmw_address_shares(&s->trusted[i].address, a, s->trusted[i].prefix))
            return true;
    return false;
}

bool pvmt_tcp_must_encrypt(enum pvmt_tcp_tls_mode a, enum pvmt_tcp_tls_mode b, bool open)
{
    if (a == PVMT_TCP_TLS_ALWAYS || b == PVMT_TCP_TLS_ALWAYS)
        return true;
    return !open && (a == PVMT_TCP_TLS_AUTO || b == PVMT_TCP_TLS_AUTO);
}
