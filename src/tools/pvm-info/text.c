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

/* DEL is the only control character that jansson does not escape. */
static int write_ascii(const char *bytes, size_t length, void *file)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == 0x7f)
            fputs("\\u007f", file);
        else
            putc(bytes[i], file);
    return 0;
}

void text_print_json(json_t *value, size_t flags)
{
    json_dump_callback(value, write_ascii, stdout, flags | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(value);
}
