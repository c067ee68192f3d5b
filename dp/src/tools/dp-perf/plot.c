/* plot.c - passes figures and commands to gnuplot. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

static FILE *begin(const struct options *o, const char *title, const char *y)
{
    if (strchr(o->plot, '\'') || strchr(o->plot, '\n')) {
        fprintf(stderr, "dp-perf: the name of a plot must not contain quotes or line ends\n");
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    FILE *to = popen("gnuplot", "w");
    if (!to) {
        fprintf(stderr, "dp-perf: gnuplot: %s\n", strerror(errno));
        return NULL;
    }
    fprintf(to,
            "set terminal svg size 900,600 dynamic background rgb 'white' font 'sans-serif,13'\n"
            "set output '%s'\nset title '%s'\nset xlabel 'bytes of a message'\nset ylabel '%s'\n"
            "set key outside right top reverse Left\nset logscale x 2\nset grid\nset style data linespoints\n",
            o->plot, title, y);
    return to;
}

static int end(FILE *to)
{
    int status = pclose(to);
    if (status == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "dp-perf: not drawn: gnuplot %s\n",
            status == 127 << 8 ? "is not installed" : "ended with an error");
    return EXIT_FAILURE;
}

/* Announces curves with these titles; the data of each follow, ended by "e". */
static void announce(FILE *to, const char *const *titles, int count)
{
    fprintf(to, "plot");
    for (int i = 0; i < count; i++)
        fprintf(to, "%s '-' using 1:2 linewidth 1.5 title '%s'", i ? "," : "", titles[i]);
    fprintf(to, "\n");
}

int plot_points(const struct options *o, const struct point *points, int count)
{
    bool lat = o->test == TEST_LAT;
    const char *titles[CARRIERS];
    FILE *to = begin(o, test_names[o->test], lat ? "us, one way" : "10^6 bytes/s");
    if (!to)
        return EXIT_FAILURE;
    for (int i = 0; i < o->over_count; i++)
        titles[i] = carriers[o->over[i]].name;
    announce(to, titles, o->over_count);
    for (int i = 0; i < o->over_count; i++) {
        for (int j = 0; j < count; j++)
            if (points[j].carrier == o->over[i] && !points[j].failed)
                fprintf(to, "%u %g\n", points[j].bytes, lat ? points[j].mean_us : points[j].mbs);
        fprintf(to, "e\n");
    }
    return end(to);
}

int plot_model(const struct options *o, const struct model *m)
{
    FILE *to = begin(o, "parameters of the cost model", "us");
    if (!to)
        return EXIT_FAILURE;
    fprintf(to, "set termoption noenhanced\n"); /* O_s must not be drawn with a subscript */
    announce(to, parameter_names, PARAMETERS);
    for (int p = 0; p < PARAMETERS; p++) {
        for (int i = 0; i < m->row_count; i++)
            fprintf(to, "%u %g\n", m->rows[i].bytes, m->rows[i].us[p]);
        fprintf(to, "e\n");
    }
    return end(to);
}
