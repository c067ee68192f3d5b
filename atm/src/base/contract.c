/* contract.c - the texts of the causes. */
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
