/* protocol.c - see protocol.h. */
#include "protocol.h"
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "core/error.h"

static const char *const names[] = {
    [atm_native] = "native",
    [atm_sscop] = "sscop",
    [atm_pcaal_1] = "pcaal-1",
    [atm_pcaal_n] = "pcaal-n",
    [atm_ece_switching] = "ece-switching",
    [atm_ece_duplicating] = "ece-duplicating",
};

int pvmt_atm_protocol(Atm_protocol *protocol, char *why, size_t size)
{
    const char *text = pvmc_config_text(PVMC_SETTING_ATM_PROTOCOL);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], text)) {
            *protocol = (Atm_protocol)i;
            return 0;
        }
    snprintf(why, size, "PVM_ATM_PROTOCOL=%s must be native, sscop, pcaal-1, pcaal-n, ece-switching or ece-duplicating",
             text);
    return PVMC_EPARAM;
}

const char *pvmt_atm_protocol_name(Atm_protocol protocol)
{
    return names[protocol];
}
