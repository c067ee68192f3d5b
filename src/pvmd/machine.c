/* machine.c - the machine's id and secret. */
#include "machine.h"
#include <openssl/rand.h>
#include "../core/error.h"
#include "../core/log.h"

struct pvmd_machine pvmd_machine;

int pvmd_machine_new(void)
{
    if (RAND_bytes(pvmd_machine.id, sizeof pvmd_machine.id) == 1 &&
        RAND_priv_bytes(pvmd_machine.secret, sizeof pvmd_machine.secret) == 1)
        return 0;
    pvmi_log(PVMI_LOG_ERROR, "no random numbers for the machine's secret");
    return PVMI_ESYSTEM;
}
