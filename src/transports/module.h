/*
 * module.h - libraries that are loaded only if a setting asks for them, so that libpvm3 does not depend on what they
 * depend on. They lie beside libpvm3.
 */
#ifndef PVMT_MODULE_H
#define PVMT_MODULE_H

#include <stddef.h>

/*
 * Loads library `file`, which stays until the process ends; NULL when it cannot be, with the reason in why[size].
 * `setting` is what asks for it, as the user would write it.
 */
void *pvmt_module_load(const char *file, const char *setting, char *why, size_t size);

/* A symbol of it, or NULL. */
void *pvmt_module_symbol(void *module, const char *name);

#endif
