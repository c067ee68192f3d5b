/* experiment_variables.c - parsers of the lines that declare variables, or that name points by them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "experiment_lines.h"
#include "point.h"

#define COMPLAIN(s, ...) pvma_reader_complain(&(s)->r, (s)->r.line, __VA_ARGS__)

/* Appends a variable of that name. The line is wrong if it returns NULL, after a message. */
static struct sweep_variable *add_variable(struct sweep_reader *s, const char *name)
{
    struct sweep_experiment *e = s->e;
    if (!sweep_is_name(s, name, "_"))
        return NULL;
    int other = sweep_experiment_variable(e, name, strlen(name));
    size_t length;
    char asked[SWEEP_NAME_MAX + 3];
    snprintf(asked, sizeof asked, "$%s", name);
    if (other >= 0) {
        COMPLAIN(s, "%s is already declared on line %u; give it another name", name, e->variables[other].line);
    } else if (!sweep_unknown_name(e, asked, &length)) {
        COMPLAIN(s, "$%s has a meaning of its own; give the variable another name", name);
    } else if (e->variable_count == SWEEP_VARIABLES_MAX) {
        COMPLAIN(s, "more than %d variables; use fewer", SWEEP_VARIABLES_MAX);
    } else {
        struct sweep_variable *v = &e->variables[e->variable_count];
        *v = (struct sweep_variable){.line = s->r.line, .leader = e->variable_count};
        strcpy(v->name, name);
        e->variable_count++;
        return v;
    }
    return NULL;
}

/* Appends a value; false after a message: there are too many. */
static bool add_value(struct sweep_reader *s, struct sweep_variable *v, const char *text)
{
    if (v->count == SWEEP_VALUES_MAX) {
        pvma_reader_complain(&s->r, s->r.line, "%s has more than %d values; give fewer", v->name, SWEEP_VALUES_MAX);
        return false;
    }
    if ((v->count & (v->count - 1)) == 0)
        v->values = pvma_renew(v->values, (v->count ? 2 * v->count : 1) * sizeof *v->values);
    v->values[v->count++] = pvma_copy_text(text);
    return true;
}

/* Values may contain the variables above. */
bool sweep_check_value(struct sweep_reader *s, const char *value)
{
    size_t length;
    const char *unknown = sweep_unknown_name(s->e, value, &length);
    if (unknown)
        COMPLAIN(s, "there is no variable \"%.*s\"; declare it on an earlier line", (int)(length < 40 ? length : 40),
                 unknown);
    return !unknown;
}

void sweep_read_set(struct sweep_reader *s)
{
    const char *value = s->rest + strcspn(s->rest, " \t");
    value += strspn(value, " \t");
    if (!sweep_check_value(s, value))
        return;
    struct sweep_variable *v = add_variable(s, s->r.word[1]);
    if (v)
        add_value(s, v, value);
}

/* ---- ranges: FROM..TO+STEP and FROM..TO*FACTOR, with the same unit after each figure ---- */

struct range {
    double from, to, step;
    bool multiplies;
    char unit[8];
};

/* Reads a figure and its unit, which must be the range's if it has one already. Returns what follows, or NULL. */
static const char *read_figure(const char *text, double *figure, char unit[8])
{
    char *end;
    size_t digits = strspn(text, "0123456789."), letters;
    const char *dots = strstr(text, "..");
    if (dots && (size_t)(dots - text) < digits)
        digits = (size_t)(dots - text);
    char number[32];
    if (!digits || digits >= sizeof number)
        return NULL;
    memcpy(number, text, digits);
    number[digits] = 0;
    *figure = strtod(number, &end);
    text += digits;
    letters = strspn(text, "abcdefghijklmnopqrstuvwxyzGMK");
    if (*end || letters >= 8 || (*unit && letters && (strlen(unit) != letters || memcmp(unit, text, letters) != 0)))
        return NULL;
    if (letters) {
        memcpy(unit, text, letters);
        unit[letters] = 0;
    }
    return text + letters;
}

static bool parse(const char *text, struct range *range)
{
    char none[8] = "";
    *range = (struct range){0};
    text = read_figure(text, &range->from, range->unit);
    if (!text || strncmp(text, "..", 2) != 0)
        return false;
    text = read_figure(text + 2, &range->to, range->unit);
    if (!text || (*text != '+' && *text != '*'))
        return false;
    range->multiplies = *text == '*';
    text = read_figure(text + 1, &range->step, range->multiplies ? none : range->unit);
    return text && !*text && !*none;
}

static bool is_sound(const struct range *range)
{
    return range->from <= range->to && (range->multiplies ? range->step > 1 && range->from > 0 : range->step > 0);
}

static bool add_range(struct sweep_reader *s, struct sweep_variable *v, const char *text)
{
    struct range range;
    if (!parse(text, &range) || !is_sound(&range)) {
        pvma_reader_complain(&s->r, s->r.line,
                             "\"%.40s\" is not a range; write FROM..TO+STEP or FROM..TO*FACTOR, such as 64..1024*2, "
                             "upwards, with one unit",
                             text);
        return false;
    }
    double end = range.to * (1 + 1e-9);
    for (unsigned i = 0;; i++) {
        double value = range.multiplies ? range.from * pow(range.step, i) : range.from + i * range.step;
        char one[48];
        if (value > end)
            return true;
        snprintf(one, sizeof one, "%.10g%s", value, range.unit);
        if (!add_value(s, v, one))
            return false;
    }
}

/* ---- vary ---- */

/* The variables of one line, which change together. */
struct group {
    struct sweep_variable *first;
    size_t count;
};

