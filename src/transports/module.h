/*
 * module.h - libraries that are loaded only if a setting asks for them, so that libpvm3 has no dependency on them. They
 * are installed beside libpvm3.
 */
#ifndef PVMT_MODULE_H
#define PVMT_MODULE_H

#include <stddef.h>

/*
 * Loads library `file`, which stays until the process ends; NULL when it cannot be loaded, with the reason in
 * why[size]. `setting` is the setting that requires it, as the user would write it.
 */
void *pvmt_module_load(const char *file, const char *setting, char *why, size_t size);

/* A symbol of it, or NULL. */
void *pvmt_module_symbol(void *module, const char *name);

#endif
