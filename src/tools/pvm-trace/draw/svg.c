/*
 * svg.c - see svg.h. Calls narrower than a pixel are combined into one bar per pixel, with a height proportional to
 * their share of the time. So the picture stays small even for a long trace.
 */
#include "svg.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output.h"
#include "palette.h"

enum {
    LEFT = 170,
    RIGHT = 40,
    TOP = 104,
    BELOW = 56,
    LABEL_BYTES = 64,
    TEXT_BYTES = 32,
    LABEL_SHOWN = 24, /* characters of a label that fit */
    ARROWS_MAX = 4000,
    ARROWS_FEW = 300, /* up to this number arrows are opaque */
    ARROWS_WITH_HEADS = 1500,
    TICKS = 10,
};

struct picture {
    FILE *f;
    const struct timeline *t;
    int64_t from_us, to_us;
    int width, lane, bar; /* pixels */
    double scale;         /* pixels per microsecond */
};

static double x_of(const struct picture *p, double time_us)
{
    return LEFT + (time_us - (double)p->from_us) * p->scale;
}

static int lane_y(const struct picture *p, size_t track)
{
    return TOP + (int)track * p->lane;
}

static bool is_shown(const struct picture *p, int64_t start_us, int64_t end_us)
{
    return end_us >= p->from_us && start_us <= p->to_us;
}

static double clip(const struct picture *p, int64_t time_us)
{
    return x_of(p, (double)(time_us < p->from_us ? p->from_us : time_us > p->to_us ? p->to_us : time_us));
}

/* ---- frame ---- */

/* The step, 1, 2 or 5 times a power of ten, that gives about TICKS ticks. */
static double tick_step(double length)
{
    double rough = length / TICKS, power = pow(10, floor(log10(rough > 1e-9 ? rough : 1e-9)));
    double digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void draw_axis(const struct picture *p)
{
    double length = (double)(p->to_us - p->from_us);
    double step = tick_step(length), unit = length >= 2e6 ? 1e6 : length >= 2e3 ? 1e3 : 1;
    const char *name = unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "\xC2\xB5s";
    int bottom = lane_y(p, p->t->track_count), digits = step / unit >= 1 ? 0 : (int)ceil(-log10(step / unit) - 1e-9);
    for (double at = ceil((double)p->from_us / step) * step; at <= (double)p->to_us + step * 1e-6; at += step) {
        double x = x_of(p, at);
        fprintf(
            p->f,
            "<path d=\"M%.1f %dV%d\" class=\"grid\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.*f</text>\n", x,
            TOP - 8, bottom + 4, x, bottom + 20, digits, at / unit);
    }
    fprintf(p->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" class=\"note\">time in %s</text>\n",
            LEFT + p->width / 2, bottom + 42, name);
}

static void draw_legend(const struct picture *p)
{
    int x = LEFT;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        fprintf(
            p->f,
            "<rect x=\"%d\" y=\"64\" width=\"14\" height=\"12\" fill=\"#%06x\"/><text x=\"%d\" y=\"74\">%s</text>\n", x,
            palette_calls[i], x + 20, meaning_category_names[i]);
        x += 44 + 7 * (int)strlen(meaning_category_names[i]);
    }
    fprintf(p->f,
            "<path d=\"M%d 76L%d 65\" stroke=\"#1c2b36\" marker-end=\"url(#tip)\"/><text x=\"%d\" "
            "y=\"74\">message</text>\n",
            x, x + 20, x + 28);
}

