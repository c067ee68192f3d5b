/* fuzz_start_text.c - start texts as they arrive over a launcher's channel, and the input in hex as their fields. */
#include "fuzz.h"
#include <stdio.h>
#include <string.h>
#include "pvmd/launch/startup.h"

static void check(const char *text, size_t length)
{
    struct pvmd_start_text t, again;
    int rc = pvmd_start_text_parse(text, length, &t);
    if (!rc) {
        char *formatted = pvmd_start_text_format(&t);
        MUST(formatted && !pvmd_start_text_parse(formatted, strlen(formatted), &again));
        MUST(again.index == t.index && again.setting_count == t.setting_count && !strcmp(again.name, t.name));
        pvmd_start_text_free(&again);
        free(formatted);
    }
    pvmd_start_text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(2 * size + 16), *to = text + sprintf(text, "dpvm 1\n");
    check((const char *)data, size);
    for (size_t i = 0; i < size; i++)
        to += sprintf(to, "%02x", data[i]);
    strcpy(to, "\nend\n");
    check(text, strlen(text));
    free(text);
    return 0;
}
