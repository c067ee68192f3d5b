/* report.c - prints columns of times, or the same numbers as JSON. */
#include "report.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "core/visible.h"
#include "tools/pvm-info/text.h"
#include "pvm3.h"
#include "clock.h"
#include "plot.h"
#include "stats.h"
#include "team.h"

enum { WIDTH = 10, LABEL_MAX = 80 };

struct report {
    const struct options *options;
    const struct test *test;
    const struct series *series;
    int series_count;
    struct row *rows;
    int row_count;
    struct plot *plot; /* or NULL */
};

static void *must_have(void *memory)
{
    if (!memory)
        team_fail("out of memory");
    return memory;
}

/* ---- figures ---- */

static double shown(const struct report *r, double round_us)
{
    return round_us / r->test->per_round;
}

static double mbs(const struct report *r, const struct row *row, const struct outcome *o)
{
    return o->median_us > 0 ? r->test->messages(row->tasks) * row->bytes / o->median_us : 0;
}

static double messages_per_s(const struct report *r, const struct row *row, const struct outcome *o)
{
    return o->median_us > 0 ? r->test->messages(row->tasks) / o->median_us * 1e6 : 0;
}

static const char *figure_heading(enum figure figure)
{
    static const char *const headings[] = {[FIGURE_NONE] = "",
                                           [FIGURE_MBS] = "10^6 B/s",
                                           [FIGURE_MESSAGES] = "10^3 msg/s",
                                           [FIGURE_HOP] = "us/hop",
                                           [FIGURE_TASKS] = "tasks/s"};
    return headings[figure];
}

static double figure(const struct report *r, const struct row *row, const struct outcome *o)
{
    switch (r->test->figure) {
    case FIGURE_MBS:
        return mbs(r, row, o);
    case FIGURE_MESSAGES:
        return messages_per_s(r, row, o) / 1e3;
    case FIGURE_HOP:
        return o->median_us / row->tasks;
    case FIGURE_TASKS:
        return row->tasks / o->median_us * 1e6;
    default:
        return 0;
    }
}

/* Computes r_max, n_1/2 and t_0 of a series; false unless only the size varies between its rows. */
static bool describe_link(const struct report *r, int series, struct stats_link *out)
{
    int bytes[LIST_MAX], n = 0;
    double times[LIST_MAX], rates[LIST_MAX];
    for (int i = 0; i < r->row_count; i++) {
        const struct row *row = &r->rows[i];
        if (n == LIST_MAX || (n > 0 && row->bytes <= bytes[n - 1]) || row->tasks != r->rows[0].tasks)
            return false;
        bytes[n] = row->bytes;
        times[n] = shown(r, row->outcomes[series].median_us);
        rates[n++] = mbs(r, row, &row->outcomes[series]);
    }
    if (n < 2 || r->test->figure != FIGURE_MBS || r->test->members != 2)
        return false;
    stats_link(bytes, times, rates, n, out);
    return true;
}

/* ---- text ---- */

static void label_of(const struct report *r, int series, char label[LABEL_MAX])
{
    const struct series *s = &r->series[series];
    snprintf(label, LABEL_MAX, "%s%s%s", s->transport, r->test->axes & AXIS_BYTES ? " " : "",
             r->test->axes & AXIS_BYTES ? encoding_names[s->encoding] : "");
}

static void print_number(double value)
{
    printf("%*.*f", WIDTH, value < 99.995 ? 2 : value < 999.95 ? 1 : 0, value);
}

static int columns(const struct report *r)
{
    return 3 + 2 * (r->series_count == 1) + (r->test->figure != FIGURE_NONE);
}

static void print_keys(const struct report *r, const struct row *row)
{
    static const struct {
        int axis;
        const char *name;
    } keys[] = {{AXIS_TASKS, "tasks"}, {AXIS_QUEUED, "queued"}, {AXIS_BYTES, "bytes"}};
    const int values[] = {row ? row->tasks : 0, row ? row->queued : 0, row ? row->bytes : 0};
    for (int i = 0; i < 3; i++)
        if (r->test->axes & keys[i].axis) {
            if (row)
                printf("%*d", WIDTH, values[i]);
            else
                printf("%*s", WIDTH, keys[i].name);
        }
}

