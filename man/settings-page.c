/*
 * settings-page - writes dpvm(7) and dpvm-transports(7): copies a page and puts the table of all settings in place of
 * its line "@SETTINGS@", that of the settings that are carried to spawned tasks in place of "@CARRIED@".
 *
 *   settings-page PAGE.in PAGE
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include "../src/core/config.h"

static const char *const kind_names[] = {
    [PVMI_KIND_TEXT] = "text",      [PVMI_KIND_PATH] = "path",   [PVMI_KIND_BOOL] = "yes or no",
    [PVMI_KIND_INTEGER] = "number", [PVMI_KIND_BYTES] = "bytes", [PVMI_KIND_SECONDS] = "seconds",
    [PVMI_KIND_NAME] = "name",      [PVMI_KIND_LEVEL] = "level",
};

/* Text of the table as mdoc text: no line may begin with a control character, backslashes and minus signs stay. */
static void put_text(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        fputs(*text == '\\' ? "\\e" : *text == '-' ? "\\-" : (char[]){*text, '\0'}, out);
}

static void put_setting(FILE *out, enum pvmi_setting which)
{
    const struct pvmi_setting_row *row = &pvmi_setting_table[which];
    fprintf(out, ".It Ev %s Pq %s", row->name, kind_names[row->kind]);
    if (*row->fallback) {
        fputs(" , default ", out);
        put_text(out, row->fallback);
    }
    fputs("\n", out);
    put_text(out, row->help);
    fputs(".\n", out);
}

/* What a line of the page stands for; false when it is only a line. */
static int put_list(FILE *out, const char *line)
{
    int all = strcmp(line, "@SETTINGS@\n") == 0, carried = strcmp(line, "@CARRIED@\n") == 0;
    if (!all && !carried)
        return 0;
    fputs(".Bl -tag -width Ds\n", out);
    for (int i = 0; all && i < PVMI_SETTING_COUNT; i++)
        put_setting(out, (enum pvmi_setting)i);
    for (int i = 0; carried && i < PVMI_CARRIED_COUNT; i++)
        put_setting(out, pvmi_setting_carried[i]);
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
