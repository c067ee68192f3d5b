/*
 * model.c - measures O_s, O_r, U_r, L, g_s and g_r.
 *
 * If the kernel delivers a frame within the sender's call, as over a veth pair, the sender's processor pays O_r. So O_s
 * is the cost of a message without a receiving endpoint. The additional cost with one belongs to O_r, together with the
 * time that the receiver's processor loses while messages arrive.
 */
#include "model.h"
#include <math.h>
#include <stdlib.h>
#include "diagnose.h"

enum { BURST = 32, DISTURB_TURNS = 40, NOBODY_DPID = 38999 };

const char *const parameter_names[PARAMETERS] = {"O_s", "O_r", "U_r", "L", "g_s", "g_r"};

struct bench {
    const struct options *options;
    struct client *client;
    int carrier;
};

/* ---- single measurements; they return -1 with errno on failure ---- */

/* Runs an exercise on both sides; returns the mean of this side's times, and the server's figure. */
static int do_exercise(const struct bench *b, enum exercise exercise, uint32_t bytes, uint32_t count, uint32_t turns,
                       double *mean_us, double *figure_us)
{
    struct order order = {
        .exercise = exercise, .carrier = (uint8_t)b->carrier, .bytes = bytes, .count = count, .turns = turns};
    struct samples samples = {0};
    struct end end;
    int rc = client_begin(b->client, &order, &end);
    if (rc < 0)
        return -1;
    if (exercise == EXERCISE_ECHO)
        rc = exercise_ping(&end, bytes, turns, &samples);
    else if (exercise == EXERCISE_SOURCE)
        rc = exercise_pick(&end, bytes, count, turns, &samples);
    else if (exercise == EXERCISE_COMPUTE)
        rc = exercise_disturb(&end, bytes, count, turns);
    else
        rc = exercise_stream(&end, bytes, count, turns, &samples);
    *mean_us = samples_mean(&samples);
    samples_free(&samples);
    return client_end(b->client, &end, rc, figure_us);
}

/* Measures a call that sends, to the server's end or to an endpoint that does not exist. */
static int measure_send(const struct bench *b, uint32_t bytes, bool to_nobody, double *mean_us)
{
    enum { PER_ORDER = 64 }; /* fits into any pool */
    struct samples samples = {0};
    int rc = 0;
    for (uint32_t left = b->options->turns; rc == 0 && left > 0; left -= left < PER_ORDER ? left : PER_ORDER) {
        uint32_t count = left < PER_ORDER ? left : PER_ORDER;
        struct order order = {
            .exercise = EXERCISE_SINK, .carrier = (uint8_t)b->carrier, .bytes = bytes, .count = count, .turns = 1};
        struct end end;
        rc = client_begin(b->client, &order, &end);
        if (rc < 0)
            break;
        struct place server = end.peer;
        end.peer.dpid = NOBODY_DPID;
        if (to_nobody && (rc = end.carrier->meet(&end)) == 0)
            rc = exercise_send(&end, bytes, count, &samples);
        end.peer = server;
        struct samples unused = {0};
        if (rc == 0 && to_nobody && (rc = end.carrier->meet(&end)) == 0)
            rc = exercise_stream(&end, bytes, count, 1, &unused);
        else if (rc == 0 && (rc = exercise_send(&end, bytes, count, &samples)) == 0)
            rc = end_take(&end, ACK_BYTES) < 0 ? -1 : 0;
        samples_free(&unused);
        rc = client_end(b->client, &end, rc, NULL);
    }
    *mean_us = samples_mean(&samples);
    samples_free(&samples);
    return rc;
}

static int measure_gap(const struct bench *b, uint32_t bytes, double *send_us, double *receive_us)
{
    struct order order = {.exercise = EXERCISE_SINK,
                          .carrier = (uint8_t)b->carrier,
                          .bytes = bytes,
                          .count = BURST,
                          .turns = b->options->turns};
    struct samples samples = {0};
    struct end end;
    if (client_begin(b->client, &order, &end) < 0)
        return -1;
    int rc = exercise_burst(&end, bytes, BURST, order.turns, &samples);
    *send_us = samples_mean(&samples);
    samples_free(&samples);
    rc = client_end(b->client, &end, rc, receive_us);
    *receive_us /= BURST - 1;
    return rc;
}

/* ---- rows ---- */

static double not_below_0(double us)
{
    return us > 0 ? us : 0;
}