/* Splits a text at its commas, in place. Returns the number of parts, at most `most`; the last one has the rest. */
static size_t split(char *text, char *parts[], size_t most)
{
    size_t count = 0;
    for (char *part; count < most && (part = count + 1 < most ? strsep(&text, ",") : text);)
        parts[count++] = part;
    return count;
}

/* Adds NAME or NAME,NAME,... False after a message. */
static bool add_group(struct sweep_reader *s, const char *names, struct group *group)
{
    char *copy = pvma_copy_text(names), *parts[SWEEP_VARIABLES_MAX];
    size_t count = split(copy, parts, SWEEP_VARIABLES_MAX), leader = s->e->variable_count;
    *group = (struct group){&s->e->variables[leader], 0};
    while (group->count < count) {
        struct sweep_variable *v = add_variable(s, parts[group->count]);
        if (!v)
            break;
        v->varies = true;
        v->leader = leader;
        group->count++;
    }
    free(copy);
    return group->count == count;
}

/* Adds a value to each variable of a line, from VALUE,VALUE,... False after a message. */
static bool add_values(struct sweep_reader *s, const struct group *group, const char *word)
{
    char *copy = pvma_copy_text(word), *parts[SWEEP_VARIABLES_MAX + 1];
    size_t count = split(copy, parts, group->count + 1);
    bool good = count == group->count;
    for (size_t i = 0; i < count; i++)
        good = good && *parts[i] && !strstr(parts[i], "..");
    if (!good)
        COMPLAIN(s, "\"%.60s\": give %zu values with commas between them, one for each variable, and no ranges", word,
                 group->count);
    for (size_t i = 0; i < group->count && good; i++)
        good = add_value(s, &group->first[i], parts[i]);
    free(copy);
    return good;
}

static bool add_word(struct sweep_reader *s, const struct group *group, const char *word)
{
    if (group->count > 1)
        return add_values(s, group, word);
    return strstr(word, "..") ? add_range(s, group->first, word) : add_value(s, group->first, word);
}

/* A point twice is a slip. */
static void check_twice(struct sweep_reader *s, const struct sweep_variable *v)
{
    for (size_t i = 1; i < v->count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(v->values[i], v->values[k])) {
                COMPLAIN(s, "%s has the value %.40s twice; give it once", v->name, v->values[i]);
                return;
            }
}

static void keep_one(struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        while (group->first[i].count > 1)
            free(group->first[i].values[--group->first[i].count]);
}

void sweep_read_vary(struct sweep_reader *s)
{
    struct group group;
    bool good = true;
    for (unsigned i = 2; i < s->r.words && good; i++)
        good = sweep_check_value(s, s->r.word[i]); /* before the line's own variables are there */
    good = add_group(s, s->r.word[1], &group) && good;
    for (unsigned i = 2; i < s->r.words && good; i++)
        good = add_word(s, &group, s->r.word[i]);
    for (size_t i = 0; i < group.count; i++) /* also if something is wrong, so that the lines below find it */
        if (!group.first[i].count)
            add_value(s, &group.first[i], "");
    if (good && group.count == 1)
        check_twice(s, group.first);
    if (sweep_point_count(s->e) > SWEEP_POINTS_MAX) {
        COMPLAIN(s, "more than %d points; vary less", SWEEP_POINTS_MAX);
        keep_one(&group);
    }
}

/* ---- points by their values ---- */

static bool has_value(const struct sweep_variable *v, const char *value)
{
    for (size_t i = 0; i < v->count; i++)
        if (!strcmp(v->values[i], value))
            return true;
    return false;
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

void sweep_read_part(struct sweep_reader *s, const char *word, struct sweep_condition *condition)
{
    const char *sign = word + strcspn(word, "!=<>");
    bool other = *sign == '!' && sign[1] == '=';
    const char *value = sign + (other ? 2 : 1);
    int variable = *sign ? sweep_experiment_variable(s->e, word, (size_t)(sign - word)) : -1;
    if (variable < 0) {
        COMPLAIN(s, "\"%.40s\" does not begin with a variable; write NAME=VALUE, with a variable of an earlier line",
                 word);
        return;
    }
    if (*sign == '!' && !other)
        COMPLAIN(s, "%.40s: write != for another value", word);
    else if ((*sign == '=' || other) && !has_value(&s->e->variables[variable], value))
        COMPLAIN(s, "%.40s: the variable of line %u has no such value", word, s->e->variables[variable].line);
    else if ((*sign == '<' || *sign == '>') && !is_number(value))
        COMPLAIN(s, "%.40s: give a number after %c", word, *sign);
    condition->parts[condition->count].variable = variable;
    condition->parts[condition->count].sign = *sign;
    condition->parts[condition->count++].value = pvma_copy_text(value);
}

void sweep_read_condition(struct sweep_reader *s, unsigned first, struct sweep_condition *condition)
{
    if (s->r.words - first > SWEEP_CONDITIONS_MAX) {
        COMPLAIN(s, "more than %d conditions on a line", SWEEP_CONDITIONS_MAX);
        return;
    }
    for (unsigned i = first; i < s->r.words; i++)
        sweep_read_part(s, s->r.word[i], condition);
}

void sweep_read_skip(struct sweep_reader *s)
{
    struct sweep_experiment *e = s->e;
    if (e->skip_count == SWEEP_SKIPS_MAX)
        COMPLAIN(s, "more than %d skip lines", SWEEP_SKIPS_MAX);
    else
        sweep_read_condition(s, 1, &e->skips[e->skip_count++]);
}
