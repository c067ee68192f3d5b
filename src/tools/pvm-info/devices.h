/* devices.h - the transports of this dpvm: description, whether they are usable here, and which PVM_TRANSPORT chooses.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include <jansson.h>
#include <stdbool.h>

/* Prints the table of transports. */
void devices_print(void);

/* The same as a JSON array. */
json_t *devices_json(void);

/*
 * Prints the table and the order of routes for PVM_TRANSPORT=auto and for the current setting. 0, or PVMC_EPARAM after
 * a message on stderr when the setting is malformed.
 */
int devices_show(bool json);

#endif
