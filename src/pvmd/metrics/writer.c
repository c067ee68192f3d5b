/* writer.c - see writer.h. */
#include "writer.h"

static const char *total(const struct pvmd_metrics_writer *w, enum pvmd_metrics_kind kind)
{
    return kind == PVMD_METRICS_COUNTER && !w->open_metrics ? "_total" : "";
}

void pvmd_metrics_family(const struct pvmd_metrics_writer *w, const char *name, enum pvmd_metrics_kind kind,
                         const char *help)
{
    static const char *const types[] = {
        [PVMD_METRICS_COUNTER] = "counter", [PVMD_METRICS_GAUGE] = "gauge", [PVMD_METRICS_HISTOGRAM] = "histogram"};
    fprintf(w->to, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total(w, kind), help, name, total(w, kind), types[kind]);
}

static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            fputc('\\', to);
        if (*text == '\n')
            fputs("\\n", to);
        else
            fputc(*text, to);
    }
}

static void put_sample(const struct pvmd_metrics_writer *w, const char *name, const char *suffix, const char *label,
                       const char *value, double number)
{
    fprintf(w->to, "%s%s", name, suffix);
    if (label) {
        fprintf(w->to, "{%s=\"", label);
        put_escaped(w->to, value);
        fputs("\"}", w->to);
    }
    fprintf(w->to, " %.15g\n", number);
}

void pvmd_metrics_counter(const struct pvmd_metrics_writer *w, const char *name, const char *label, const char *value,
                          double count)
{
    put_sample(w, name, "_total", label, value, count);
}

void pvmd_metrics_gauge(const struct pvmd_metrics_writer *w, const char *name, const char *label, const char *value,
                        double level)
{
    put_sample(w, name, "", label, value, level);
}

void pvmd_metrics_distribution(const struct pvmd_metrics_writer *w, const char *name,
                               const struct pvmd_metrics_histogram *h)
{
    char limit[32];
    uint64_t count = 0;
    for (unsigned i = 0; i <= h->n; i++) {
        count += h->counts[i];
        if (i < h->n)
            snprintf(limit, sizeof limit, "%g", h->limits[i]);
        else
            snprintf(limit, sizeof limit, "+Inf");
        put_sample(w, name, "_bucket", "le", limit, (double)count);
    }
    put_sample(w, name, "_sum", NULL, NULL, h->sum);
    put_sample(w, name, "_count", NULL, NULL, (double)count);
}

void pvmd_metrics_end(const struct pvmd_metrics_writer *w)
{
    if (w->open_metrics)
        fputs("# EOF\n", w->to);
}
