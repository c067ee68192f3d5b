#include "name.h"
#include <string.h>
#include "proto.h"
#include "pvm3.h"

int pvmg_name_pack(const char *name)
{
    int length = (int)strlen(name);
    int code = pvm_pkint(&length, 1, 1);

    return code < 0 ? code : pvm_pkbyte((char *)name, length, 1);
}

int pvmg_name_unpack(char *name, int size)
{
    int length, code = pvm_upkint(&length, 1, 1);

    if (code < 0)
        return code;
    if (length < 1 || length >= size)
        return PvmBadMsg;
    code = pvm_upkbyte(name, length, 1);
    if (code < 0)
        return code;
    name[length] = '\0';
    return strlen(name) == (size_t)length ? PvmOk : PvmBadMsg;
}

int pvmg_name_check(const char *name)
{
    if (!name || !*name)
        return PvmNullGroup;
    return strlen(name) > PVMG_GROUP_NAME_MAX ? PvmBadParam : PvmOk;
}
