/* devices.c - see devices.h. Reads the table of transports and choice.h; opens no transport. */
#include "devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"
#include "text.h"
#include "core/config.h"
#include "core/error.h"
#include "transports/choice.h"

enum { WHY_BYTES = 512, TEXT_BYTES = 160, COMPLAINT_BYTES = 4096, COLUMNS = 5 };

struct device {
    const struct pvmt_transport_row *row;
    bool usable;    /* for its purpose: messages between tasks, or to the daemon */
    unsigned place; /* in the order of auto, from 1; 0: not in it */
    char why_not[WHY_BYTES];
    struct pvmt_attributes attributes; /* if built */
};

/* ---- examining ---- */

static void examine(const struct pvmt_transport_row *row, const struct pvmt_choice *automatic, struct device *d)
{
    *d = (struct device){.row = row};
    int code = row->internal && row->ops != NULL ? row->ops->available(d->why_not, sizeof(d->why_not))
                                                 : pvmt_choice_usable(row, d->why_not, sizeof(d->why_not));
    d->usable = code == 0;
    if (!d->usable && d->why_not[0] == '\0')
        snprintf(d->why_not, sizeof(d->why_not), "%s", pvmc_error_text(code));
    if (row->ops != NULL)
        row->ops->query(NULL, &d->attributes);
    for (unsigned i = 0; i < automatic->count; i++)
        if (automatic->ops[i] == row->ops)
            d->place = i + 1;
}

static void choose(const char *text, struct pvmt_choice *out)
{
    char why[COMPLAINT_BYTES];

    if (pvmt_choice_parse(text, out, why, sizeof(why)) != 0)
        out->count = 0;
}

/* Examines all transports; NULL when out of memory. */
static struct device *examine_all(int *count)
{
    struct pvmt_choice automatic;
    struct device *devices;
    int n = 0;

    while (pvmt_transport_table[n].name != NULL)
        n++;
    choose("auto", &automatic);
    devices = calloc((size_t)n + 1, sizeof(*devices));
    for (int i = 0; devices != NULL && i < n; i++)
        examine(&pvmt_transport_table[i], &automatic, &devices[i]);
    *count = devices != NULL ? n : 0;
    return devices;
}

/* ---- tables ---- */

static const char *bytes_text(uint32_t bytes, char text[16])
{
    if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
        snprintf(text, 16, "%u MiB", (unsigned)(bytes >> 20));
    else if (bytes >= 1u << 10 && bytes % (1u << 10) == 0)
        snprintf(text, 16, "%u KiB", (unsigned)(bytes >> 10));
    else
        snprintf(text, 16, "%u B", (unsigned)bytes);
    return text;
}

static void attributes_text(const struct device *d, char text[TEXT_BYTES])
{
    const struct pvmt_attributes *a = &d->attributes;
    char frame[16], copy[16];

    if (d->row->ops == NULL)
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, "%.1f us, %u MB/s, frames to %s, copies to %s%s%s%s%s%s", a->latency_ns / 1000.0,
                 a->bandwidth_mbs, bytes_text(a->frame_max, frame), bytes_text(a->copy_max, copy),
                 a->local_only ? ", this host" : "", a->lossless ? ", lossless" : "",
                 a->by_reference ? ", by reference" : "", a->secrecy != NULL ? ", " : "",
                 a->secrecy != NULL ? a->secrecy : "");
}

static const char *usable_text(const struct device *d)
{
    return d->usable ? "yes" : d->row->ops != NULL ? "no" : "not built";
}

/* The last column: a summary, and why the transport is not usable or not a route. */
static void remark_text(const struct device *d, char text[WHY_BYTES])
{
    const char *summary = d->row->ops != NULL ? d->row->ops->summary : "";

    if (!d->usable)
        snprintf(text, WHY_BYTES, "%s%s%s", summary, *summary != '\0' ? ": " : "", d->why_not);
    else if (d->row->internal)
        snprintf(text, WHY_BYTES, "%s (not a route between tasks)", summary);
    else
        snprintf(text, WHY_BYTES, "%s", summary);
}

struct line {
    char place[8], attributes[TEXT_BYTES], remark[WHY_BYTES];
};

static void fill_line(const struct device *d, struct line *line, const char **cell)
{
    snprintf(line->place, sizeof(line->place), d->place != 0 ? "%u" : "-", d->place);
    attributes_text(d, line->attributes);
    remark_text(d, line->remark);
    cell[0] = d->row->name;
    cell[1] = usable_text(d);
    cell[2] = line->place;
    cell[3] = line->attributes;
    cell[4] = line->remark;
}