static void print_heading(const struct report *r)
{
    char label[LABEL_MAX], unit[32];
    int keys = 0;
    for (int axis = AXIS_BYTES; axis <= AXIS_QUEUED; axis *= 2)
        keys += (r->test->axes & axis) != 0;
    snprintf(unit, sizeof unit, "median %s", r->test->unit);
    printf("%*s", keys * WIDTH, "");
    for (int i = 0; i < r->series_count; i++) {
        label_of(r, i, label);
        printf("%*s", columns(r) * WIDTH, label);
    }
    printf("\n");
    print_keys(r, NULL);
    for (int i = 0; i < r->series_count; i++) {
        if (r->series_count == 1)
            printf("%*s%*s", WIDTH, "first", WIDTH, "warm-up");
        printf("%*s%*s%*s", WIDTH, "min", WIDTH, unit, WIDTH, "p99");
        if (r->test->figure != FIGURE_NONE)
            printf(" %*s", WIDTH - 1, figure_heading(r->test->figure));
    }
    printf("\n");
}

static const char *verify_text(int verify)
{
    static const char *const texts[] = {"contents not verified", "contents verified before and after",
                                        "all contents verified; times include this"};
    return texts[verify];
}

static enum clock_kind clock_of(const struct report *r, int series)
{
    double kind = r->rows[0].outcomes[series].clock;
    return kind == CLOCK_KIND_VIRTUAL || kind == CLOCK_KIND_BESIDE ? (enum clock_kind)kind : CLOCK_KIND_REAL;
}

/* Names the clock unless it is the real one everywhere. */
static void print_clocks(const struct report *r)
{
    bool alike = true, real = true;
    for (int i = 0; i < r->series_count; i++) {
        alike = alike && clock_of(r, i) == clock_of(r, 0);
        real = real && clock_of(r, i) == CLOCK_KIND_REAL;
    }
    if (!real && alike)
        printf("times: %s\n", clock_text(clock_of(r, 0)));
    for (int i = 0; i < r->series_count && !alike; i++)
        if (i == 0 || r->series[i].link != r->series[i - 1].link)
            printf("times with PVM_TRANSPORT=%s: %s\n", r->series[i].transport, clock_text(clock_of(r, i)));
}

static void print_head(const struct report *r)
{
    const struct options *o = r->options;
    struct utsname system;
    uname(&system);
    printf("pvm-perf %s: %s\n", r->test->name, r->test->what);
    printf("from %s (%s %s, %ld processors) to ", system.nodename, system.sysname, system.release,
           sysconf(_SC_NPROCESSORS_ONLN));
    for (int i = 0; i < o->host_count; i++)
        printf("%s%s", i ? ", " : "", o->hosts[i]);
    printf("%s; PVM %s; %s\n", o->host_count == 0 ? "the same host" : "", pvm_version(), verify_text(o->verify));
    for (int i = 0; i < r->series_count; i++)
        if (r->series[i].link->routes[0] && (i == 0 || r->series[i].link != r->series[i - 1].link))
            printf("with PVM_TRANSPORT=%s by %s\n", r->series[i].transport, PVMC_VISIBLE(r->series[i].link->routes));
    print_clocks(r);
    printf("\n");
    print_heading(r);
}

static void print_row(const struct report *r, const struct row *row)
{
    print_keys(r, row);
    for (int i = 0; i < r->series_count; i++) {
        const struct outcome *o = &row->outcomes[i];
        if (r->series_count == 1) {
            print_number(shown(r, o->first_us));
            print_number(shown(r, o->warmup_us));
        }
        print_number(shown(r, o->min_us));
        print_number(shown(r, o->median_us));
        print_number(shown(r, o->p99_us));
        if (r->test->figure != FIGURE_NONE)
            print_number(figure(r, row, o));
    }
    printf("\n");
    fflush(stdout);
}

static void print_foot(const struct report *r)
{
    char label[LABEL_MAX];
    printf("\n");
    for (int i = 0; i < r->series_count; i++) {
        struct stats_link link;
        label_of(r, i, label);
        const struct outcome *first = &r->rows[0].outcomes[i];
        double messages = r->test->messages(1) == 2 ? 2 : 1;
        printf("%s: first %s %.1f us, in warm-up %.1f us, later %.1f context switches per round", label,
               r->test->members == 2 ? "message" : "round", first->first_us / messages, first->warmup_us / messages,
               first->switches);
        if (describe_link(r, i, &link)) {
            printf(", r_max %.1f x 10^6 B/s", link.r_max_mbs);
            if (link.n_half_bytes < 0)
                printf(", n_1/2 < %d B", link.t0_bytes);
            else
                printf(", n_1/2 %.0f B", link.n_half_bytes);
            printf(", t_0 %.2f us (%d B)", link.t0_us, link.t0_bytes);
        }
        printf("\n");
    }
    for (int i = 0; i < r->series_count; i++) {
        const struct team_link *l = r->series[i].link;
        if (l->routes[0] && (i == 0 || l != r->series[i - 1].link))
            printf("%s: %ld frames by direct links, %ld by the daemon; at the end by %s\n", r->series[i].transport,
                   l->direct_frames, l->daemon_frames, PVMC_VISIBLE(l->routes));
    }
}

