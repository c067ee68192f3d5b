/* nodes.c - see nodes.h. */
#include "nodes.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NODES_MAX = 4095, SLOTS_MAX = 1 << 18, NAME_MAX_BYTES = 255 };

static bool is_name(const char *name, size_t length)
{
    if (length == 0 || length > NAME_MAX_BYTES || !isalnum((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && (name[i] == '\0' || strchr("._-:", name[i]) == NULL))
            return false;
    return true;
}

static struct node *find(const struct nodes *nodes, const char *name, size_t length)
{
    for (int i = 0; i < nodes->count; i++)
        if (strlen(nodes->all[i].name) == length && strncasecmp(nodes->all[i].name, name, length) == 0)
            return &nodes->all[i];
    return NULL;
}

const char *nodes_add(struct nodes *nodes, const char *name, size_t length, int slots)
{
    struct node *node = find(nodes, name, length);

    if (!is_name(name, length))
        return "not the name of a host";
    if (node != NULL) {
        node->slots += slots;
        return node->slots <= SLOTS_MAX ? NULL : "more slots than a host can have tasks";
    }
    if (nodes->count == NODES_MAX)
        return "more hosts than a virtual machine can have (4095)";
    struct node *more = realloc(nodes->all, ((size_t)nodes->count + 1) * sizeof(*more));
    if (more == NULL)
        return "out of memory";
    nodes->all = more;
    more[nodes->count] = (struct node){strndup(name, length), slots};
    if (more[nodes->count].name == NULL)
        return "out of memory";
    nodes->count++;
    return NULL;
}

static const char *add_line(struct nodes *nodes, const char *line, size_t length)
{
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    for (; length > 0 && isspace((unsigned char)*line); length--)
        line++;
    return length == 0 ? NULL : nodes_add(nodes, line, length, 1);
}

const char *nodes_read_file(struct nodes *nodes, const char *path, int *line)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    const char *wrong = NULL;
    FILE *file = fopen(path, "re");

    *line = 0;
    if (file == NULL)
        return strerror(errno);
    while (wrong == NULL && (length = getline(&text, &size, file)) >= 0) {
        wrong = add_line(nodes, text, (size_t)length);
        ++*line;
    }
    free(text);
    fclose(file);
    if (wrong == NULL)
        *line = 0;
    return wrong != NULL ? wrong : nodes->count == 0 ? "it names no host" : NULL;
}

const char *nodes_read_lines(struct nodes *nodes, const char *text)
{
    const char *wrong = NULL;

    while (wrong == NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        wrong = add_line(nodes, text, length);
        text += length + (text[length] == '\n');
    }
    return wrong != NULL ? wrong : nodes->count == 0 ? "it names no host" : NULL;
}

/* A number from 1 on; *rest is what follows it. 0: there is none. */
static int number(const char *text, const char **rest)
{
    char *end = NULL;
    long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

    *rest = end;
    return value >= 1 && value <= SLOTS_MAX ? (int)value : 0;
}

const char *nodes_read_pairs(struct nodes *nodes, const char *text)
{
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const char *name = text, *rest;
        size_t length = strcspn(text, " ");
        text += length;
        text += strspn(text, " ");
        int slots = number(text, &rest);
        if (slots == 0 || (*rest != ' ' && *rest != '\0'))
            return "not a list of hosts, each followed by its number of slots";
        const char *wrong = nodes_add(nodes, name, length, slots);
        if (wrong != NULL)
            return wrong;
        text = rest;
    }
    return nodes->count == 0 ? "it names no host" : NULL;
}

const char *nodes_set_slots(struct nodes *nodes, const char *text, int share)
{
    static const char malformed[] = "not a list of numbers such as 4(x2),1";
    int done = 0;

    for (;;) {
        const char *rest;
        int slots = number(text, &rest), times = 1;
        if (slots == 0)
            return malformed;
        if (strncmp(rest, "(x", 2) == 0) {
            times = number(rest + 2, &rest);
            if (times == 0 || *rest++ != ')')
                return malformed;
        }
        if (times > nodes->count - done)
            return "more numbers than hosts";
        for (; times > 0; times--)
            nodes->all[done++].slots = slots / share > 0 ? slots / share : 1;
        if (*rest == '\0')
            return done == nodes->count ? NULL : "fewer numbers than hosts";
        if (*rest != ',')
            return malformed;
        text = rest + 1;
    }
}

int node_is(const char *name, const char *other)
{
    size_t length = strcspn(name, "."), length_of_other = strcspn(other, ".");

    if (strcasecmp(name, other) == 0)
        return 1;
    return length == length_of_other && strncasecmp(name, other, length) == 0 &&
           (name[length] == '\0' || other[length] == '\0');
}

void nodes_free(struct nodes *nodes)
{
    for (int i = 0; i < nodes->count; i++)
        free(nodes->all[i].name);
    free(nodes->all);
    *nodes = (struct nodes){0};
}
