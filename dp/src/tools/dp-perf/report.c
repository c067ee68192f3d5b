/* report.c - prints the figures for people and for programs. */
#include "report.h"
#include <jansson.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

static const char *wait_name(const struct options *o)
{
    return o->spin ? "spin" : "sleep";
}

/* ---- points ---- */

static void print_table(const struct options *o, const struct wire *wire, const struct point *points, int count)
{
    bool lat = o->test == TEST_LAT;
    printf("%s between node %u and %u on %s, MTU %d, %s, mean of the middle 80 %% of %u\n", test_names[o->test],
           wire->nid, o->nid, wire->interface, wire->mtu, o->spin ? "spinning" : "sleeping", o->turns);
    printf("%-10s %8s %12s %12s %12s %12s\n", "carrier", "bytes", lat ? "mean us" : "MB/s", lat ? "min us" : "mean us",
           lat ? "median us" : "min us", lat ? "p99 us" : "median us");
    for (int i = 0; i < count; i++) {
        const struct point *p = &points[i];
        double min = samples_quantile(&p->us, 0), median = samples_quantile(&p->us, 0.5);
        if (p->failed)
            printf("%-10s %8u %12s\n", carriers[p->carrier].name, p->bytes, "failed");
        else if (lat)
            printf("%-10s %8u %12.3f %12.3f %12.3f %12.3f\n", carriers[p->carrier].name, p->bytes, p->mean_us, min,
                   median, samples_quantile(&p->us, 0.99));
        else
            printf("%-10s %8u %12.1f %12.1f %12.1f %12.1f\n", carriers[p->carrier].name, p->bytes, p->mbs, p->mean_us,
                   min, median);
    }
}

static void print_lines(const struct options *o, const struct point *points, int count)
{
    for (int i = 0; i < count; i++) {
        const struct point *p = &points[i];
        if (p->failed)
            continue;
        printf("%s %s.%s.%u ", carriers[p->carrier].name, test_names[o->test], wait_name(o), p->bytes);
        if (o->test == TEST_LAT)
            printf("%.4f us\n", p->mean_us);
        else
            printf("%.2f MB/s\n", p->mbs);
    }
}

/* ---- JSON ---- */

static json_t *json_of_run(const struct options *o, const struct wire *wire)
{
    char date[32];
    struct utsname system;
    time_t now = time(NULL);
    uname(&system);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:s, s:i}", "test", test_names[o->test], "date", date,
                     "system", system.release, "nid", wire->nid, "peer_nid", o->nid, "interface", wire->interface,
                     "mtu", wire->mtu, "wait", wait_name(o), "iterations", (int)o->turns);
}

static void print_json(json_t *all)
{
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    printf("\n");
    json_decref(all);
}

static json_t *json_of_point(const struct options *o, const struct point *p)
{
    json_t *point = json_pack("{s:s, s:i, s:b}", "carrier", carriers[p->carrier].name, "bytes", (int)p->bytes, "failed",
                              (int)p->failed);
    if (p->failed)
        return point;
    json_object_set_new(point, "mean_us", json_real(p->mean_us));
    json_object_set_new(point, "min_us", json_real(samples_quantile(&p->us, 0)));
    json_object_set_new(point, "median_us", json_real(samples_quantile(&p->us, 0.5)));
    json_object_set_new(point, "p99_us", json_real(samples_quantile(&p->us, 0.99)));
    if (o->test != TEST_LAT) {
        json_object_set_new(point, "messages", json_integer(p->count));
        json_object_set_new(point, "mbs", json_real(p->mbs));
        json_object_set_new(point, "ack_us", json_real(p->ack_us));
    }
    return point;
}

void report_points(const struct options *o, const struct wire *wire, const struct point *points, int count)
{
    if (o->form == FORM_TABLE)
        print_table(o, wire, points, count);
    else if (o->form == FORM_LINES)
        print_lines(o, points, count);
    else {
        json_t *all = json_of_run(o, wire), *list = json_array();
        for (int i = 0; i < count; i++)
            json_array_append_new(list, json_of_point(o, &points[i]));
        json_object_set_new(all, "points", list);
        print_json(all);
    }
}

/* ---- the model ---- */

static void print_rows(const struct model *m)
{
    printf("%8s", "bytes");
    for (int p = 0; p < PARAMETERS; p++)
        printf(" %9s", parameter_names[p]);
    printf(" %9s   (us)\n", "one way");
    for (int i = 0; i < m->row_count; i++) {
        printf("%8u", m->rows[i].bytes);
        for (int p = 0; p < PARAMETERS; p++)
            printf(" %9.3f", m->rows[i].us[p]);
        printf(" %9.3f\n", m->rows[i].trip_us);
    }
    printf("\nas lines through these, m bytes:\n");
    for (int p = 0; p < PARAMETERS; p++)
        printf("  %-3s = %.3f us + %.4f ns x m\n", parameter_names[p], m->fit_us[p], m->fit_us_per_byte[p] * 1000);
}

