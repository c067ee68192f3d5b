/* experiment_range.c - ranges of values: FROM..TO+STEP and FROM..TO*FACTOR, with the same unit after each figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "experiment_lines.h"

struct range {
    double from, to, step;
    bool multiplies;
    char unit[8];
};

bool sweep_add_value(struct sweep_reader *s, struct sweep_variable *v, const char *text)
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

bool sweep_add_range(struct sweep_reader *s, struct sweep_variable *v, const char *text)
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
        if (!sweep_add_value(s, v, one))
            return false;
    }
}
