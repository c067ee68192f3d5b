/* svg.c - the figures of a report, drawn by gnuplot; see print.h. */
#include <stdio.h>
#include <string.h>
#include "plot/plot.h"
#include "print.h"

/* The number of the simulated curve of that name among those of its figure, from 1. Each has a colour and a mark. */
static unsigned colour_of(const struct report *report, const struct report_curve *c)
{
    unsigned number = 1;

    for (size_t i = 0; i < report->curve_count; i++) {
        const struct report_curve *other = &report->curves[i];
        if (other->paper || strcmp(other->figure, c->figure) != 0)
            continue;
        if (strcmp(other->name, c->name) == 0)
            return number;
        number++;
    }
    return number;
}

/* The paper's points are marked, too. */
static void name_curve(const struct report *report, const struct report_curve *c, bool first, FILE *gnuplot)
{
    char name[256];

    snprintf(name, sizeof name, "%s%s", c->name, c->paper ? " (paper)" : "");
    plot_curve(gnuplot, first, colour_of(report, c), c->paper ? PLOT_RING : PLOT_LINE, name);
}

static void draw_figure(const struct report *report, const char *folder, const struct report_figure *f, FILE *gnuplot)
{
    char path[4096];
    bool first = true;

    snprintf(path, sizeof path, "%s/%s-%s.svg", folder, report->name, f->name);
    plot_begin(gnuplot, path, &(struct plot_axes){f->title, f->x, f->y, f->log_x, f->log_y, true});
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            name_curve(report, &report->curves[i], first, gnuplot);
            first = false;
        }
    plot_data(gnuplot);
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            const struct report_curve *c = &report->curves[i];
            for (size_t k = 0; k < c->count; k++)
                fprintf(gnuplot, "%.8g %.8g\n", c->x[k], c->y[k]);
            plot_curve_end(gnuplot);
        }
}

int report_write_svg(const struct report *report, const char *folder)
{
    FILE *gnuplot = plot_open();

    if (!gnuplot)
        return -1;
    for (size_t i = 0; i < report->figure_count; i++)
        if (report_has_curve(report, report->figures[i].name))
            draw_figure(report, folder, &report->figures[i], gnuplot);
    return plot_close(gnuplot);
}
