/* version.c - see version.h. */
#include "version.h"
#include "pvm3.h"

const char pvmc_version[] = DPVM_VERSION;

void pvmc_version_print(FILE *to, const char *program)
{
    fprintf(to, "%s (dpvm) %s, PVM %s\n", program, pvmc_version, PVM_VER);
}
