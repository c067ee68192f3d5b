/* application.h - what the command line of `pvmd3 --join` says, and what it leads to: whom to call, with which token.
 */
#ifndef PVMD_APPLICATION_H
#define PVMD_APPLICATION_H

#include <stdint.h>
#include "core/message/token.h"
#include "pvmd/base/hosts.h"

struct pvmd_application {
    const char *address;    /* HOST:PORT[,HOST:PORT...] */
    const char *token_file; /* "-": standard input; NULL: the systemd credential pvm-token */
    const char *name;       /* of this host; NULL: as it calls itself */
    int speed, slots;       /* 0: not given */
};

#define PVMD_TARGETS_MAX  16
#define PVMD_TARGET_BYTES 300

/* The daemons to call. */
struct pvmd_targets {
    struct {
        char name[PVMD_TARGET_BYTES]; /* or address */
        uint16_t port;
    } list[PVMD_TARGETS_MAX];
    unsigned count;
};

/* Each returns 0 or a PVMC_E code, logged with the remedy. The caller wipes the token. */
int pvmd_application_targets(const struct pvmd_application *a, struct pvmd_targets *targets);
int pvmd_application_token(const struct pvmd_application *a, struct pvmc_token *token);
int pvmd_application_name(const struct pvmd_application *a, char name[PVMD_HOST_NAME_MAX + 1]);

#endif
