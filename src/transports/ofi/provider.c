/* provider.c - see provider.h. */
#include "provider.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "variable.h"

#define API         FI_VERSION(1, 11)
#define CLASSES     "/sys/class"
#define LINE_BYTES  512
#define NAMES_MAX   4
#define WANTED_CAPS (FI_MSG | FI_RMA | FI_READ | FI_REMOTE_READ)
#define KNOWN_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

/* Cards of clusters, which the kernel shows as CLASSES/class/device, and their providers, best first. */
static const struct card {
    const char *class, *device; /* a prefix of its name */
    const char *providers[NAMES_MAX];
} cards[] = {
    {"cxi", "cxi", {"cxi"}},
    {"infiniband", "efa", {"efa"}},
    {"infiniband", "hfi1", {"opx", "psm3", "psm2"}},
    {"infiniband", "qib", {"psm"}},
};

static const struct pvmt_ofi_figures figures[] = {
    {"cxi", 2000, 20000},  {"efa", 5000, 12000}, {"opx", 1500, 12000}, {"psm", 1500, 12000},
    {"verbs", 2000, 6000}, {"shm", 500, 5000},   {"udp", 20000, 500},  {"", 8000, 2500}, /* any other */
};

/* ---- what is wanted ---- */

static const char *setting(void)
{
    return pvmc_config_text(PVMC_SETTING_OFI_PROVIDER);
}

static bool class_has(const char *classes, const struct card *c)
{
    char path[LINE_BYTES];
    const struct dirent *entry;
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", classes, c->class);
    DIR *folder = opendir(path);
    while (folder && !found && (entry = readdir(folder)))
        found = !strncmp(entry->d_name, c->device, strlen(c->device));
    if (folder)
        closedir(folder);
    return found;
}

static const struct card *find_card(const char *classes)
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (class_has(classes, &cards[i]))
            return &cards[i];
    return NULL;
}

static bool is_provider_of(const struct card *c, const char *name)
{
    for (unsigned i = 0; i < NAMES_MAX && c->providers[i]; i++)
        if (!strcmp(c->providers[i], name))
            return true;
    return false;
}

bool pvmt_ofi_provider_suits_auto(const char *classes)
{
    const struct card *c = find_card(classes ? classes : CLASSES);
    bool encrypt = !strcmp(pvmc_config_text(PVMC_SETTING_TCP_TLS), "1");
    return c && !encrypt && (!setting()[0] || is_provider_of(c, setting()));
}

/* The names to ask libfabric for, one after the other; an empty one stands for any. Returns their number. */
static unsigned wanted_names(const char *names[NAMES_MAX])
{
    const struct card *c = setting()[0] ? NULL : find_card(CLASSES);
    unsigned n = 0;
    while (c && n < NAMES_MAX && c->providers[n])
        names[n] = c->providers[n], n++;
    if (!n)
        names[n++] = setting();
    return n;
}

const struct pvmt_ofi_figures *pvmt_ofi_provider_figures(const char *name)
{
    const char *names[NAMES_MAX];
    if (!name || !name[0]) {
        wanted_names(names);
        name = names[0];
    }
    const struct pvmt_ofi_figures *f = figures;
    while (strncmp(f->provider, name, strlen(f->provider)))
        f++;
    return f;
}

bool pvmt_ofi_provider_is_local(const char *name)
{
    return !strcmp(name && name[0] ? name : setting(), "shm");
}

/* ---- what there is ---- */

static pid_t first_user; /* of libfabric: this process, or one that forked it */

/* All endpoints of this provider (NULL or "": of all) that could carry links; NULL: none. */
static struct fi_info *ask(const struct pvmt_fabric *fabric, const char *provider, int *error)
{
    struct fi_info *hints = fabric->dupinfo(NULL), *found = NULL;
    *error = FI_ENOMEM;
    first_user = first_user ? first_user : getpid();
    if (!hints)
        return NULL;
    hints->caps = WANTED_CAPS;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = KNOWN_MODES;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = provider && provider[0] ? strdup(provider) : NULL;
    pvmt_ofi_variables_set(provider);
    *error = -fabric->getinfo(API, NULL, NULL, 0, hints, &found);
    pvmt_ofi_variables_unset();
    fabric->freeinfo(hints);
    return found;
}

/* Whether its memory keys fit into a message. */
static bool fits(const struct fi_info *i)
{
    return i->domain_attr->mr_key_size <= sizeof(uint64_t);
}

/* Rank among the devices of one provider: IPv4 before IPv6, the address in PVM_IP first, a loopback last. */
static unsigned preference(const struct fi_info *i)
{
    struct in_addr wanted;
    const struct sockaddr_in *own = i->src_addr;
    if (i->addr_format == FI_SOCKADDR_IN6)
        return 2;
    if (i->addr_format != FI_SOCKADDR_IN || !own)
        return 4;
    if (inet_pton(AF_INET, pvmc_config_text(PVMC_SETTING_IP), &wanted) == 1 && own->sin_addr.s_addr == wanted.s_addr)
        return 5;
    return (ntohl(own->sin_addr.s_addr) >> 24) == 127 ? 3 : 4;
}

