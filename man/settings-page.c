/*
 * settings-page - writes dpvm(7) and dpvm-transports(7): copies a page and replaces its line "@SETTINGS@" with the
 * table of all settings, "@CARRIED@" with the table of settings that spawned tasks inherit, and "@FAILPOINTS@" with the
 * table of failpoints.
 *
 *   settings-page PAGE.in PAGE
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "core/fault/failpoint.h"

static const char *const kind_names[] = {
    [PVMC_KIND_TEXT] = "text",      [PVMC_KIND_PATH] = "path",   [PVMC_KIND_BOOL] = "yes or no",
    [PVMC_KIND_INTEGER] = "number", [PVMC_KIND_BYTES] = "bytes", [PVMC_KIND_SECONDS] = "seconds",
    [PVMC_KIND_FACTOR] = "factor",  [PVMC_KIND_NAME] = "name",   [PVMC_KIND_LEVEL] = "level",
};

/* Writes text for mdoc: no line may begin with a control character, and backslashes and minus signs survive. */
static void put_text(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        fputs(*text == '\\' ? "\\e" : *text == '-' ? "\\-" : (char[]){*text, '\0'}, out);
}

static void put_setting(FILE *out, enum pvmc_setting which)
{
    const struct pvmc_setting_row *row = &pvmc_setting_table[which];
    fprintf(out, ".It Ev %s Pq %s", row->name, kind_names[row->kind]);
    if (*row->fallback) {
        fputs(" , default ", out);
        put_text(out, row->fallback);
    }
    fputs("\n", out);
    put_text(out, row->help);
    fputs(".\n", out);
}

static void put_failpoint(FILE *out, const struct pvmc_failpoint_row *row)
{
    fprintf(out, ".It Cm %s%s\n", row->name, row->can_fail ? "" : " Pq cannot fail");
    put_text(out, row->help);
    fputs(".\n", out);
}

/* Writes the table for which a line of the page stands; returns 0 if the line is ordinary text. */
static int put_list(FILE *out, const char *line)
{
    int all = strcmp(line, "@SETTINGS@\n") == 0, carried = strcmp(line, "@CARRIED@\n") == 0;
    int failpoints = strcmp(line, "@FAILPOINTS@\n") == 0;
    if (!all && !carried && !failpoints)
        return 0;
    fputs(".Bl -tag -width Ds\n", out);
    for (int i = 0; all && i < PVMC_SETTING_COUNT; i++)
        put_setting(out, (enum pvmc_setting)i);
    for (int i = 0; carried && i < PVMC_CARRIED_COUNT; i++)
        put_setting(out, pvmc_setting_carried[i]);
    for (int i = 0; failpoints && i < PVMC_FAILPOINT_COUNT; i++)
        put_failpoint(out, &pvmc_failpoint_table[i]);
    fputs(".El\n", out);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        errx(2, "usage: settings-page PAGE.in PAGE");
    FILE *in = fopen(argv[1], "r");
    if (!in)
        err(1, "%s", argv[1]);
    FILE *out = fopen(argv[2], "w");
    if (!out)
        err(1, "%s", argv[2]);
    char line[4096];
    int found = 0;
    while (fgets(line, sizeof line, in))
        if (put_list(out, line))
            found = 1;
        else
            fputs(line, out);
    fclose(in);
    if (fclose(out) != 0)
        err(1, "%s", argv[2]);
    if (!found)
        errx(1, "%s has no line @SETTINGS@ or @CARRIED@", argv[1]);
    return 0;
}
