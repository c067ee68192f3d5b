/* start.c - see start.h. */
#include "start.h"
#include <stdio.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"

int pvmc_start_check_user(char *why, size_t size)
{
    if (geteuid() || pvmc_config_bool(PVMC_SETTING_ALLOW_ROOT))
        return 0;
    snprintf(why, size,
             "not started as root: all tasks of the machine would run as root. Start it as an ordinary user, or set "
             "PVM_ALLOW_ROOT=1 if you mean it");
    return PVMC_EDENIED;
}

int pvmc_start_check_descriptors(unsigned long limit, char *why, size_t size)
{
    if (limit >= PVMC_DESCRIPTORS_MIN)
        return 0;
    snprintf(why, size, "not started: %lu descriptors are too few; raise the limit (ulimit -n) to %d or more", limit,
             PVMC_DESCRIPTORS_MIN);
    return PVMC_ELIMIT;
}