static void draw_head(const struct picture *p, int height)
{
    char length[TEXT_BYTES];
    int width = LEFT + p->width + RIGHT;
    output_time((double)(p->to_us - p->from_us), length, sizeof length);
    fprintf(p->f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#223\">\n"
            "<style>.grid{stroke:#e3e8ec;fill:none}.note{fill:#5a6872}.arrow{stroke:#1c2b36;fill:none}</style>\n"
            "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" "
            "orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#1c2b36\"/></marker></defs>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, width, height);
    fprintf(p->f, "<text x=\"%d\" y=\"32\" font-size=\"18\">%zu tasks%s %s", LEFT, p->t->track_count,
            p->to_us - p->from_us < p->t->length_us ? "," : " in", length);
    if (p->to_us - p->from_us < p->t->length_us)
        fprintf(p->f, " from %s on", output_time((double)p->from_us, length, sizeof length));
    fputs("</text>\n", p->f);
}

static void draw_lane(const struct picture *p, size_t track)
{
    const struct track *t = &p->t->tracks[track];
    char label[LABEL_BYTES], tid[TEXT_BYTES];
    int middle = lane_y(p, track) + p->lane / 2, font = p->lane < 14 ? p->lane - 1 : 12;
    timeline_label(t, label, sizeof label);
    fprintf(p->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"%d\">", LEFT - 8, middle + font / 3, font);
    if (strlen(label) > LABEL_SHOWN) { /* truncate the name, keep the tid */
        snprintf(tid, sizeof tid, "... t%x", (unsigned)t->task.tid);
        strcpy(label + LABEL_SHOWN - strlen(tid), tid);
    }
    output_xml(p->f, label);
    fputs("</text>\n", p->f);
    if (is_shown(p, t->start_us, t->end_us))
        fprintf(p->f, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>\n", clip(p, t->start_us),
                middle - p->bar / 2, fmax(clip(p, t->end_us) - clip(p, t->start_us), 1), p->bar,
                palette_calls[CATEGORY_COMPUTE]);
}

/* ---- calls ---- */

static void draw_call(const struct picture *p, const struct call *c)
{
    double x = clip(p, c->start_us), width = clip(p, c->end_us) - x;
    char time[TEXT_BYTES];
    int inset = c->depth ? p->bar / 4 : 0;
    const struct event *e = c->exit && event_field(c->exit, TEV_DID_MNB) ? c->exit : c->entry;
    fprintf(p->f, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"><title>%s %s", x,
            lane_y(p, c->track) + (p->lane - p->bar) / 2 + inset, fmax(width, 1), p->bar - 2 * inset,
            palette_calls[meaning_category(c->what)], event_name(c->what),
            output_time((double)(c->end_us - c->start_us), time, sizeof time));
    if (event_field(e, TEV_DID_MNB) && event_number(e, TEV_DID_MNB, -1) >= 0)
        fprintf(p->f, ", %" PRId64 " bytes, tag %" PRId64, event_number(e, TEV_DID_MNB, 0),
                event_number(e, TEV_DID_MC, 0));
    fputs("</title></rect>\n", p->f);
}

/* Adds a narrow call to the pixels of its lane. */
static void add_narrow(const struct picture *p, const struct call *c, float *pixels)
{
    double x = x_of(p, (double)c->start_us) - LEFT, end = x_of(p, (double)c->end_us) - LEFT;
    int at = (int)x;
    if (x < 0 || at >= p->width)
        return;
    float *pixel = pixels + (size_t)at * CATEGORY_COUNT + meaning_category(c->what);
    *pixel += (float)fmax(end - x, 0.02); /* keep a call of no duration visible */
}

/* A pixel has the colour of the category with the largest share, and a height for the share of all calls. */
static void draw_pixels(const struct picture *p, size_t track, const float *pixels)
{
    int top = lane_y(p, track) + (p->lane - p->bar) / 2;
    for (int x = 0; x < p->width; x++) {
        const float *pixel = pixels + (size_t)x * CATEGORY_COUNT;
        int most = CATEGORY_PACK;
        double sum = 0;
        for (int i = CATEGORY_PACK; i < CATEGORY_COUNT; i++) {
            sum += pixel[i];
            most = pixel[i] > pixel[most] ? i : most;
        }
        if (sum <= 0)
            continue;
        double height = fmax(fmin(sum, 1) * p->bar, p->bar * 0.35);
        fprintf(p->f, "<rect x=\"%d\" y=\"%.1f\" width=\"1\" height=\"%.1f\" fill=\"#%06x\"/>\n", LEFT + x,
                top + p->bar - height, height, palette_calls[most]);
    }
}

static void draw_calls(const struct picture *p, size_t track, float *pixels)
{
    const struct track *t = &p->t->tracks[track];
    memset(pixels, 0, (size_t)p->width * CATEGORY_COUNT * sizeof *pixels);
    for (size_t i = t->first; i < t->first + t->count; i++)
        if (is_shown(p, p->t->calls[i].start_us, p->t->calls[i].end_us) &&
            (double)(p->t->calls[i].end_us - p->t->calls[i].start_us) * p->scale < 1)
            add_narrow(p, &p->t->calls[i], pixels);
    draw_pixels(p, track, pixels);
    for (size_t i = t->first; i < t->first + t->count; i++)
        if (is_shown(p, p->t->calls[i].start_us, p->t->calls[i].end_us) &&
            (double)(p->t->calls[i].end_us - p->t->calls[i].start_us) * p->scale >= 1)
            draw_call(p, &p->t->calls[i]);
}

/* ---- arrows ---- */

static bool has_arrow(const struct picture *p, const struct message *m)
{
    return m->sent && m->received && is_shown(p, m->sent->start_us, pairs_arrival_us(m)) &&
           m->sent->track != m->received->track;
}

/* Draws an arrow; `head` is false if there are so many that heads would hide the lines. */
static void draw_arrow(const struct picture *p, const struct message *m, bool head)
{
    char bytes[TEXT_BYTES];
    bool down = m->received->track > m->sent->track;
    int from = lane_y(p, m->sent->track) + p->lane / 2 + (down ? p->bar / 2 : -p->bar / 2);
    int to = lane_y(p, m->received->track) + p->lane / 2 + (down ? -p->bar / 2 : p->bar / 2);
    fprintf(p->f, "<path d=\"M%.1f %dL%.1f %d\" class=\"arrow\"%s><title>tag %d, %s</title></path>\n",
            x_of(p, (double)m->sent->start_us), from, x_of(p, (double)pairs_arrival_us(m)), to,
            head ? " marker-end=\"url(#tip)\"" : "", m->tag, output_bytes((double)m->bytes, bytes, sizeof bytes));
}

/* Draws at most about ARROWS_MAX arrows, evenly chosen, and notes how many. */
static void draw_arrows(const struct picture *p, const struct pairs *pairs)
{
    size_t shown = 0, drawn = 0, seen = 0;
    for (size_t i = 0; i < pairs->count; i++)
        shown += has_arrow(p, &pairs->messages[i]);
    size_t every = shown / ARROWS_MAX + 1;
    double strength = shown <= ARROWS_FEW ? 0.85 : fmax(0.15, 0.85 * ARROWS_FEW / (double)shown * (double)every);
    fprintf(p->f,
            "<clipPath id=\"window\"><rect x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\"/></clipPath>\n"
            "<g clip-path=\"url(#window)\" opacity=\"%.2f\" stroke-width=\"0.8\">\n",
            LEFT, p->width + 1, lane_y(p, p->t->track_count), strength);
    for (size_t i = 0; i < pairs->count; i++) {
        if (!has_arrow(p, &pairs->messages[i]) || seen++ % every)
            continue;
        draw_arrow(p, &pairs->messages[i], shown <= ARROWS_WITH_HEADS);
        drawn++;
    }
    fputs("</g>\n", p->f);
    fprintf(p->f, "<text x=\"%d\" y=\"52\" class=\"note\">%zu messages", LEFT, shown);
    if (drawn < shown)
        fprintf(p->f, ", of which %zu are drawn", drawn);
    fputs("</text>\n", p->f);
}

/* ---- the whole ---- */

static void measure(struct picture *p, const struct svg_options *o)
{
    int tracks = (int)p->t->track_count;
    p->from_us = o->from_us;
    p->to_us = o->to_us < 0 || o->to_us > p->t->length_us ? p->t->length_us : o->to_us;
    if (p->to_us <= p->from_us)
        p->to_us = p->from_us + 1;
    p->width = o->width;
    p->lane = tracks <= 8 ? 44 : tracks <= 16 ? 32 : tracks <= 32 ? 22 : 14;
    p->bar = p->lane / 2;
    p->scale = p->width / (double)(p->to_us - p->from_us);
}

void svg_write(FILE *f, const struct timeline *t, const struct pairs *pairs, const struct svg_options *o)
{
    struct picture p = {.f = f, .t = t};
    measure(&p, o);
    float *pixels = calloc((size_t)p.width * CATEGORY_COUNT + 1, sizeof *pixels);
    if (!pixels)
        abort();
    draw_head(&p, lane_y(&p, t->track_count) + BELOW);
    draw_legend(&p);
    draw_axis(&p);
    for (size_t i = 0; i < t->track_count; i++)
        draw_lane(&p, i);
    for (size_t i = 0; i < t->track_count; i++)
        draw_calls(&p, i, pixels);
    if (o->arrows)
        draw_arrows(&p, pairs);
    fputs("</svg>\n", f);
    free(pixels);
}
