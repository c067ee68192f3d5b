/* svg.c - the figures of a report, drawn by gnuplot; see print.h. */
#include <stdio.h>
#include <string.h>
#include "print.h"

static const struct report_figure *figure_of(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->figure_count; i++)
        if (strcmp(report->figures[i].name, name) == 0)
            return &report->figures[i];
    return report->figures; /* never: a curve is of a declared figure */
}

static bool is_first_of_figure(const struct report *report, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(report->curves[j].figure, report->curves[i].figure) == 0)
            return false;
    return true;
}

static void print_points(const struct report_curve *c, const char *between, FILE *out)
{
    for (size_t k = 0; k < c->count; k++)
        fprintf(out, "%.8g%s%.8g\n", c->x[k], between, c->y[k]);
}

static void plot_axes(const struct report *report, const char *folder, const struct report_figure *f, FILE *gnuplot)
{
    fprintf(gnuplot,
            "set terminal svg size 860,420 font 'sans,12' background 'white'\nset grid\nset key outside right top "
            "reverse Left\n"
            "set output '%s/%s-%s.svg'\nset title \"%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\n",
            folder, report->name, f->name, f->title, f->x, f->y);
    fprintf(gnuplot, "%s\n%s\n",
            f->log_x ? "set logscale x 2\nset format x '%.0b%B'" : "unset logscale x\nset format x",
            f->log_y ? "set logscale y" : "unset logscale y");
}

/* Okabe and Ito's colours, which colour-blind people can tell apart; dashes differ, too. */
static const char style[] = "set linetype 1 lc rgb '#0072b2' dt 1 lw 1.5\nset linetype 2 lc rgb '#d55e00' dt 2 lw 1.5\n"
                            "set linetype 3 lc rgb '#009e73' dt 4 lw 1.5\nset linetype 4 lc rgb '#cc79a7' dt 5 lw 1.5\n"
                            "set linetype 5 lc rgb '#000000' dt 3 lw 1.5\nset linetype 6 lc rgb '#e69f00' dt 1 lw 1.5\n"
                            "set linetype 7 lc rgb '#56b4e9' dt 2 lw 1.5\nset linetype cycle 7\n";

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

/* Simulated points are small and joined by a line, the paper's are large and hollow. */
static void plot_curve(const struct report *report, const struct report_curve *c, FILE *gnuplot)
{
    static const unsigned hollow[] = {6, 4, 8, 10, 12, 14, 2}, filled[] = {7, 5, 9, 11, 13, 15, 1};
    unsigned number = colour_of(report, c), mark = (number - 1) % 7;

    if (c->paper)
        fprintf(gnuplot, "'-' with points lt %u pt %u ps 1.3 title '%s (paper)'", number, hollow[mark], c->name);
    else
        fprintf(gnuplot, "'-' with linespoints lt %u pt %u ps 0.4 title '%s'", number, filled[mark], c->name);
}

static void plot_figure(const struct report *report, const char *folder, const struct report_figure *f, FILE *gnuplot)
{
    const char *between = "plot ";

    fputs(style, gnuplot);
    plot_axes(report, folder, f, gnuplot);
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            fputs(between, gnuplot);
            plot_curve(report, &report->curves[i], gnuplot);
            between = ", ";
        }
    fprintf(gnuplot, "\n");
    for (size_t i = 0; i < report->curve_count; i++)
        if (strcmp(report->curves[i].figure, f->name) == 0) {
            print_points(&report->curves[i], " ", gnuplot);
            fprintf(gnuplot, "e\n");
        }
}

int report_write_svg(const struct report *report, const char *folder)
{
    FILE *gnuplot = popen("gnuplot", "w");
    int status;

    if (!gnuplot)
        return -1;
    for (size_t i = 0; i < report->curve_count; i++)
        if (is_first_of_figure(report, i))
            plot_figure(report, folder, figure_of(report, report->curves[i].figure), gnuplot);
    status = pclose(gnuplot);
    if (status != 0)
        fprintf(stderr, "atm-sim: gnuplot could not draw the figures of %s; is gnuplot-nox installed?\n", report->name);
    return status == 0 ? 0 : -1;
}
