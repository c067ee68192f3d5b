/* topology_switch.c - the line of a switch: models, options, and which of them go together. */
#include <string.h>
#include "topology_reader.h"

#define COMMON                                                                                                         \
    .ports = 16, .iterations = 4, .matching = PVMA_MATCHING_FAIR, .signal = 500 * PVMA_US, .cdvt = 250 * PVMA_US

static const struct pvma_switch_options *find_model(const char *name)
{
    static const struct {
        const char *name;
        struct pvma_switch_options options;
    } models[] = {
        {"output", {COMMON, .model = PVMA_OUTPUT_QUEUED, .buffer = PVMA_BUFFER_INFINITE}},
        {"asx100",
         {COMMON, .model = PVMA_OUTPUT_QUEUED, .latency = 10 * PVMA_US, .fabric_bps = INT64_C(2400000000),
          .buffer = PVMA_BUFFER_FINITE, .buffer_cells = 4096}},
        {"asx200",
         {COMMON, .model = PVMA_OUTPUT_QUEUED, .latency = 10 * PVMA_US, .fabric_bps = INT64_C(2500000000),
          .buffer = PVMA_BUFFER_FINITE, .buffer_cells = 8192}},
        {"an2",
         {COMMON, .model = PVMA_CROSSBAR, .latency = 12 * PVMA_US, .buffer = PVMA_BUFFER_FINITE, .buffer_cells = 256,
          .speedup = 1}},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (!strcmp(models[i].name, name))
            return &models[i].options;
    return NULL;
}

static void set_buffer(struct pvma_reader *r, const char *text, struct pvma_switch_options *sw)
{
    static const struct pvma_option cells[] = {
        {"buffer", PVMA_OPTION_COUNT, offsetof(struct pvma_switch_options, buffer_cells), 1, 10000000, NULL}, {0}};
    if (!strcmp(text, "infinite")) {
        sw->buffer = PVMA_BUFFER_INFINITE;
        return;
    }
    bool counted = !strncmp(text, "count:", 6);
    sw->buffer = counted ? PVMA_BUFFER_COUNTED : PVMA_BUFFER_FINITE;
    if (pvma_option_set(cells, "buffer", counted ? text + 6 : text, sw))
        pvma_reader_complain(r, r->line, "buffer=%.40s: give cells, count:CELLS or infinite", text);
}

/* What a combination of options lacks; NULL when they go together. */
static const char *contradiction(const struct pvma_switch_options *sw)
{
    bool crossbar = sw->model == PVMA_CROSSBAR, discards = sw->clp_cells || sw->epd_cells || sw->ppd;
    if (crossbar && sw->ports > 64)
        return "a crossbar has at most 64 ports";
    if (!crossbar && sw->credits)
        return "credits need a queue for each VC; use model=an2";
    if (!crossbar && (sw->speedup || sw->output_cells || sw->inputs))
        return "speedup, outputs and inputs are options of a crossbar; use model=an2";
    if (crossbar && discards)
        return "epd, ppd and clp need output queues; use another model than an2";
    if (discards && sw->buffer == PVMA_BUFFER_COUNTED)
        return "epd, ppd and clp discard cells, but buffer=count: keeps all; give buffer=CELLS or infinite";
    if (sw->buffer == PVMA_BUFFER_FINITE && (sw->epd_cells > sw->buffer_cells || sw->clp_cells > sw->buffer_cells))
        return "the thresholds epd and clp must not exceed the buffer";
    if (sw->inputs == PVMA_INPUTS_FIFO && sw->credits)
        return "credits need a queue for each VC; leave out inputs=fifo";
    return NULL;
}

void pvma_read_switch(struct pvma_reader *r)
{
#define FIELD(name) offsetof(struct pvma_switch_options, name)
    static const struct pvma_option options[] = {{"ports", PVMA_OPTION_COUNT, FIELD(ports), 2, 255, NULL},
                                                 {"latency", PVMA_OPTION_TIME, FIELD(latency), 0, 0, NULL},
                                                 {"fabric", PVMA_OPTION_RATE, FIELD(fabric_bps), 0, 0, NULL},
                                                 {"credits", PVMA_OPTION_COUNT, FIELD(credits), 0, 1000000, NULL},
                                                 {"iterations", PVMA_OPTION_COUNT, FIELD(iterations), 1, 64, NULL},
                                                 {"matching", PVMA_OPTION_CHOICE, FIELD(matching), 0, 0, "fair|random"},
                                                 {"speedup", PVMA_OPTION_COUNT, FIELD(speedup), 1, 64, NULL},
                                                 {"outputs", PVMA_OPTION_COUNT, FIELD(output_cells), 0, 10000000, NULL},
                                                 {"inputs", PVMA_OPTION_CHOICE, FIELD(inputs), 0, 0, "vc|fifo"},
                                                 {"signal", PVMA_OPTION_TIME, FIELD(signal), 0, 0, NULL},
                                                 {"police", PVMA_OPTION_CHOICE, FIELD(police), 0, 0, "no|drop|tag"},
                                                 {"cdvt", PVMA_OPTION_TIME, FIELD(cdvt), 0, 0, NULL},
                                                 {"clp", PVMA_OPTION_COUNT, FIELD(clp_cells), 0, 10000000, NULL},
                                                 {"epd", PVMA_OPTION_COUNT, FIELD(epd_cells), 0, 10000000, NULL},
                                                 {"ppd", PVMA_OPTION_FLAG, FIELD(ppd), 0, 0, NULL},
                                                 {0}};
#undef FIELD
    char *model = pvma_reader_take(r, 2, "model"), *buffer = pvma_reader_take(r, 2, "buffer");
    const struct pvma_switch_options *base = find_model(model ? model : "output");
    if (!base) {
        pvma_reader_complain(r, r->line, "there is no model \"%.40s\"; give output, asx100, asx200 or an2", model);
        return;
    }
    struct pvma_topo_node form = {.sw = *base};
    if (buffer)
        set_buffer(r, buffer, &form.sw);
    pvma_reader_options(r, 2, options, &form.sw);
    const char *wrong = contradiction(&form.sw);
    if (wrong)
        pvma_reader_complain(r, r->line, "%s", wrong);
    else
        pvma_reader_nodes(r, &form);
}
