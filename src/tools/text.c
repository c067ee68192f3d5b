/* text.c - see text.h. */
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *text_json(const char *text)
{
    json_t *value = json_string(text);

    if (value != NULL)
        return value;
    char *copy = strdup(text);
    for (char *p = copy; p != NULL && *p != '\0'; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    value = json_string(copy != NULL ? copy : "");
    free(copy);
    return value;
}

void text_print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(value);
}