/* ---- JSON ---- */

static json_t *point_json(const struct report *r, const struct row *row, const struct outcome *o)
{
    json_t *point = json_object();
    if (r->test->axes & AXIS_TASKS)
        json_object_set_new(point, "tasks", json_integer(row->tasks));
    if (r->test->axes & AXIS_QUEUED)
        json_object_set_new(point, "queued", json_integer(row->queued));
    if (r->test->axes & AXIS_BYTES)
        json_object_set_new(point, "bytes", json_integer(row->bytes));
    double to_us = strcmp(r->test->unit, "ms") == 0 ? 1000 : 1;
    json_object_set_new(point, "first_us", json_real(shown(r, o->first_us) * to_us));
    if (o->warmup_us > 0)
        json_object_set_new(point, "warmup_us", json_real(shown(r, o->warmup_us) * to_us));
    json_object_set_new(point, "min_us", json_real(shown(r, o->min_us) * to_us));
    json_object_set_new(point, "median_us", json_real(shown(r, o->median_us) * to_us));
    json_object_set_new(point, "p99_us", json_real(shown(r, o->p99_us) * to_us));
    json_object_set_new(point, "switches", json_real(o->switches));
    json_object_set_new(point, "samples", json_integer((json_int_t)o->samples));
    json_object_set_new(point, "rounds", json_integer((json_int_t)o->rounds));
    json_object_set_new(point, "verified", json_integer((json_int_t)o->verified));
    if (r->test->figure == FIGURE_MBS)
        json_object_set_new(point, "mbs", json_real(mbs(r, row, o)));
    if (r->test->figure == FIGURE_MESSAGES)
        json_object_set_new(point, "messages_per_s", json_real(messages_per_s(r, row, o)));
    return point;
}

static json_t *series_json(const struct report *r, int series)
{
    struct stats_link link;
    json_t *points = json_array(), *all = json_object();
    json_object_set_new(all, "transport", text_json(r->series[series].transport));
    json_object_set_new(all, "clock", json_string(clock_name(clock_of(r, series))));
    if (r->test->axes & AXIS_BYTES)
        json_object_set_new(all, "encoding", json_string(encoding_names[r->series[series].encoding]));
    const struct team_link *used = r->series[series].link;
    if (used->routes[0])
        json_object_set_new(all, "link",
                            json_pack("{s:s, s:I, s:I}", "routes", used->routes, "direct_frames",
                                      (json_int_t)used->direct_frames, "daemon_frames",
                                      (json_int_t)used->daemon_frames));
    for (int i = 0; i < r->row_count; i++)
        json_array_append_new(points, point_json(r, &r->rows[i], &r->rows[i].outcomes[series]));
    json_object_set_new(all, "points", points);
    if (describe_link(r, series, &link)) {
        json_object_set_new(all, "r_max_mbs", json_real(link.r_max_mbs));
        json_object_set_new(all, "n_half_bytes", link.n_half_bytes < 0 ? json_null() : json_real(link.n_half_bytes));
        json_object_set_new(all, "t0_us", json_real(link.t0_us));
        json_object_set_new(all, "t0_bytes", json_integer(link.t0_bytes));
    }
    return all;
}

static void print_json(const struct report *r)
{
    static const char *const verify_names[] = {"none", "sample", "all"};
    char date[32];
    struct utsname system;
    time_t now = time(NULL);
    uname(&system);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    json_t *series = json_array(), *hosts = json_array();
    for (int i = 0; i < r->options->host_count; i++)
        json_array_append_new(hosts, text_json(r->options->hosts[i]));
    for (int i = 0; i < r->series_count; i++)
        json_array_append_new(series, series_json(r, i));
    json_t *all =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:o, s:o}", "test", r->test->name, "date", date, "host",
                  system.nodename, "system", system.release, "processors", (int)sysconf(_SC_NPROCESSORS_ONLN),
                  "version", pvm_version(), "verify", verify_names[r->options->verify], "bound", (int)r->options->bind,
                  "hosts", hosts, "series", series);
    text_print_json(must_have(all), JSON_INDENT(2) | JSON_REAL_PRECISION(6));
}

