/* heatmap.c - see heatmap.h. The scale is logarithmic: one large transfer must not hide all others. */
#include "heatmap.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "output.h"
#include "palette.h"

enum {
    LABEL_BYTES = 64,
    TEXT_BYTES = 32,
    SIDE_MIN = 560, /* pixels */
    CELL_MIN = 9,
    CELL_MAX = 72,
    CELL_NUMBERS = 44, /* smallest cell with room for numbers */
    CELL_LABELS = 9,
    LEFT = 170,
    TOP = 96,
    RIGHT = 150,
    BELOW = 24, /* without the labels */
    LEGEND_HEIGHT = 200,
    LEGEND_STEPS = 50,
};

struct map {
    FILE *f;
    const struct summary *s;
    int cell, side;
    double low, high; /* logarithms of the smallest and largest number of bytes */
};

static double heat_of(const struct map *m, int64_t bytes)
{
    if (m->high <= m->low)
        return 0.6;
    return 0.12 + 0.88 * (log10((double)(bytes > 0 ? bytes : 1)) - m->low) / (m->high - m->low);
}

static void find_range(struct map *m)
{
    size_t n = m->s->timeline->track_count;
    int64_t least = INT64_MAX, most = 1;
    for (size_t i = 0; i < n * n; i++) {
        int64_t bytes = m->s->traffic[i].bytes > 0 ? m->s->traffic[i].bytes : 1;
        if (!m->s->traffic[i].messages)
            continue;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    m->low = log10((double)(least == INT64_MAX ? 1 : least));
    m->high = log10((double)most);
}

static void draw_cell(struct map *m, size_t from, size_t to)
{
    size_t n = m->s->timeline->track_count;
    const struct summary_traffic *c = &m->s->traffic[from * n + to];
    char a[LABEL_BYTES], b[LABEL_BYTES], bytes[TEXT_BYTES];
    int x = LEFT + (int)to * m->cell, y = TOP + (int)from * m->cell;
    if (!c->messages)
        return;
    double heat = heat_of(m, c->bytes);
    output_bytes((double)c->bytes, bytes, sizeof bytes);
    fprintf(m->f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"><title>", x, y, m->cell, m->cell,
            palette_heat(heat));
    output_xml(m->f, timeline_label(&m->s->timeline->tracks[from], a, sizeof a));
    fputs(" to ", m->f);
    output_xml(m->f, timeline_label(&m->s->timeline->tracks[to], b, sizeof b));
    fprintf(m->f, ": %" PRId64 " messages, %s</title></rect>\n", c->messages, bytes);
    if (m->cell < CELL_NUMBERS)
        return;
    const char *ink = heat > 0.55 ? "#fff" : "#223";
    fprintf(m->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%" PRId64 "</text>", x + m->cell / 2,
            y + m->cell / 2 - 2, ink, c->messages);
    fprintf(m->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\" font-size=\"10\">%s</text>\n",
            x + m->cell / 2, y + m->cell / 2 + 12, ink, bytes);
}

static int font_of(const struct map *m)
{
    return m->cell < 13 ? m->cell - 1 : 12;
}

/* Height of the vertical labels; a letter is about 0.6 of the font size wide. */
static int labels_height(const struct map *m)
{
    char label[LABEL_BYTES];
    size_t longest = 0;
    for (size_t i = 0; i < m->s->timeline->track_count; i++) {
        size_t length = strlen(timeline_label(&m->s->timeline->tracks[i], label, sizeof label));
        longest = length > longest ? length : longest;
    }
    return (int)longest * font_of(m) * 6 / 10;
}

static void draw_labels(struct map *m)
{
    char label[LABEL_BYTES];
    size_t n = m->s->timeline->track_count;
    int font = font_of(m), step = m->cell < CELL_LABELS ? 4 : 1;
    for (size_t i = 0; i < n; i += (size_t)step) {
        int at = (int)i * m->cell + m->cell / 2;
        timeline_label(&m->s->timeline->tracks[i], label, sizeof label);
        fprintf(m->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" font-size=\"%d\">", LEFT - 8, TOP + at + font / 3,
                font);
        output_xml(m->f, label);
        fprintf(m->f, "</text><text transform=\"translate(%d %d) rotate(-90)\" text-anchor=\"end\" font-size=\"%d\">",
                LEFT + at + font / 3, TOP + m->side + 8, font);
        output_xml(m->f, label);
        fputs("</text>\n", m->f);
    }
    fprintf(m->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=\"axis\">from</text>\n", LEFT - 8, TOP - 10);
    fprintf(m->f, "<text x=\"%d\" y=\"%d\" class=\"axis\">to</text>\n", LEFT + m->side + 10, TOP + m->side + 16);
}

static void draw_grid(struct map *m)
{
    size_t n = m->s->timeline->track_count;
    fprintf(m->f, "<path d=\"");
    for (size_t i = 0; i <= n; i++)
        fprintf(m->f, "M%d %dv%dM%d %dh%d", LEFT + (int)i * m->cell, TOP, m->side, LEFT, TOP + (int)i * m->cell,
                m->side);
    fputs("\" stroke=\"#d5dde3\" fill=\"none\"/>\n", m->f);
}

static void draw_legend(struct map *m)
{
    char text[TEXT_BYTES];
    int x = LEFT + m->side + 34, height = LEGEND_HEIGHT < m->side ? LEGEND_HEIGHT : m->side;
    int steps = m->high > m->low ? LEGEND_STEPS : 1;
    for (int i = 0; i < steps; i++) {
        double share = (i + 0.5) / steps;
        unsigned color = palette_heat(m->high > m->low ? 0.12 + 0.88 * (1 - share) : 0.6);
        fprintf(m->f, "<rect x=\"%d\" y=\"%.2f\" width=\"18\" height=\"%.2f\" fill=\"#%06x\"/>\n", x,
                TOP + (double)height * i / steps, (double)height / steps + 0.5, color);
    }
    for (int i = 0; i <= 4 && (m->high > m->low || !i); i++) {
        double bytes = round(pow(10, m->high - (m->high - m->low) * i / 4));
        fprintf(m->f, "<text x=\"%d\" y=\"%d\">%s</text>\n", x + 24, TOP + height * i / 4 + 4,
                output_bytes(bytes, text, sizeof text));
    }
}

void heatmap_write(FILE *f, const struct summary *s)
{
    struct map m = {.f = f, .s = s};
    char bytes[TEXT_BYTES], time[TEXT_BYTES];
    int n = (int)s->timeline->track_count;
    m.cell = n ? SIDE_MIN / n : CELL_MAX;
    m.cell = m.cell < CELL_MIN ? CELL_MIN : m.cell > CELL_MAX ? CELL_MAX : m.cell;
    m.side = m.cell * n;
    int width = LEFT + m.side + RIGHT, height = TOP + m.side + BELOW + labels_height(&m);
    find_range(&m);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#223\">\n"
            "<style>.axis{font-style:italic;fill:#5a6872}</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height, width, height);
    fprintf(f, "<text x=\"%d\" y=\"34\" font-size=\"18\">Who talked to whom</text>\n", LEFT);
    fprintf(f, "<text x=\"%d\" y=\"56\" fill=\"#5a6872\">%" PRId64 " messages, %s between %d tasks in %s</text>\n",
            LEFT, s->total.messages, output_bytes((double)s->total.bytes, bytes, sizeof bytes), n,
            output_time((double)s->timeline->length_us, time, sizeof time));
    for (size_t from = 0; from < (size_t)n; from++)
        for (size_t to = 0; to < (size_t)n; to++)
            draw_cell(&m, from, to);
    draw_grid(&m);
    draw_labels(&m);
    if (s->total.messages)
        draw_legend(&m);
    fputs("</svg>\n", f);
}
