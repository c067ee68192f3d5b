/* fuzz_start_line.c - output lines of a launched command: an accepted daemon's line is written the same again. */
#include "fuzz.h"
#include <string.h>
#include "pvmd/launch/startup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pvmd_start_line line, again;
    char text[PVMD_START_LINE_MAX];
    char *input = malloc(size + 1);
    memcpy(input, data, size);
    input[size] = '\0';
    enum pvmd_start_line_kind kind = pvmd_start_line_parse(input, &line);
    free(input);
    if (kind == PVMD_LINE_START) {
        MUST(line.port && line.arch[0]);
        pvmd_start_line_format(&line, text, sizeof text);
        MUST(pvmd_start_line_parse(text, &again) == PVMD_LINE_START);
        MUST(!memcmp(&line, &again, sizeof line));
    }
    MUST(kind != PVMD_LINE_ERROR || (line.code < 0 && strlen(line.why) < sizeof line.why));
    return 0;
}