static void print_transfers(const struct model *m)
{
    static const char *const forms[] = {"O_s + (k-1) g + L + O_r + U_r", "O_s + L + k (O_r + U_r)"};
    printf("\nT_p2p(M), M in k packets of %u bytes; g is the greater of g_s and g_r\n", m->packet_bytes);
    for (int form = 0; form < 2; form++)
        printf("  (%d) %s\n", form + 1, forms[form]);
    printf("%10s %8s %12s %12s %8s %12s %8s\n", "M bytes", "k", "measured us", "(1) us", "error", "(2) us", "error");
    for (int i = 0; i < m->transfer_count; i++) {
        const struct model_transfer *t = &m->transfers[i];
        printf("%10.0f %8u %12.2f", t->bytes, t->packets, t->measured_us);
        for (int form = 0; form < 2; form++)
            printf(" %12.2f %+7.1f%%", t->predicted_us[form],
                   100 * (t->predicted_us[form] - t->measured_us) / t->measured_us);
        printf("\n");
    }
    printf("O_s + O_r + U_r < g < L %s here, so the paper would take form (%d).\n",
           m->overlaps ? "holds" : "does not hold", m->overlaps ? 1 : 2);
    for (int form = 0; form < 2; form++)
        printf("Form (%d) errs by %.1f %% in the mean, %.1f %% at most%s.\n", form + 1, 100 * m->error[form],
               100 * m->worst[form], m->error[form] <= m->error[!form] ? "; it is the better one" : "");
}

static void print_model_lines(const struct model *m)
{
    const char *carrier = carriers[m->carrier].name;
    for (int i = 0; i < m->row_count; i++) {
        for (int p = 0; p < PARAMETERS; p++)
            printf("%s model.%s.%u %.4f us\n", carrier, parameter_names[p], m->rows[i].bytes, m->rows[i].us[p]);
        printf("%s model.trip.%u %.4f us\n", carrier, m->rows[i].bytes, m->rows[i].trip_us);
    }
    for (int form = 0; form < 2; form++)
        printf("%s model.error%d.%u %.2f %%\n", carrier, form + 1, m->packet_bytes, 100 * m->error[form]);
}

static json_t *json_of_rows(const struct model *m)
{
    json_t *rows = json_array();
    for (int i = 0; i < m->row_count; i++) {
        json_t *row = json_pack("{s:i, s:f}", "bytes", (int)m->rows[i].bytes, "trip", m->rows[i].trip_us);
        for (int p = 0; p < PARAMETERS; p++)
            json_object_set_new(row, parameter_names[p], json_real(m->rows[i].us[p]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void print_model_json(const struct options *o, const struct wire *wire, const struct model *m)
{
    json_t *all = json_of_run(o, wire), *fit = json_object(), *transfers = json_array();
    for (int p = 0; p < PARAMETERS; p++)
        json_object_set_new(fit, parameter_names[p],
                            json_pack("{s:f, s:f}", "us", m->fit_us[p], "ns_per_byte", m->fit_us_per_byte[p] * 1000));
    for (int i = 0; i < m->transfer_count; i++) {
        const struct model_transfer *t = &m->transfers[i];
        json_array_append_new(transfers, json_pack("{s:f, s:i, s:f, s:[f,f]}", "bytes", t->bytes, "packets",
                                                   (int)t->packets, "measured_us", t->measured_us, "predicted_us",
                                                   t->predicted_us[0], t->predicted_us[1]));
    }
    json_object_set_new(all, "carrier", json_string(carriers[m->carrier].name));
    json_object_set_new(all, "packet_bytes", json_integer(m->packet_bytes));
    json_object_set_new(all, "parameters_us", json_of_rows(m));
    json_object_set_new(all, "fit", fit);
    json_object_set_new(all, "transfers", transfers);
    json_object_set_new(all, "mean_error", json_pack("[f,f]", m->error[0], m->error[1]));
    json_object_set_new(all, "worst_error", json_pack("[f,f]", m->worst[0], m->worst[1]));
    json_object_set_new(all, "overlaps", json_boolean(m->overlaps));
    print_json(all);
}

void report_model(const struct options *o, const struct wire *wire, const struct model *m)
{
    if (o->form == FORM_JSON)
        print_model_json(o, wire, m);
    else if (o->form == FORM_LINES)
        print_model_lines(m);
    else {
        printf("cost model of %s between node %u and %u on %s, MTU %d, %s, mean of the middle 80 %% of %u\n",
               carriers[m->carrier].name, wire->nid, o->nid, wire->interface, wire->mtu,
               o->spin ? "spinning" : "sleeping", o->turns);
        print_rows(m);
        print_transfers(m);
    }
}