static int measure_row(const struct bench *b, struct model_row *row)
{
    uint32_t turns = b->options->turns;
    double alone_us, sent_us, unused_us, lost_us = 0;
    if (do_exercise(b, EXERCISE_ECHO, row->bytes, 0, turns, &row->trip_us, &unused_us) < 0 ||
        measure_send(b, row->bytes, true, &alone_us) < 0 || measure_send(b, row->bytes, false, &sent_us) < 0 ||
        do_exercise(b, EXERCISE_SOURCE, row->bytes, BURST, turns, &row->us[U_R], &unused_us) < 0 ||
        do_exercise(b, EXERCISE_COMPUTE, row->bytes, BURST, DISTURB_TURNS, &unused_us, &lost_us) < 0 ||
        measure_gap(b, row->bytes, &row->us[G_S], &row->us[G_R]) < 0)
        return -1;
    row->us[O_S] = alone_us;
    row->us[O_R] = not_below_0(sent_us - alone_us) + lost_us;
    row->us[LATENCY] = not_below_0(row->trip_us - row->us[O_S] - row->us[O_R] - row->us[U_R]);
    return 0;
}

static void fit_rows(struct model *m)
{
    double bytes[SIZES_MAX], us[SIZES_MAX];
    for (int p = 0; p < PARAMETERS; p++) {
        for (int i = 0; i < m->row_count; i++) {
            bytes[i] = m->rows[i].bytes;
            us[i] = m->rows[i].us[p];
        }
        line_fit(bytes, us, (size_t)m->row_count, &m->fit_us[p], &m->fit_us_per_byte[p]);
    }
}

/* ---- transfers ---- */

/* Predicts by the parameters for packets of b bytes, which are in the last row. */
static void predict(const struct model *m, struct model_transfer *t)
{
    const double *us = m->rows[m->row_count - 1].us;
    double gap_us = us[G_S] > us[G_R] ? us[G_S] : us[G_R];
    t->predicted_us[0] = us[O_S] + (t->packets - 1) * gap_us + us[LATENCY] + us[O_R] + us[U_R];
    t->predicted_us[1] = us[O_S] + us[LATENCY] + t->packets * (us[O_R] + us[U_R]);
}

static int measure_transfers(const struct bench *b, struct model *m)
{
    double ack_us, unused_us;
    if (do_exercise(b, EXERCISE_ECHO, ACK_BYTES, 0, b->options->turns, &ack_us, &unused_us) < 0)
        return -1;
    uint32_t most = (b->options->bytes + m->packet_bytes - 1) / m->packet_bytes;
    for (uint32_t packets = 1; m->transfer_count < TRANSFERS_MAX; packets *= 4) {
        struct model_transfer *t = &m->transfers[m->transfer_count++];
        t->packets = packets < most ? packets : most;
        t->bytes = (double)t->packets * m->packet_bytes;
        if (do_exercise(b, EXERCISE_SINK, m->packet_bytes, t->packets, b->options->turns, &t->measured_us, &unused_us) <
            0)
            return -1;
        t->measured_us -= ack_us;
        predict(m, t);
        if (t->packets == most)
            break;
    }
    return 0;
}

static void judge(struct model *m)
{
    const double *us = m->rows[m->row_count - 1].us;
    double gap_us = us[G_S] > us[G_R] ? us[G_S] : us[G_R];
    m->overlaps = us[O_S] + us[O_R] + us[U_R] < gap_us && gap_us < us[LATENCY];
    for (int form = 0; form < 2; form++) {
        for (int i = 0; i < m->transfer_count; i++) {
            const struct model_transfer *t = &m->transfers[i];
            double error = fabs(t->predicted_us[form] - t->measured_us) / t->measured_us;
            m->error[form] += error / m->transfer_count;
            m->worst[form] = error > m->worst[form] ? error : m->worst[form];
        }
    }
}

/* ---- the whole model ---- */

/* Lists sizes up to the longest message, which is the last row. Returns -1 with errno on failure. */
static int list_rows(const struct options *o, const struct client *client, struct model *m)
{
    static const uint32_t usual[] = {1, 64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    struct end end;
    if (end_open(&end, m->carrier, &client->wire, true, false, 0) < 0)
        return -1;
    m->packet_bytes = (uint32_t)end.longest;
    end_close(&end);
    for (int i = 0; i < (o->size_count ? o->size_count : (int)(sizeof usual / sizeof *usual)); i++) {
        uint32_t bytes = o->size_count ? o->sizes[i] : usual[i];
        if (bytes && bytes < m->packet_bytes && m->row_count < SIZES_MAX - 1)
            m->rows[m->row_count++].bytes = bytes;
    }
    m->rows[m->row_count++].bytes = m->packet_bytes;
    return 0;
}

static int measure_all(const struct bench *b, struct model *m)
{
    if (list_rows(b->options, b->client, m) < 0)
        return -1;
    for (int i = 0; i < m->row_count; i++)
        if (measure_row(b, &m->rows[i]) < 0)
            return -1;
    return measure_transfers(b, m);
}

int model_run(const struct options *o, struct client *client, struct model *m)
{
    const struct bench b = {o, client, o->over[0]};
    *m = (struct model){.carrier = b.carrier};
    if (measure_all(&b, m) < 0)
        return diagnose_exercise(carriers[b.carrier].name, o->nid, o->patience_s);
    fit_rows(m);
    judge(m);
    return EXIT_SUCCESS;
}
