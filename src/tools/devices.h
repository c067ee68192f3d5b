/* devices.h - the transports of this dpvm: what each is, whether it can be used here, and what PVM_TRANSPORT chooses.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include <jansson.h>
#include <stdbool.h>

/* Prints the table of transports alone. */
void devices_print(void);

/* The same as a JSON array. */
json_t *devices_json(void);

/*
 * Prints it with the order that PVM_TRANSPORT=auto and the present setting lead to. 0, or PVMI_EPARAM when the setting
 * is not understood, which is said on stderr.
 */
int devices_show(bool json);

#endif
