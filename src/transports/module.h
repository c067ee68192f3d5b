/*
 * module.h - libraries that are loaded only where a setting asks for them, so that libpvm3 does not need what they
 * need. They lie beside libpvm3.
 */
#ifndef PVMI_MODULE_H
#define PVMI_MODULE_H

#include <stddef.h>

/*
 * Loads library `file`, which stays until the process ends; NULL when it cannot be, with the reason in why[size].
 * `setting` is what asks for it, as the user would write it.
 */
void *pvmi_module_load(const char *file, const char *setting, char *why, size_t size);

/* A symbol of it, or NULL. */
void *pvmi_module_symbol(void *module, const char *name);

#endif
