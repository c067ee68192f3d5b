/* plot.c - see plot.h. */
#include "plot.h"
#include <signal.h>
#include <stdlib.h>

/* Okabe and Ito's colours; dashes differ, too. */
static const char style[] = "set linetype 1 lc rgb '#0072b2' dt 1 lw 1.5\nset linetype 2 lc rgb '#d55e00' dt 2 lw 1.5\n"
                            "set linetype 3 lc rgb '#009e73' dt 4 lw 1.5\nset linetype 4 lc rgb '#cc79a7' dt 5 lw 1.5\n"
                            "set linetype 5 lc rgb '#000000' dt 3 lw 1.5\nset linetype 6 lc rgb '#e69f00' dt 1 lw 1.5\n"
                            "set linetype 7 lc rgb '#56b4e9' dt 2 lw 1.5\nset linetype cycle 7\n";

bool plot_is_possible(void)
{
    return system("command -v gnuplot >/dev/null") == 0;
}

FILE *plot_open(void)
{
    signal(SIGPIPE, SIG_IGN); /* if there is no gnuplot, plot_close() tells */
    FILE *gnuplot = popen("gnuplot", "w");
    if (!gnuplot)
        fprintf(stderr, "atm-sim: cannot start gnuplot: %m\n");
    return gnuplot;
}

/* A text between quotation marks; gnuplot gives backslashes and marks inside a meaning. */
static void write_text(FILE *gnuplot, const char *before, const char *text)
{
    fprintf(gnuplot, "%s \"", before);
    for (; *text; text++)
        fprintf(gnuplot, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    fprintf(gnuplot, "\"\n");
}

void plot_begin(FILE *gnuplot, const char *path, const struct plot_axes *axes)
{
    fputs(style, gnuplot);
    fprintf(gnuplot, "set terminal svg size 860,420 font 'sans,12' background 'white' noenhanced\nset grid\n"
                     "set key outside right top reverse Left\n");
    write_text(gnuplot, "set output", path);
    write_text(gnuplot, "set title", axes->title);
    write_text(gnuplot, "set xlabel", axes->x);
    write_text(gnuplot, "set ylabel", axes->y);
    fprintf(gnuplot, "%s\n%s\n%s\n",
            !axes->log_x  ? "unset logscale x"
            : axes->bytes ? "set logscale x 2"
                          : "set logscale x 10",
            axes->log_x && axes->bytes ? "set format x '%.0b%B'" : "set format x '%.10g'",
            axes->log_y ? "set logscale y" : "unset logscale y");
}

void plot_curve(FILE *gnuplot, bool first, unsigned number, enum plot_mark mark, const char *name)
{
    static const unsigned hollow[] = {6, 4, 8, 10, 12, 14, 2}, filled[] = {7, 5, 9, 11, 13, 15, 1};
    static const char *const with[] = {
        [PLOT_LINE] = "linespoints", [PLOT_BARS] = "yerrorlines", [PLOT_RING] = "points"};
    bool ring = mark == PLOT_RING;
    fprintf(gnuplot, "%s'-' with %s lt %u pt %u ps %s title '", first ? "plot " : ", ", with[mark], number,
            (ring ? hollow : filled)[(number - 1) % 7], ring ? "1.3" : "0.4");
    for (; *name; name++)
        fprintf(gnuplot, "%s%c", *name == '\'' ? "'" : "", *name);
    fprintf(gnuplot, "'");
}

void plot_data(FILE *gnuplot)
{
    fprintf(gnuplot, "\n");
}

void plot_curve_end(FILE *gnuplot)
{
    fprintf(gnuplot, "e\n");
}

int plot_close(FILE *gnuplot)
{
    int status = pclose(gnuplot);
    if (status)
        fprintf(stderr, "atm-sim: gnuplot could not draw the figures; is gnuplot-nox installed?\n");
    return status ? -1 : 0;
}
