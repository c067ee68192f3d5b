/* placement.c - see placement.h. */
#include "placement.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/base/hosts.h"

static unsigned latest; /* the host that got a task last; 0: none did, and the host after ours is first */

/* ---- reading `where` ---- */

/* A member by its name or by its daemon's address. */
static const struct pvmd_host *find_host(const char *name)
{
    const struct pvmd_host *host = pvmd_host_by_name(name);
    size_t count;
    struct pvmd_host **all = pvmd_host_list(&count);
    for (size_t i = 0; !host && *name && i < count; i++)
        if (!strcmp(all[i]->address, name))
            host = all[i];
    return host;
}

/* Cuts "name:directory" in place after the name. Returns the directory, or "". */
static const char *cut_first(char *where)
{
    char *colon = strchr(where, ':');
    if (!colon)
        return "";
    *colon = '\0';
    return colon + 1;
}

/*
 * Host names (IPv6 addresses) and directories may hold colons themselves. The longest prefix that names a host counts;
 * if none does, the first colon separates them.
 */
static const char *cut_host(char *where)
{
    if (find_host(where))
        return "";
    for (char *colon = strrchr(where, ':'); colon; colon = memrchr(where, ':', colon - where)) {
        *colon = '\0';
        if (find_host(where))
            return colon + 1;
        *colon = ':';
    }
    return cut_first(where);
}

/* ---- choosing ---- */

/* Unless it is asked for, a host without slots gets tasks only if no host has any. */
static bool fits(const struct pvmd_host *host, uint32_t flags, const char *name, const struct pvmd_host *named,
                 bool have_slots)
{
    bool fit = true;
    if (flags & PvmTaskHost)
        fit = host == named;
    else if (flags & PvmTaskArch)
        fit = !strcmp(host->arch, name);
    else
        return host->slots > 0 || !have_slots;
    return flags & PvmHostCompl ? !fit : fit;
}

static bool any_has_slots(struct pvmd_host *const *hosts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hosts[i]->slots > 0)
            return true;
    return false;
}

/* Takes the members as a ring in order of index, beginning after the host that was used last. */
static int choose(uint32_t flags, const char *name, struct pvmd_placement *p)
{
    const struct pvmd_host *named = flags & PvmTaskHost ? find_host(name) : NULL;
    unsigned after = latest ? latest : pvmd.host_index;
    size_t count, first = 0;
    struct pvmd_host **all = pvmd_host_list(&count);
    bool have_slots = any_has_slots(all, count);
    p->hosts = calloc(count ? count : 1, sizeof *p->hosts);
    if (!p->hosts)
        return PVMC_ENOMEM;
    while (first < count && all[first]->index <= after)
        first++;
    for (size_t i = 0; i < count; i++) {
        const struct pvmd_host *host = all[(first + i) % count];
        if (!fits(host, flags, name, named, have_slots))
            continue;
        if (host->draining)
            p->leaving = host->index;
        else
            p->hosts[p->count++] = host->index;
    }
    return 0;
}

int pvmd_placement_find(uint32_t flags, const char *where, struct pvmd_placement *p)
{
    *p = (struct pvmd_placement){0};
    char *name = strdup(where);
    const char *directory = "";
    int rc = name ? 0 : PVMC_ENOMEM;
    if (!rc) {
        directory = flags & PvmTaskHost ? cut_host(name) : cut_first(name);
        p->directory = strdup(directory);
        rc = p->directory ? choose(flags, name, p) : PVMC_ENOMEM;
    }
    free(name);
    if (rc)
        pvmd_placement_free(p);
    return rc;
}

size_t pvmd_placement_share(size_t n, size_t hosts, size_t i)
{
    return n / hosts + (i < n % hosts);
}

void pvmd_placement_used(uint32_t flags, unsigned host_index)
{
    if (!(flags & PvmTaskHost))
        latest = host_index;
}

void pvmd_placement_free(struct pvmd_placement *p)
{
    free(p->hosts);
    free(p->directory);
    *p = (struct pvmd_placement){0};
}
