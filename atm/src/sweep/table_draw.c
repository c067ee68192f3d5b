/* table_draw.c - the plots of an experiment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "plot/plot.h"
#include "table.h"

enum { CURVES_MAX = 256 };

/* The curves of a plot: points that differ only in x. */
struct curves {
    const struct sweep_table *table;
    const struct sweep_plot *plot;
    size_t first[CURVES_MAX]; /* a point of each */
    size_t count;
};

/* Whether a variable tells curves apart: one that follows x does not. */
static bool tells_apart(const struct curves *c, size_t variable)
{
    const struct sweep_variable *v = c->table->experiment->variables;
    return (int)variable == c->plot->series || v[variable].leader != v[c->plot->x].leader;
}

/* Whether a point is in the figure, and has a value. */
static bool has_point(const struct curves *c, size_t point)
{
    return sweep_table_has(c->table, point) && sweep_point_holds(c->table->experiment, point, &c->plot->only) &&
           !isnan(sweep_table_estimate(c->table, point, (size_t)c->plot->y).mean);
}

static bool is_fixed(const struct curves *c, size_t variable)
{
    for (size_t i = 0; i < c->plot->only.count; i++)
        if ((size_t)c->plot->only.parts[i].variable == variable && c->plot->only.parts[i].sign == '=')
            return true;
    return false;
}

static bool has_each_value_once(const struct sweep_variable *v)
{
    for (size_t i = 1; i < v->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(v->values[i], v->values[k]) == 0)
                return false;
    return true;
}

/* Of variables that change together one says all: the series, or the first. */
static bool is_named(const struct curves *c, size_t variable)
{
    const struct sweep_variable *v = c->table->experiment->variables;
    size_t leader = v[variable].leader;
    if (!v[variable].varies || !tells_apart(c, variable) || is_fixed(c, variable))
        return false;
    if (c->plot->series >= 0 && v[c->plot->series].leader == leader && has_each_value_once(&v[c->plot->series]))
        return false;
    return variable == leader || !has_each_value_once(&v[leader]);
}

/* A figure alone says nothing without the variable's name. Returns the length. */
static size_t name_series(const struct curves *c, size_t point, char *name, size_t size)
{
    const struct sweep_experiment *e = c->table->experiment;
    const char *value = sweep_point_value(e, point, (size_t)c->plot->series);
    bool figure = strspn(value, "0123456789.") > 0;
    return (size_t)snprintf(name, size, "%s%s%s", figure ? e->variables[c->plot->series].name : "", figure ? " " : "",
                            value);
}

/* The names of a curve: its series, and the values of other variables, which make curves of their own. */
static void name_curve(const struct curves *c, size_t point, char *name, size_t size)
{
    const struct sweep_experiment *e = c->table->experiment;
    size_t used = 0;
    name[0] = 0;
    if (c->plot->series >= 0)
        used = name_series(c, point, name, size);
    for (size_t i = 0; i < e->variable_count && used < size; i++)
        if (is_named(c, i) && (int)i != c->plot->series)
            used += (size_t)snprintf(name + used, size - used, "%s%s %s", used ? ", " : "", e->variables[i].name,
                                     sweep_point_value(e, point, i));
    if (!used)
        snprintf(name, size, "%s", e->columns[c->plot->y].name);
}

static bool same_curve(const struct curves *c, size_t a, size_t b)
{
    const struct sweep_experiment *e = c->table->experiment;
    for (size_t i = 0; i < e->variable_count; i++)
        if (tells_apart(c, i) && strcmp(sweep_point_value(e, a, i), sweep_point_value(e, b, i)) != 0)
            return false;
    return true;
}

static void find_curves(struct curves *c)
{
    for (size_t p = 0; p < c->table->points; p++) {
        size_t k = 0;
        if (!has_point(c, p))
            continue;
        while (k < c->count && !same_curve(c, c->first[k], p))
            k++;
        if (k == c->count && c->count < CURVES_MAX)
            c->first[c->count++] = p;
    }
}

/* Times are microseconds; values of x that are no figures are numbered. */
static double x_of(const struct curves *c, size_t point)
{
    const struct sweep_experiment *e = c->table->experiment;
    const struct sweep_variable *v = &e->variables[c->plot->x];
    const char *text = sweep_point_value(e, point, (size_t)c->plot->x);
    char *end;
    pvma_ps time;
    double x = strtod(text, &end);
    if (!pvma_time_parse(text, PVMA_NEVER, &time))
        return (double)time / (double)PVMA_US;
    if (end != text)
        return x * (*end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1);
    for (size_t i = 0; i < v->count; i++)
        if (!strcmp(v->values[i], text))
            return (double)i;
    return 0;
}

static void write_points(const struct curves *c, size_t curve, FILE *gnuplot)
{
    for (size_t p = 0; p < c->table->points; p++) {
        if (!same_curve(c, c->first[curve], p) || !has_point(c, p))
            continue;
        struct sweep_estimate s = sweep_table_estimate(c->table, p, (size_t)c->plot->y);
        fprintf(gnuplot, "%.8g %.8g", x_of(c, p), s.mean);
        if (c->table->most > 1)
            fprintf(gnuplot, " %.8g %.8g", s.low, s.high);
        fprintf(gnuplot, "\n");
    }
    plot_curve_end(gnuplot);
}

void sweep_table_plot_path(const struct sweep_experiment *e, size_t plot, const char *folder, char *path, size_t size)
{
    snprintf(path, size, "%s/%s-%s.svg", folder, e->name, e->plots[plot].name);
}

static void draw(const struct sweep_table *table, const struct sweep_plot *plot, const char *folder, FILE *gnuplot)
{
    const struct sweep_experiment *e = table->experiment;
    struct curves c = {.table = table, .plot = plot};
    char path[4096], x[2 * SWEEP_NAME_MAX], y[2 * SWEEP_NAME_MAX];
    pvma_ps time;
    const char *unit = sweep_workload_unit(e, (size_t)plot->y);
    find_curves(&c);
    if (!c.count)
        return;
    sweep_table_plot_path(e, (size_t)(plot - e->plots), folder, path, sizeof path);
    snprintf(y, sizeof y, *unit ? "%s, %s" : "%s", e->columns[plot->y].name, unit);
    bool is_time = !pvma_time_parse(e->variables[plot->x].values[0], PVMA_NEVER, &time) && time;
    snprintf(x, sizeof x, "%s%s", e->variables[plot->x].name, is_time ? ", us" : "");
    plot_begin(gnuplot, path, &(struct plot_axes){plot->title, x, y, plot->log_x, plot->log_y, !is_time});
    for (size_t i = 0; i < c.count; i++) {
        char name[256];
        name_curve(&c, c.first[i], name, sizeof name);
        plot_curve(gnuplot, i == 0, (unsigned)i + 1, table->most > 1 ? PLOT_BARS : PLOT_LINE, name);
    }
    plot_data(gnuplot);
    for (size_t i = 0; i < c.count; i++)
        write_points(&c, i, gnuplot);
}

int sweep_table_draw(const struct sweep_table *table, const char *folder)
{
    FILE *gnuplot = table->experiment->plot_count ? plot_open() : NULL;
    if (!gnuplot)
        return table->experiment->plot_count ? -1 : 0;
    for (size_t i = 0; i < table->experiment->plot_count; i++)
        draw(table, &table->experiment->plots[i], folder, gnuplot);
    return plot_close(gnuplot);
}
