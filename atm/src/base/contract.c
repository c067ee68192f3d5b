/* contract.c - the texts of causes and services. */
#include "contract.h"

const char *pvma_cause_text(int cause)
{
    switch (cause) {
#define X(name, number, text)                                                                                          \
    case number:                                                                                                       \
        return text;
        PVMA_CAUSES(X)
#undef X
    }
    return "unknown cause";
}

const char *pvma_service_name(enum pvma_service service)
{
    static const char *const names[PVMA_SERVICES] = {"ubr", "vbr", "abr"};
    return names[service];
}
