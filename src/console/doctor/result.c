/* result.c - see result.h. */
#include "result.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tools/pvm-info/text.h"

const char *severity_name(enum severity severity)
{
    static const char *const names[SEVERITIES] = {"ok", "warning", "error"};

    return names[severity];
}

/* A text of at most RESULT_TEXT_MAX bytes. */
static json_t *text_of(const char *text)
{
    char cut[RESULT_TEXT_MAX + 1];

    snprintf(cut, sizeof(cut), "%s", text);
    return text_json(cut);
}

static void add(json_t *list, const char *name, enum severity severity, const char *cure, const char *text)
{
    json_t *result = json_object();

    json_object_set_new(result, "name", text_of(name));
    json_object_set_new(result, "severity", json_string(severity_name(severity)));
    json_object_set_new(result, "text", text_of(text));
    json_object_set_new(result, "cure", text_of(cure));
    json_array_append_new(list, result);
}

void result_add(json_t *list, const char *name, enum severity severity, const char *cure, const char *format, ...)
{
    char text[2 * RESULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add(list, name, severity, cure, text);
}

/* The last `mark` in text, or NULL. */
static char *find_last(char *text, const char *mark)
{
    char *last = NULL;

    for (char *at = text; (at = strstr(at, mark)) != NULL; at++)
        last = at;
    return last;
}

void result_add_why(json_t *list, const char *name, enum severity severity, const char *why)
{
    static const char *const marks[] = {"; ", ". ", ": "};
    char text[2 * RESULT_TEXT_MAX] = {0}, *end = NULL;

    snprintf(text, sizeof(text), "%s", why);
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && end == NULL; i++)
        end = find_last(text, marks[i]);
    if (end != NULL) {
        *end = '\0';
        if (islower((unsigned char)end[3]))
            end[2] = (char)tolower((unsigned char)end[2]);
    }
    add(list, name, severity, end != NULL ? end + 2 : "", text);
}

/* ---- from elsewhere ---- */

static bool read_severity(const json_t *result, enum severity *severity)
{
    const char *text = json_string_value(json_object_get(result, "severity"));

    for (int i = 0; i < SEVERITIES && text != NULL; i++)
        if (strcmp(text, severity_name((enum severity)i)) == 0) {
            *severity = (enum severity)i;
            return true;
        }
    return false;
}

int result_add_foreign(json_t *list, const json_t *foreign)
{
    int dropped = 0;
    size_t i;
    json_t *result;

    json_array_foreach(foreign, i, result)
    {
        const char *name = json_string_value(json_object_get(result, "name"));
        const char *text = json_string_value(json_object_get(result, "text"));
        const char *cure = json_string_value(json_object_get(result, "cure"));
        enum severity severity;
        if (name != NULL && text != NULL && cure != NULL && read_severity(result, &severity) && i < RESULTS_MAX)
            add(list, name, severity, cure, text);
        else
            dropped++;
    }
    return dropped;
}

int result_count(const json_t *list, enum severity severity)
{
    int count = 0;
    size_t i;
    json_t *result;
    enum severity own;

    json_array_foreach(list, i, result) count += read_severity(result, &own) && own == severity;
    return count;
}
