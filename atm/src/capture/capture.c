/* capture.c - see capture.h. */
#include "capture.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abr/rm.h"
#include "core/error.h"
#include "core/log.h"
#include "pcap.h"

/* A file, and the number of its records. */
struct output {
    const char *path;
    FILE *file;
    uint64_t records;
};

/* A captured link, with the PDUs that are under way on it. */
struct tapped {
    struct pvma_tap tap;
    struct pvma_capture *capture;
    struct pvma_link *link;
    unsigned interface;
    struct pvma_vctable joins; /* struct pvma_reassembler, by VPI and VCI */
};

struct pvma_capture {
    struct output cells, pdus;
    uint64_t limit;
    struct tapped *tapped;
    size_t count;
};

static uint32_t header_of(const struct pvma_cell *cell)
{
    return (uint32_t)cell->gfc << 28 | (uint32_t)cell->vpi << 20 | (uint32_t)cell->vci << 4 | (uint32_t)cell->pti << 1 |
           cell->clp;
}

static void write_record(struct tapped *t, struct output *output, enum pvma_pcap_type type,
                         const struct pvma_cell *cell, const uint8_t *frame, size_t length)
{
    if (t->capture->limit && output->records == t->capture->limit)
        return;
    output->records++;
    pvma_pcap_record(output->file, type, t->interface, pvma_sim_now(t->link->sim), header_of(cell), frame, length);
}

static struct pvma_reassembler *join_of(struct tapped *t, const struct pvma_cell *cell)
{
    struct pvma_reassembler *r = pvma_vctable_get(&t->joins, cell->vpi, cell->vci);
    if (!r) {
        r = pvma_new(sizeof *r);
        pvma_reassembler_init(r, PVMA_AAL5, PVMA_PDU_MAX);
        pvma_vctable_set(&t->joins, cell->vpi, cell->vci, r);
    }
    return r;
}

/* Other layers than AAL5 mark no cell as the last, so their PDUs never end here. */
static void join_cell(struct tapped *t, const struct pvma_cell *cell)
{
    struct pvma_reassembler *r = join_of(t, cell);
    if (pvma_reassembler_take(r, cell, NULL) == PVMA_MORE)
        return;
    size_t whole = (size_t)r->cells * PVMA_CELL_PAYLOAD;
    if (whole <= r->capacity) /* a longer one was not kept */
        write_record(t, &t->capture->pdus, PVMA_PCAP_AAL5, cell, r->data, whole);
}

static void see(struct pvma_tap *tap, const struct pvma_link *link, const struct pvma_cell *cell)
{
    struct tapped *t = PVMA_OF(tap, struct tapped, tap);
    (void)link;
    if (t->capture->cells.file)
        write_record(t, &t->capture->cells, PVMA_PCAP_CELL, cell, cell->payload, PVMA_CELL_PAYLOAD);
    if (t->capture->pdus.file && cell->vpi != PVMA_VPI_BACKGROUND && !pvma_cell_is_rm(cell)) /* which is of no PDU */
        join_cell(t, cell);
}

/* ---- which links ---- */

static bool is_named(const struct pvma_link *link, const char *name)
{
    return !strcmp(name, "all") || pvma_link_is_named(link, name);
}

static bool is_wanted(const struct pvma_link *link, const struct pvma_capture_options *options)
{
    for (size_t i = 0; i < options->link_count; i++)
        if (is_named(link, options->links[i]))
            return true;
    return !options->link_count && link->from->is_host;
}

static int check_names(struct pvma_net *net, const struct pvma_capture_options *options)
{
    for (size_t i = 0; i < options->link_count; i++) {
        bool found = false;
        for (size_t k = 0; k < pvma_net_link_count(net) && !found; k++)
            found = is_named(pvma_net_link_at(net, k), options->links[i]);
        if (found)
            continue;
        pvmc_log(PVMC_LOG_ERROR, "there is no link \"%.100s\" to capture; write FROM>TO, such as '%s>%s', or all",
                 options->links[i], pvma_net_link_count(net) ? pvma_net_link_at(net, 0)->from->name : "a",
                 pvma_net_link_count(net) ? pvma_net_link_at(net, 0)->to->name : "s");
        return PVMC_EPARAM;
    }
    return 0;
}

static void attach(struct pvma_capture *capture, struct pvma_net *net, const struct pvma_capture_options *options)
{
    capture->tapped = pvma_new(pvma_net_link_count(net) * sizeof *capture->tapped);
    for (size_t i = 0; i < pvma_net_link_count(net); i++) {
        struct pvma_link *link = pvma_net_link_at(net, i);
        if (!is_wanted(link, options))
            continue;
        struct tapped *t = &capture->tapped[capture->count];
        *t = (struct tapped){
            .tap.sent = see, .capture = capture, .link = link, .interface = (unsigned)capture->count++ & 3};
        pvma_vctable_init(&t->joins);
        link->tap = &t->tap;
    }
}

/* ---- files ---- */

static int create(struct output *output, const char *path)
{
    output->path = path;
    output->file = path ? fopen(path, "we") : NULL;
    if (path && !output->file) {
        pvmc_log(PVMC_LOG_ERROR, "cannot write %s: %s", path, strerror(errno));
        return PVMC_ESYSTEM;
    }
    if (path)
        pvma_pcap_begin(output->file);
    return 0;
}

static int finish(struct output *output)
{
    if (!output->file)
        return 0;
    bool bad = ferror(output->file);
    bad = fclose(output->file) || bad;
    if (bad)
        pvmc_log(PVMC_LOG_ERROR, "cannot write %s: %s; the capture is not complete", output->path, strerror(errno));
    return bad ? PVMC_ESYSTEM : 0;
}

int pvma_capture_open(struct pvma_net *net, const struct pvma_capture_options *options, struct pvma_capture **capture)
{
    *capture = NULL;
    if (!options->cells && !options->pdus)
        return 0;
    int error = check_names(net, options);
    if (error)
        return error;
    struct pvma_capture *c = pvma_new(sizeof *c);
    c->limit = options->limit;
    error = create(&c->cells, options->cells);
    if (!error)
        error = create(&c->pdus, options->pdus);
    if (error) {
        pvma_capture_close(c);
        return error;
    }
    attach(c, net, options);
    *capture = c;
    return 0;
}

static void detach(struct tapped *t)
{
    t->link->tap = NULL;
    for (size_t i = 0; i < t->joins.size; i++) {
        if (t->joins.rows[i].value)
            pvma_reassembler_free(t->joins.rows[i].value);
        free(t->joins.rows[i].value);
    }
    pvma_vctable_free(&t->joins);
}

int pvma_capture_close(struct pvma_capture *capture)
{
    if (!capture)
        return 0;
    for (size_t i = 0; i < capture->count; i++)
        detach(&capture->tapped[i]);
    int error = finish(&capture->cells), other = finish(&capture->pdus);
    free(capture->tapped);
    free(capture);
    return error ? error : other;
}