void devices_print(void)
{
    static const char *const heading[COLUMNS] = {"TRANSPORT", "USABLE", "AUTO", "ATTRIBUTES", "DESCRIPTION"};
    int n;
    struct device *devices = examine_all(&n);
    const char **cell = calloc((size_t)(n + 1) * COLUMNS, sizeof(*cell));
    struct line *lines = calloc((size_t)n + 1, sizeof(*lines));

    if (devices != NULL && cell != NULL && lines != NULL) {
        memcpy(cell, heading, sizeof(heading));
        for (int i = 0; i < n; i++)
            fill_line(&devices[i], &lines[i], cell + (i + 1) * COLUMNS);
        table_print(stdout, cell, n + 1, COLUMNS, table_width(stdout));
    }
    free(lines);
    free(cell);
    free(devices);
}

static void print_port(void *arg, const char *text)
{
    const char **title = arg;

    printf("%s%s\n", *title, text);
    *title = "  ";
}

/* The devices of transports that choose among several. */
static void ports_print(void)
{
    const char *title = "\nDevices of transports:\n  ";

    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name != NULL; row++)
        if (row->ops != NULL && row->ops->describe != NULL)
            row->ops->describe(print_port, &title);
}

/* ---- JSON ---- */

static void add_port(void *arg, const char *text)
{
    json_array_append_new(arg, text_json(text));
}

static json_t *attributes_json(const struct pvmt_attributes *a)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:s*}", "frame_max_bytes", (json_int_t)a->frame_max,
                     "copy_max_bytes", (json_int_t)a->copy_max, "latency_ns", (json_int_t)a->latency_ns,
                     "bandwidth_mbs", (json_int_t)a->bandwidth_mbs, "local_only", a->local_only, "lossless",
                     a->lossless, "by_reference", a->by_reference, "secrecy", a->secrecy);
}

static json_t *device_json(const struct device *d)
{
    json_t *row = json_pack("{s:s, s:b, s:b, s:b}", "name", d->row->name, "built", d->row->ops != NULL, "usable",
                            d->usable, "between_tasks", !d->row->internal);

    if (d->row->ops != NULL) {
        json_object_set_new(row, "summary", json_string(d->row->ops->summary));
        json_object_set_new(row, "attributes", attributes_json(&d->attributes));
    }
    if (d->row->ops != NULL && d->row->ops->describe != NULL) {
        json_t *ports = json_array();
        d->row->ops->describe(add_port, ports);
        json_object_set_new(row, "devices", ports);
    }
    if (!d->usable)
        json_object_set_new(row, "why_not", text_json(d->why_not));
    if (d->place != 0)
        json_object_set_new(row, "auto", json_integer(d->place));
    return row;
}

json_t *devices_json(void)
{
    int n;
    struct device *devices = examine_all(&n);
    json_t *rows = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(rows, device_json(&devices[i]));
    free(devices);
    return rows;
}

/* ---- the order ---- */

static json_t *order_json(const struct pvmt_choice *c)
{
    json_t *names = json_array();

    for (unsigned i = 0; i < c->count; i++)
        json_array_append_new(names, json_string(c->ops[i]->name));
    json_array_append_new(names, json_string("daemon"));
    return names;
}

static void print_order(const char *setting, const char *origin, const struct pvmt_choice *c)
{
    printf("PVM_TRANSPORT=%s%s: ", setting, origin);
    for (unsigned i = 0; i < c->count; i++)
        printf("%s, ", c->ops[i]->name);
    puts("daemon");
}

int devices_show(bool json)
{
    const char *setting = pvmc_config_text(PVMC_SETTING_TRANSPORT),
               *origin = pvmc_config_origin(PVMC_SETTING_TRANSPORT);
    struct pvmt_choice automatic, chosen;
    char why[COMPLAINT_BYTES];
    int code = pvmt_choice_parse(setting, &chosen, why, sizeof(why));

    choose("auto", &automatic);
    if (json) {
        json_t *all = json_pack("{s:o, s:o, s:o, s:s}", "transports", devices_json(), "auto", order_json(&automatic),
                                "setting", text_json(setting), "origin", origin);
        if (code == 0)
            json_object_set_new(all, "order", order_json(&chosen));
        if (why[0] != '\0')
            json_object_set_new(all, "complaint", text_json(why));
        text_print_json(all, JSON_INDENT(2));
    } else {
        devices_print();
        ports_print();
        puts("\nOrder of routes between two tasks, limited to those that both can use:");
        print_order("auto", strcmp(setting, "auto") == 0 ? " (in force)" : "", &automatic);
        if (strcmp(setting, "auto") != 0 && code == 0)
            print_order(setting, " (in force)", &chosen);
    }
    fflush(stdout);
    if (why[0] != '\0')
        fprintf(stderr, "pvm-info: %s\n", why);
    return code;
}
