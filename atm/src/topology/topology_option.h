/* topology_option.h - inside the topology parser: key=value words, described by tables. */
#ifndef PVMA_TOPOLOGY_OPTION_H
#define PVMA_TOPOLOGY_OPTION_H

#include "base/sim.h"

enum pvma_option_type {
    PVMA_OPTION_TIME,   /* pvma_ps */
    PVMA_OPTION_RATE,   /* int64_t, bit/s > 0 */
    PVMA_OPTION_COUNT,  /* uint32_t, up to `max` */
    PVMA_OPTION_CHANCE, /* double, 0..1 */
    PVMA_OPTION_AAL,    /* enum pvma_aal */
    PVMA_OPTION_CHOICE, /* int: index in `choices` */
    PVMA_OPTION_FLAG,   /* bool: no, yes */
};

struct pvma_option {
    const char *key;
    enum pvma_option_type type;
    size_t offset;       /* of the member that it sets */
    int64_t min, max;    /* COUNT */
    const char *choices; /* CHOICE: "one|two" */
};

/*
 * Parses `value` and sets the option `key` in *target. Returns NULL, or a message that says what is allowed, valid
 * until the next call.
 */
const char *pvma_option_set(const struct pvma_option *options, const char *key, const char *value, void *target);

/* The keys of a table, separated by blanks, for messages. Valid until the next call. */
const char *pvma_option_keys(const struct pvma_option *options);

#endif