static const struct fi_info *best_of(const struct fi_info *list)
{
    const struct fi_info *best = NULL;
    for (const struct fi_info *i = list; i; i = i->next) {
        bool same = !best || !strcmp(i->fabric_attr->prov_name, best->fabric_attr->prov_name);
        if (fits(i) && same && (!best || preference(i) > preference(best)))
            best = i;
    }
    return best;
}

static int say_none(const struct pvmt_fabric *fabric, int error, char *why, size_t size)
{
    const struct card *c = setting()[0] ? NULL : find_card(CLASSES);
    if (c)
        snprintf(why, size, "libfabric has no provider for the card %s: see fi_info; PVM_OFI_PROVIDER may name another",
                 c->device);
    else if (setting()[0])
        snprintf(why, size,
                 "PVM_OFI_PROVIDER=%s: libfabric has no such provider here, or not with reliable datagrams "
                 "and RMA (%s); fi_info -t FI_EP_RDM lists all",
                 setting(), fabric->strerror(error));
    else
        snprintf(why, size, "libfabric has no provider with reliable datagrams and RMA: %s", fabric->strerror(error));
    return PVMC_ENOTFOUND;
}

/* librdmacm keeps the devices open that it has found, and the kernel lets no forked process send through them. */
static bool is_spent(const struct fi_info *i)
{
    return !strncmp(i->fabric_attr->prov_name, "verbs", strlen("verbs")) && first_user != getpid();
}

static int say_spent(char *why, size_t size)
{
    snprintf(why, size,
             "a process that was forked after its parent has used verbs cannot use it, too, unless it calls exec");
    return PVMC_EUNSUPPORTED;
}

int pvmt_ofi_provider_choose(const struct pvmt_fabric *fabric, struct fi_info **out, char *why, size_t size)
{
    const char *names[NAMES_MAX];
    unsigned count = wanted_names(names);
    int error = 0;
    *out = NULL;
    for (unsigned i = 0; i < count && !*out; i++) {
        struct fi_info *list = ask(fabric, names[i], &error);
        const struct fi_info *best = best_of(list);
        *out = best ? fabric->dupinfo(best) : NULL;
        if (list)
            fabric->freeinfo(list);
    }
    if (!*out)
        return say_none(fabric, error ? error : FI_ENODATA, why, size);
    if (!is_spent(*out))
        return 0;
    fabric->freeinfo(*out);
    *out = NULL;
    return say_spent(why, size);
}

int pvmt_ofi_provider_available(char *why, size_t size)
{
    static char found[LINE_BYTES];
    static bool valid;
    struct fi_info *info;
    const struct pvmt_fabric *fabric = pvmt_fabric_load(why, size);
    if (!fabric)
        return PVMC_EUNSUPPORTED;
    if (valid && !strcmp(found, setting()))
        return 0;
    int rc = pvmt_ofi_provider_choose(fabric, &info, why, size);
    valid = !rc;
    if (rc)
        return rc;
    fabric->freeinfo(info);
    snprintf(found, sizeof found, "%s", setting());
    return 0;
}

/* ---- describing ---- */

/* Whether an earlier entry of the list has the same provider and, unless `any`, the same device. */
static bool listed(const struct fi_info *list, const struct fi_info *i, bool any)
{
    for (; list != i; list = list->next)
        if (!strcmp(list->fabric_attr->prov_name, i->fabric_attr->prov_name) &&
            (any || !strcmp(list->domain_attr->name, i->domain_attr->name)))
            return true;
    return false;
}

static void describe_one(const struct fi_info *list, const struct fi_info *first, const struct fi_info *used,
                         void (*line)(void *arg, const char *text), void *arg)
{
    char text[LINE_BYTES];
    const char *name = first->fabric_attr->prov_name;
    size_t at = (size_t)snprintf(text, sizeof text, "%s", name);
    for (const struct fi_info *i = first; i && at < sizeof text; i = i->next)
        if (!strcmp(i->fabric_attr->prov_name, name) && !listed(list, i, false))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s %s", i == first ? ":" : ",", i->domain_attr->name);
    if (used && !strcmp(used->fabric_attr->prov_name, name) && at < sizeof text)
        snprintf(text + at, sizeof text - at, "; links use %s", used->domain_attr->name);
    line(arg, text);
}

void pvmt_ofi_providers_describe(void (*line)(void *arg, const char *text), void *arg)
{
    char why[LINE_BYTES];
    int error;
    struct fi_info *used = NULL;
    const struct pvmt_fabric *fabric = pvmt_fabric_load(why, sizeof why);
    struct fi_info *list = fabric ? ask(fabric, NULL, &error) : NULL;
    if (list)
        pvmt_ofi_provider_choose(fabric, &used, why, sizeof why);
    for (const struct fi_info *i = list; i; i = i->next)
        if (fits(i) && !listed(list, i, true))
            describe_one(list, i, used, line, arg);
    if (used)
        fabric->freeinfo(used);
    if (list)
        fabric->freeinfo(list);
}
