/* show.c - see show.h. */
#include "show.h"
#include <stdio.h>
#include <string.h>
#include "console/console.h"
#include "core/visible.h"
#include "result.h"

#define INDENT 9 /* columns of the severity and a blank */

static const char *text_of(const json_t *result, const char *key)
{
    const char *text = json_string_value(json_object_get(result, key));

    return text != NULL ? text : "";
}

static int colour_of(const char *severity)
{
    return strcmp(severity, "ok") == 0 ? 32 : strcmp(severity, "warning") == 0 ? 33 : 31;
}

static void show_result(const json_t *result, const char *host)
{
    const char *severity = text_of(result, "severity"), *cure = text_of(result, "cure");
    bool coloured = console_shows_colours(stdout);

    if (coloured)
        printf("\033[%dm", colour_of(severity));
    printf("%-*s", INDENT - 1, severity);
    printf("%s %s%s%s: %s\n", coloured ? "\033[0m" : "", PVMC_VISIBLE(host), *host != '\0' ? ": " : "",
           PVMC_VISIBLE(text_of(result, "name")), PVMC_VISIBLE(text_of(result, "text")));
    if (*cure != '\0')
        printf("%*scure: %s\n", INDENT, "", PVMC_VISIBLE(cure));
}

static void show_list(const json_t *list, const char *host, bool quiet)
{
    size_t i;
    json_t *result;

    json_array_foreach(list, i, result) if (!quiet || strcmp(text_of(result, "severity"), severity_name(SEVERITY_OK)) !=
                                                          0) show_result(result, host);
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

void show_report(const json_t *report, bool quiet)
{
    const json_t *hosts = json_object_get(report, "hosts");
    int errors = (int)json_integer_value(json_object_get(report, "errors"));
    int warnings = (int)json_integer_value(json_object_get(report, "warnings"));
    size_t i;
    json_t *host;

    show_list(json_object_get(report, "results"), "", quiet);
    json_array_foreach(hosts, i, host) show_list(json_object_get(host, "results"), text_of(host, "name"), quiet);
    if (errors + warnings > 0)
        printf("%d error%s, %d warning%s.\n", errors, plural(errors), warnings, plural(warnings));
    else if (!quiet)
        puts("No trouble was found.");
}
