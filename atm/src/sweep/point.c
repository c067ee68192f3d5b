/* point.c - see point.h. */
#include "point.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8 }; /* values that contain variables */

static const char *const known[] = {"seed", "replication", "topology"};

/* A variable that follows another adds no points. */
static size_t factor_of(const struct sweep_experiment *e, size_t variable)
{
    return e->variables[variable].leader == variable ? e->variables[variable].count : 1;
}

size_t sweep_point_count(const struct sweep_experiment *e)
{
    size_t count = 1;
    for (size_t i = 0; i < e->variable_count; i++)
        count *= factor_of(e, i);
    return count;
}

const char *sweep_point_value(const struct sweep_experiment *e, size_t point, size_t variable)
{
    size_t leader = e->variables[variable].leader;
    for (size_t i = e->variable_count; i-- > leader + 1;)
        point /= factor_of(e, i);
    return e->variables[variable].values[point % e->variables[leader].count];
}

static bool compares(const char *text, char sign, const char *with)
{
    if (sign == '=' || sign == '!')
        return (strcmp(text, with) == 0) == (sign == '=');
    char *end;
    double number = strtod(text, &end), other = strtod(with, NULL);
    return !*end && (sign == '<' ? number < other : number > other);
}

bool sweep_point_holds(const struct sweep_experiment *e, size_t point, const struct sweep_condition *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *value = sweep_point_value(e, point, (size_t)c->parts[i].variable);
        if (!compares(value, c->parts[i].sign, c->parts[i].value))
            return false;
    }
    return true;
}

bool sweep_point_is_skipped(const struct sweep_experiment *e, size_t point)
{
    for (size_t i = 0; i < e->skip_count; i++)
        if (sweep_point_holds(e, point, &e->skips[i]))
            return true;
    return false;
}

uint32_t sweep_point_replications(const struct sweep_experiment *e, size_t point)
{
    for (size_t i = e->exception_count; i-- > 0;)
        if (sweep_point_holds(e, point, &e->exceptions[i].condition))
            return e->exceptions[i].replications;
    return e->replications;
}

uint32_t sweep_replications_most(const struct sweep_experiment *e)
{
    uint32_t most = e->replications;
    for (size_t i = 0; i < e->exception_count; i++)
        most = e->exceptions[i].replications > most ? e->exceptions[i].replications : most;
    return most;
}

void sweep_point_format(const struct sweep_experiment *e, size_t point, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < e->variable_count && used < size; i++)
        if (e->variables[i].varies)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", e->variables[i].name,
                                     sweep_point_value(e, point, i));
}

/* ---- dollar signs ---- */

/* Finds the next name after a dollar sign. *from is the sign, *after what follows. False: there is none. */
static bool next_name(const char *text, const char **from, const char **name, size_t *length, const char **after)
{
    for (*from = strchr(text, '$'); *from; *from = strchr(*from + 1, '$')) {
        bool braces = (*from)[1] == '{';
        *name = *from + 1 + braces;
        if ((*from)[1] == '$') {
            *length = 0;
            *after = *from + 2;
            return true;
        }
        if (!isalpha((unsigned char)**name))
            continue;
        for (*length = 0; isalnum((unsigned char)(*name)[*length]) || (*name)[*length] == '_';)
            ++*length;
        *after = *name + *length;
        if (!braces)
            return true;
        if (**after == '}')
            return ++*after, true;
    }
    return false;
}

static bool is_known(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == length && !memcmp(known[i], name, length))
            return true;
    return false;
}

const char *sweep_unknown_name(const struct sweep_experiment *e, const char *text, size_t *length)
{
    const char *from, *name, *after;
    for (; next_name(text, &from, &name, length, &after); text = after)
        if (*length && !is_known(name, *length) && sweep_experiment_variable(e, name, *length) < 0)
            return name;
    return NULL;
}

static void write_value(FILE *out, const struct sweep_run *run, const char *text, int depth);

static void write_name(FILE *out, const struct sweep_run *run, const char *name, size_t length, int depth)
{
    int variable = sweep_experiment_variable(run->experiment, name, length);
    if (!length)
        fputc('$', out);
    else if (variable >= 0)
        write_value(out, run, sweep_point_value(run->experiment, run->point, (size_t)variable), depth + 1);
    else if (*name == 's')
        fprintf(out, "%" PRIu64, run->seed);
    else if (*name == 'r')
        fprintf(out, "%" PRIu32, run->replication);
    else if (run->topology)
        fputs(run->topology, out);
}

static void write_value(FILE *out, const struct sweep_run *run, const char *text, int depth)
{
    const char *from, *name, *after;
    size_t length;
    for (; depth < DEPTH_MAX && ftell(out) <= SWEEP_TEXT_MAX && next_name(text, &from, &name, &length, &after);
         text = after) {
        fwrite(text, (size_t)(from - text), 1, out);
        write_name(out, run, name, length, depth);
    }
    fputs(text, out);
}

char *sweep_substitute(const struct sweep_run *run, const char *text)
{
    char *result;
    size_t length;
    FILE *out = open_memstream(&result, &length);
    if (!out)
        pvma_out_of_memory();
    write_value(out, run, text, 0);
    if (fclose(out))
        pvma_out_of_memory();
    if (length <= SWEEP_TEXT_MAX)
        return result;
    free(result);
    return NULL;
}
