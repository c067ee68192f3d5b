/* measure.c - measures all points, in rounds. */
#include "measure.h"
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include "diagnose.h"

enum { ROUNDS = 4, ACK_TURNS = 200, WARM_TURNS = 3 };

/* ---- one round of one point ---- */

static int warm_and_ping(struct client *client, const struct point *p, uint32_t bytes, uint32_t turns,
                         struct samples *samples)
{
    struct order order = {
        .exercise = EXERCISE_ECHO, .carrier = (uint8_t)p->carrier, .bytes = bytes, .turns = turns + WARM_TURNS};
    struct samples warm = {0};
    struct end end;
    if (client_begin(client, &order, &end) < 0)
        return -1;
    int rc = exercise_ping(&end, bytes, WARM_TURNS, &warm);
    if (rc == 0)
        rc = exercise_ping(&end, bytes, turns, samples);
    samples_free(&warm);
    return client_end(client, &end, rc, NULL);
}

static int transfer(struct client *client, struct point *p, bool both_ways, uint32_t turns)
{
    struct order order = {.exercise = both_ways ? EXERCISE_EXCHANGE : EXERCISE_SINK,
                          .carrier = (uint8_t)p->carrier,
                          .bytes = p->bytes,
                          .count = p->count,
                          .turns = turns};
    struct end end;
    double figure_us;
    if (client_begin(client, &order, &end) < 0)
        return -1;
    int rc = both_ways ? exercise_exchange(&end, p->bytes, p->count, turns, &p->us)
                       : exercise_stream(&end, p->bytes, p->count, turns, &p->us);
    rc = client_end(client, &end, rc, &figure_us);
    p->server_us += rc < 0 ? 0 : figure_us;
    return rc;
}

static int find_ack_time(struct client *client, struct point *p)
{
    struct samples samples = {0};
    int rc = warm_and_ping(client, p, ACK_BYTES, ACK_TURNS, &samples);
    p->ack_us = samples_mean(&samples);
    samples_free(&samples);
    return rc;
}

static int measure_round(const struct options *o, struct client *client, struct point *p)
{
    uint32_t turns = (o->turns + ROUNDS - 1) / ROUNDS;
    p->rounds++;
    if (o->test == TEST_LAT)
        return warm_and_ping(client, p, p->bytes, turns, &p->us);
    if (p->rounds == 1 && o->test == TEST_UNI && find_ack_time(client, p) < 0)
        return -1;
    return transfer(client, p, o->test == TEST_BIDIR, turns);
}

/* ---- all points ---- */

/* The longest message over a carrier; 0, after a message, if it cannot be used. */
static uint32_t longest_message(const struct options *o, const struct client *client, int carrier)
{
    struct end end;
    if (end_open(&end, carrier, &client->wire, true, false, 0) < 0) {
        diagnose_exercise(carriers[carrier].name, o->nid, o->patience_s);
        return 0;
    }
    uint32_t longest = (uint32_t)end.longest;
    end_close(&end);
    return longest;
}

static int list_points(const struct options *o, const struct client *client, struct point *points)
{
    int count = 0;
    for (int i = 0; i < o->over_count; i++) {
        uint32_t longest = longest_message(o, client, o->over[i]);
        for (int j = 0; longest && j < o->size_count; j++) {
            uint32_t bytes = o->sizes[j] ? o->sizes[j] : longest;
            if (bytes <= longest)
                points[count++] =
                    (struct point){.carrier = o->over[i], .bytes = bytes, .count = (o->bytes + bytes - 1) / bytes};
        }
    }
    return count;
}

static void finish(const struct options *o, struct point *p)
{
    p->failed |= p->us.count == 0;
    p->mean_us = samples_mean(&p->us);
    double us = o->test == TEST_BIDIR ? (p->mean_us + p->server_us / p->rounds) / 2 : p->mean_us - p->ack_us;
    p->mbs = o->test != TEST_LAT && us > 0 ? (double)p->bytes * p->count / us : 0;
}

int measure_run(const struct options *o, struct client *client, struct point **points, int *count)
{
    struct point *p = *points = calloc((size_t)(CARRIERS * SIZES_MAX), sizeof *p);
    int status = EXIT_SUCCESS, n = *count = p ? list_points(o, client, p) : 0;
    if (n == 0)
        return EXIT_FAILURE;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n; i++) {
            if (p[i].failed || measure_round(o, client, &p[i]) == 0)
                continue;
            bool dead = errno == EHOSTDOWN;
            status = diagnose_exercise(carriers[p[i].carrier].name, o->nid, o->patience_s);
            p[i].failed = true;
            if (dead)
                return status;
        }
    for (int i = 0; i < n; i++)
        finish(o, &p[i]);
    return status;
}

void measure_free(struct point *points, int count)
{
    for (int i = 0; i < count; i++)
        samples_free(&points[i].us);
    free(points);
}