/* ---- a picture ---- */

/* What the test varies most: sizes if there are several, else numbers of tasks or of waiting messages. */
static int axis_drawn(const struct report *r)
{
    const struct options *o = r->options;
    if (r->test->axes & AXIS_BYTES && o->bytes.count > 1)
        return AXIS_BYTES;
    if (r->test->axes & AXIS_QUEUED && o->queued.count > 1)
        return AXIS_QUEUED;
    return r->test->axes & AXIS_TASKS ? AXIS_TASKS : AXIS_BYTES;
}

static int place_on(int axis, const struct row *row)
{
    return axis == AXIS_BYTES ? row->bytes : axis == AXIS_QUEUED ? row->queued : row->tasks;
}

/* bw, bibw and the like are about their figure; lat and the rest about their time. */
static bool draws_figure(const struct report *r)
{
    return r->test->figure != FIGURE_NONE && strcmp(r->test->name, "lat") != 0;
}

/* Draws the rows from `first` on that have the same other two keys as it; returns the first that does not. */
static int draw_rows(struct plot *p, const struct report *r, int series, int first, int axis)
{
    static double x[LIST_MAX], y[LIST_MAX];
    char label[LABEL_MAX], name[2 * LABEL_MAX];
    int n = 0, last = first;
    for (; last < r->row_count && n < LIST_MAX; last++, n++) {
        const struct row *row = &r->rows[last];
        if (n > 0 && place_on(axis, row) <= (int)x[n - 1])
            break;
        x[n] = place_on(axis, row);
        y[n] = draws_figure(r) ? figure(r, row, &row->outcomes[series]) : shown(r, row->outcomes[series].median_us);
    }
    const struct row *row = &r->rows[first];
    label_of(r, series, label);
    snprintf(name, sizeof name, "%s", label);
    if (n < r->row_count && axis != AXIS_TASKS && r->options->tasks.count > 1)
        snprintf(name, sizeof name, "%s, %d tasks", label, row->tasks);
    else if (n < r->row_count && axis != AXIS_BYTES && r->options->bytes.count > 1)
        snprintf(name, sizeof name, "%s, %d bytes", label, row->bytes);
    plot_curve(p, name, x, y, n);
    return last;
}

static void draw(struct plot *p, const struct report *r)
{
    static const char *const axes[] = {
        [AXIS_BYTES] = "bytes of a message", [AXIS_TASKS] = "tasks", [AXIS_QUEUED] = "waiting messages"};
    char title[LABEL_MAX], label[LABEL_MAX];
    int axis = axis_drawn(r);
    snprintf(title, sizeof title, "pvm-perf %s: %s", r->test->name, r->test->what);
    snprintf(label, sizeof label, "%s, median", draws_figure(r) ? figure_heading(r->test->figure) : r->test->unit);
    plot_axes(p, title, axes[axis], label, axis == AXIS_BYTES, !draws_figure(r));
    for (int i = 0; i < r->series_count; i++)
        for (int row = 0; row < r->row_count;)
            row = draw_rows(p, r, i, row, axis);
}

/* ---- the report ---- */

struct report *report_open(const struct options *o, const struct series *series, int count)
{
    char why[256];
    struct report *r = must_have(calloc(1, sizeof *r));
    *r = (struct report){.options = o, .test = &tests[o->test], .series = series, .series_count = count};
    if (o->svg && !(r->plot = plot_open(o->svg, why, sizeof why)))
        team_fail("%s", why);
    return r;
}

void report_row(struct report *r, const struct row *row)
{
    r->rows = must_have(realloc(r->rows, (size_t)(r->row_count + 1) * sizeof *r->rows));
    r->rows[r->row_count++] = *row;
    if (r->options->json)
        return;
    if (r->row_count == 1)
        print_head(r);
    print_row(r, row);
}

int report_close(struct report *r)
{
    int rc = 0;
    if (r->options->json)
        print_json(r);
    else
        print_foot(r);
    if (r->plot) {
        draw(r->plot, r);
        rc = plot_close(r->plot);
    }
    free(r->rows);
    free(r);
    return rc;
}
