/* entry.c - see entry.h. */
#include "entry.h"
#include "check.h"

int entry_put(const char *name, int value, int flags)
{
    int mid = pvm_mkbuf(PvmDataDefault), old = pvm_setsbuf(mid);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    pvm_setsbuf(old);
    int code = pvm_putinfo((char *)name, mid, flags);
    CHECK_EQ(pvm_freebuf(mid), 0);
    return code;
}

int entry_get(const char *name, int index, int flags)
{
    int value, mid = pvm_recvinfo((char *)name, index, flags);
    if (mid < 0)
        return mid;
    CHECK_EQ(pvm_getrbuf(), mid);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    return value;
}
