/*
 * The list of mailbox entries: C returns all names and entries at once, Fortran one entry per call.
 */
#include "fortran.h"

#include <string.h>

struct entry {
    char *name;
    int of_name; /* number of entries with this name */
    int index, owner, flags;
};

static struct {
    struct entry *rows;
    int count, names;
    int next; /* next == count: report the end; next < 0: fetch a new list */
} entries = {.next = -1};

static void forget(void)
{
    for (int i = 0; i < entries.count; i++)
        free(entries.rows[i].name);
    free(entries.rows);
    memset(&entries, 0, sizeof entries);
    entries.next = -1;
}

static int add(const struct pvmmboxinfo *from, int i)
{
    struct entry *to = &entries.rows[entries.count];

    *to = (struct entry){strdup(from->mi_name), from->mi_nentries, from->mi_indices[i], from->mi_owners[i],
                         from->mi_flags[i]};
    if (!to->name)
        return PvmNoMem;
    entries.count++;
    return 0;
}

static int fetch(char *pattern)
{
    struct pvmmboxinfo *from;
    int all = 0, code = pvm_getmboxinfo(pattern, &entries.names, &from);

    if (code < 0)
        return code;
    for (int i = 0; i < entries.names; i++)
        all += from[i].mi_nentries;
    entries.rows = calloc(all ? all : 1, sizeof *entries.rows);
    if (!entries.rows)
        return PvmNoMem;
    for (int i = 0; i < entries.names; i++)
        for (int k = 0; k < from[i].mi_nentries; k++)
            if (add(&from[i], k) < 0)
                return PvmNoMem;
    entries.next = 0;
    return 0;
}

void fpvm_getmboxinfo(char *pattern, char *name, size_t name_length, int *nclasses, int *nentries, int *index,
                      int *owner, int *flags, int *info)
{
    int code = 0;

    if (entries.next < 0 || *info == -1 || *nclasses == -1) {
        forget();
        code = fetch(pattern);
    }
    if (code == 0 && entries.next == entries.count)
        code = PvmNotFound;
    *info = code;
    if (code < 0) {
        forget();
        return;
    }
    const struct entry *entry = &entries.rows[entries.next++];
    fpvm_fill(name, name_length, entry->name);
    *nclasses = entries.names;
    *nentries = entry->of_name;
    *index = entry->index;
    *owner = entry->owner;
    *flags = entry->flags;
}
