/* plot.c - see plot.h. gnuplot reads everything from a pipe; data blocks keep the curves until the plot command. */
#include "plot.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CURVES_MAX = 256, NAME_MAX_BYTES = 80 };

/* Okabe and Ito's colours, which people with defective colour vision can tell apart, too; dashes and marks differ as
 * well. */
static const char style[] = "set linetype 1 lc rgb '#0072b2' dt 1 pt 7 lw 2\n"
                            "set linetype 2 lc rgb '#d55e00' dt 2 pt 5 lw 2\n"
                            "set linetype 3 lc rgb '#009e73' dt 4 pt 9 lw 2\n"
                            "set linetype 4 lc rgb '#cc79a7' dt 5 pt 11 lw 2\n"
                            "set linetype 5 lc rgb '#56b4e9' dt 1 pt 13 lw 2\n"
                            "set linetype 6 lc rgb '#e69f00' dt 2 pt 6 lw 2\n"
                            "set linetype 7 lc rgb '#000000' dt 3 pt 4 lw 2\n"
                            "set linetype cycle 7\n";

struct plot {
    FILE *gnuplot;
    const char *path;
    int count;
    char names[CURVES_MAX][NAME_MAX_BYTES];
};

/* Texts are in single quotes, where gnuplot takes all but the quote itself literally. */
static void put_text(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++)
        if (*text == '\'')
            fputs("''", to);
        else if ((unsigned char)*text >= ' ')
            putc(*text, to);
    putc('\'', to);
}

static void put_setting(FILE *to, const char *what, const char *text)
{
    fprintf(to, "set %s ", what);
    put_text(to, text);
    fputs(" noenhanced\n", to);
}

static int can_write(const char *path)
{
    FILE *file = fopen(path, "w");
    return file && !fclose(file);
}

struct plot *plot_open(const char *path, char *why, size_t size)
{
    if (!can_write(path)) {
        snprintf(why, size, "cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    if (system("command -v gnuplot >/dev/null")) {
        snprintf(why, size, "--svg needs gnuplot (Debian: gnuplot-nox)");
        return NULL;
    }
    struct plot *p = calloc(1, sizeof *p);
    signal(SIGPIPE, SIG_IGN); /* if gnuplot ends, its exit code says so */
    if (p)
        p->gnuplot = popen("gnuplot", "w");
    if (!p || !p->gnuplot) {
        snprintf(why, size, "cannot start gnuplot: %s", strerror(errno));
        free(p);
        return NULL;
    }
    p->path = path;
    return p;
}

void plot_axes(struct plot *p, const char *title, const char *x_label, const char *y_label, int x_doubles, int y_grows)
{
    fputs("set terminal svg size 900,600 dynamic background rgb 'white' font 'sans-serif,13'\n", p->gnuplot);
    fputs(style, p->gnuplot);
    put_setting(p->gnuplot, "title", title);
    put_setting(p->gnuplot, "xlabel", x_label);
    put_setting(p->gnuplot, "ylabel", y_label);
    fprintf(p->gnuplot, "set grid\nset key outside right top reverse Left noenhanced\n%s%s",
            x_doubles ? "set logscale x 2\nset format x '%.0b%B'\n" : "",
            y_grows ? "set logscale y\n" : "set yrange [0:]\n");
}

void plot_curve(struct plot *p, const char *name, const double *x, const double *y, int n)
{
    if (p->count == CURVES_MAX || n == 0)
        return;
    snprintf(p->names[p->count++], NAME_MAX_BYTES, "%s", name);
    fprintf(p->gnuplot, "$curve%d << END\n", p->count);
    for (int i = 0; i < n; i++)
        fprintf(p->gnuplot, "%.9g %.9g\n", x[i], y[i]);
    fputs("END\n", p->gnuplot);
}

int plot_close(struct plot *p)
{
    fputs("set output ", p->gnuplot);
    put_text(p->gnuplot, p->path);
    for (int i = 0; i < p->count; i++) {
        fprintf(p->gnuplot, "%s$curve%d using 1:2 with linespoints linetype %d title ", i ? ", " : "\nplot ", i + 1,
                i + 1);
        put_text(p->gnuplot, p->names[i]);
    }
    fputs("\n", p->gnuplot);
    int status = pclose(p->gnuplot), drawn = p->count > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!drawn)
        fprintf(stderr, "pvm-perf: gnuplot could not draw %s\n", p->path);
    free(p);
    return drawn ? 0 : -1;
}
