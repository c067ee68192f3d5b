/* places.c - see places.h. */
#include "places.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 4095, SLOTS_MAX = 1 << 18 };

static const char *add(struct run_places *p, const char *host, size_t length, int slots)
{
    if (length == 0)
        return "a host's name is missing";
    if (p->count == PLACES_MAX)
        return "there are more hosts than a virtual machine can have (4095)";
    if (slots > SLOTS_MAX - p->slots)
        return "there are more slots than a virtual machine can have tasks";
    struct run_place *more = realloc(p->all, (size_t)(p->count + 1) * sizeof(*more));
    if (more == NULL)
        return "out of memory";
    p->all = more;
    more[p->count] = (struct run_place){strndup(host, length), slots};
    if (more[p->count].host == NULL)
        return "out of memory";
    p->count++;
    p->slots += slots;
    return NULL;
}

const char *run_places_add(struct run_places *p, const char *host, int slots)
{
    return add(p, host, strlen(host), slots);
}

/* The whole text must be a number. 0: it is none that can be meant. */
static int slots_of(const char *text, size_t length)
{
    char *end = NULL;
    long n = length > 0 && isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;

    return n >= 1 && n <= SLOTS_MAX && end == text + length ? (int)n : 0;
}

/* Splits "name:4"; an address in brackets, or with more than one colon, may contain colons. 0: wrong slots. */
static int take_slots(const char *word, size_t *length)
{
    const char *end = word + *length, *colon = memrchr(word, ':', *length);

    if (colon == NULL || (*word == '[' && memchr(colon, ']', (size_t)(end - colon)) != NULL))
        return 1;
    if (*word != '[' && memchr(word, ':', (size_t)(colon - word)) != NULL)
        return 1;
    *length = (size_t)(colon - word);
    return slots_of(colon + 1, (size_t)(end - colon) - 1);
}

const char *run_places_add_list(struct run_places *p, const char *list)
{
    const char *wrong = NULL;

    for (;;) {
        size_t whole = strcspn(list, ","), length = whole;
        int slots = take_slots(list, &length);
        wrong = slots > 0 ? add(p, list, length, slots) : "give slots as a number, such as h1:4";
        list += whole;
        if (wrong != NULL || *list == '\0')
            return wrong;
        list++;
    }
}

/* ---- files ---- */

/* Takes words that only say how many slots there are out of a line. */
static const char *take_slot_words(char *line, int *slots)
{
    static const char *const names[] = {"slots=", "cpu=", "max_slots=", "max-slots="};
    char *from = line, *to = line;

    while (*from != '\0') {
        size_t blank = strspn(from, " \t"), length = strcspn(from + blank, " \t");
        const char *word = from + blank;
        bool is_slots = false;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !is_slots; i++) {
            size_t n = strlen(names[i]);
            is_slots = length > n && strncmp(word, names[i], n) == 0;
            int value = is_slots ? slots_of(word + n, length - n) : 1;
            if (value == 0)
                return "give slots as a number, such as slots=4";
            if (is_slots && i < 2)
                *slots = value;
        }
        if (!is_slots) {
            memmove(to, from, blank + length);
            to += blank + length;
        }
        from += blank + length;
    }
    *to = '\0';
    return NULL;
}

static const char *add_line(struct run_places *p, char *line)
{
    int slots = 0;
    char *comment = strchr(line, '#');

    if (comment != NULL)
        *comment = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    const char *wrong = take_slot_words(line, &slots);
    if (wrong != NULL)
        return wrong;
    line += strspn(line, " \t");
    size_t name = strcspn(line, " \t"), all = strlen(line), kept = name;
    while (all > 0 && isspace((unsigned char)line[all - 1]))
        all--;
    if (all == 0)
        return NULL;
    int named = take_slots(line, &kept);
    if (named == 0)
        return "give slots as a number, such as h1:4";
    memmove(line + kept, line + name, all - name + 1);
    return add(p, line, all - (name - kept), slots > 0 ? slots : named);
}

const char *run_places_add_file(struct run_places *p, const char *path, int *line)
{
    char *text = NULL;
    size_t size = 0;
    const char *wrong = NULL;
    int before = p->count;
    FILE *file = fopen(path, "re");

    *line = 0;
    if (file == NULL)
        return strerror(errno);
    while (wrong == NULL && getline(&text, &size, file) >= 0) {
        wrong = add_line(p, text);
        ++*line;
    }
    free(text);
    fclose(file);
    if (wrong == NULL && p->count == before) {
        *line = 0;
        return "it names no host";
    }
    return wrong;
}

/* ---- shares ---- */

int run_places_share(const struct run_places *p, int copies, int i)
{
    int rounds = copies / p->slots, rest = copies % p->slots;

    for (int before = 0; before < i; before++)
        rest -= p->all[before].slots;
    if (rest < 0)
        rest = 0;
    return rounds * p->all[i].slots + (rest < p->all[i].slots ? rest : p->all[i].slots);
}

int run_place_name_length(const struct run_place *place)
{
    return (int)strcspn(place->host, " \t");
}

bool run_place_is_here(const struct run_place *place)
{
    int length = run_place_name_length(place);

    return (length == 1 && place->host[0] == '.') || (length == 9 && strncmp(place->host, "localhost", 9) == 0);
}

void run_places_free(struct run_places *p)
{
    for (int i = 0; i < p->count; i++)
        free(p->all[i].host);
    free(p->all);
    *p = (struct run_places){0};
}
