/* verbs.c - loads the module that calls libibverbs. */
#include "verbs.h"
#include <dirent.h>
#include <stdio.h>
#include "transports/module.h"

#define DEVICES_FOLDER "/sys/class/infiniband"

static const struct pvmt_verbs *replacement;

/* The module's table, if its version is ours. */
static const struct pvmt_verbs *load(char *why, size_t size)
{
    void *module = pvmt_module_load(PVMT_VERBS_FILE, "transport rdma", why, size);
    const struct pvmt_verbs *table = module ? pvmt_module_symbol(module, PVMT_VERBS_SYMBOL) : NULL;
    if (table && table->version == PVMT_VERBS_VERSION)
        return table;
    if (module)
        snprintf(why, size, "%s is of another version of dpvm", PVMT_VERBS_FILE);
    return NULL;
}

const struct pvmt_verbs *pvmt_verbs_load(char *why, size_t size)
{
    static const struct pvmt_verbs *loaded;
    if (replacement)
        return replacement;
    if (!loaded && (loaded = load(why, size)))
        loaded->fork_init(); /* before any registration; kernels from 5.12 on do not need it */
    return loaded;
}

void pvmt_verbs_replace(const struct pvmt_verbs *table)
{
    replacement = table;
}

bool pvmt_verbs_wanted(void)
{
    const struct dirent *entry;
    bool found = replacement;
    DIR *folder = found ? NULL : opendir(DEVICES_FOLDER);
    while (folder && !found && (entry = readdir(folder)))
        found = entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return found;
}
