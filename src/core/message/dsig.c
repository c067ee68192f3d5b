/* dsig.c - reads data signatures; names this machine's architecture. */
#include "dsig.h"

static unsigned field_bytes(pvmc_dsig sig, unsigned shift)
{
    return 1u << (sig >> shift & 3);
}

unsigned pvmc_dsig_short_bytes(pvmc_dsig sig)
{
    return field_bytes(sig, 0);
}

unsigned pvmc_dsig_int_bytes(pvmc_dsig sig)
{
    return field_bytes(sig, 5);
}

unsigned pvmc_dsig_long_bytes(pvmc_dsig sig)
{
    return field_bytes(sig, 10);
}

bool pvmc_dsig_big_endian(pvmc_dsig sig)
{
    return (sig >> 7 & 7) == PVMC_DSIG_BIG_ENDIAN;
}

bool pvmc_dsig_valid(pvmc_dsig sig)
{
    return sig == pvmc_dsig_make(pvmc_dsig_big_endian(sig), pvmc_dsig_short_bytes(sig), pvmc_dsig_int_bytes(sig),
                                 pvmc_dsig_long_bytes(sig));
}

const char *pvmc_arch_own(void)
{
#if defined __x86_64__
    return "LINUX64";
#elif defined __i386__
    return "LINUX";
#elif defined __aarch64__
    return "LINUXARM64";
#elif defined __arm__
    return "LINUXARM";
#elif defined __powerpc64__
    return "LINUXPPC64";
#elif defined __powerpc__
    return "LINUXPPC";
#elif defined __s390x__
    return "LINUXS390X";
#elif defined __riscv && __riscv_xlen == 64
    return "LINUXRISCV64";
#elif __SIZEOF_LONG__ == 8
    return "LINUX64";
#else
    return "LINUX";
#endif
}
