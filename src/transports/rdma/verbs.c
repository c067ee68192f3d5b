/* verbs.c - loads the module that calls libibverbs. */
#include "verbs.h"
#include <dirent.h>
#include <stdio.h>
#include "../module.h"

#define DEVICES_FOLDER "/sys/class/infiniband"

static const struct pvmi_verbs *replacement;

/* The module's table, when it is of our version. */
static const struct pvmi_verbs *load(char *why, size_t size)
{
    void *module = pvmi_module_load(PVMI_VERBS_FILE, "transport rdma", why, size);
    const struct pvmi_verbs *table = module ? pvmi_module_symbol(module, PVMI_VERBS_SYMBOL) : NULL;
    if (table && table->version == PVMI_VERBS_VERSION)
        return table;
    if (module)
        snprintf(why, size, "%s is of another version of dpvm", PVMI_VERBS_FILE);
    return NULL;
}

const struct pvmi_verbs *pvmi_verbs_load(char *why, size_t size)
{
    static const struct pvmi_verbs *loaded;
    if (replacement)
        return replacement;
    if (!loaded && (loaded = load(why, size)))
        loaded->fork_init(); /* before anything is registered; kernels from 5.12 on need nothing */
    return loaded;
}

void pvmi_verbs_replace(const struct pvmi_verbs *table)
{
    replacement = table;
}

bool pvmi_verbs_wanted(void)
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
