/* exercise.c - loops that send messages in one direction, back and forth, and in both directions at once. */
#include "exercise.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include "watchdog.h"

enum {
    SETTLE_US = 500,  /* after this time, sent messages have arrived */
    COMPUTE_US = 300, /* duration of the computation that arriving messages disturb */
    LOSS_US = 50000,  /* after this time, missing messages are lost */
};

/*
 * On lossy carriers, messages of each turn begin with a tag of their own, so that late ones are not taken for those of
 * the current turn.
 */
enum { TAG_DATA = 1 << 24, TAG_ACK = 2 << 24, TAG_LOST = 3 << 24, TAG_BARRIER = 4 << 24 };

static char text[MESSAGE_BYTES_MAX], short_text[ACK_BYTES];

static void set_tag(uint32_t tag)
{
    memcpy(text, &tag, sizeof tag);
}

static int send_short(struct end *end, uint32_t tag)
{
    memcpy(short_text, &tag, sizeof tag);
    return end_send(end, short_text, sizeof short_text);
}

/* Whether a message has the tag; messages shorter than a tag count as tagged. */
static bool is_tagged(const struct end *end, uint32_t bytes, uint32_t tag)
{
    return end->carrier->lossless || bytes < sizeof tag || end->head == tag;
}

/* Takes messages until one has this tag. */
static int take_tagged(struct end *end, uint32_t bytes, uint32_t tag)
{
    do {
        if (end_take(end, bytes) < 0)
            return -1;
    } while (!is_tagged(end, bytes, tag));
    return 0;
}

/* Sleeps until a message arrives, at most LOSS_US. */
static void doze(const struct end *end)
{
    struct pollfd readable = {.fd = end->fd, .events = POLLIN};
    if (!end->spin)
        poll(&readable, 1, LOSS_US / 1000);
}

/* Takes a message. On lossy carriers returns 1, or 0 when it has not arrived for too long. */
static int take_or_lose(struct end *end, uint32_t bytes, uint32_t tag)
{
    enum { LOOKS = 1024 };
    double start_us = 0;
    if (end->carrier->lossless)
        return end_take(end, bytes);
    for (unsigned looks = 0;; looks++) {
        int taken = end->carrier->take(end, bytes, false);
        if (taken < 0 || (taken > 0 && is_tagged(end, bytes, tag)))
            return taken;
        if (!taken)
            doze(end);
        if (end->spin && looks % LOOKS)
            continue;
        start_us = start_us > 0 ? start_us : now_us();
        if (now_us() - start_us > LOSS_US)
            return 0;
    }
}

/* Takes the acknowledgement of a turn. Returns 1, or 0 if messages of the turn were lost. */
static int take_ack(struct end *end, uint32_t turn)
{
    do {
        if (end_take(end, ACK_BYTES) < 0)
            return -1;
    } while (!is_tagged(end, ACK_BYTES, TAG_ACK | turn) && end->head != (TAG_LOST | turn));
    return is_tagged(end, ACK_BYTES, TAG_ACK | turn);
}

static void add_turn(struct samples *samples, int whole, double us)
{
    if (whole)
        samples_add(samples, us);
    else
        samples->lost++;
}

/* ---- the client's side ---- */

int exercise_ping(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples)
{
    for (uint32_t i = 0; i < turns; i++) {
        double start_us = now_us();
        if (end_send(end, text, bytes) < 0 || end_take(end, bytes) < 0)
            return -1;
        samples_add(samples, (now_us() - start_us) / 2);
    }
    return 0;
}

int exercise_stream(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples)
{
    for (uint32_t i = 0; i < turns; i++) {
        double start_us = now_us();
        set_tag(TAG_DATA | i);
        int whole = end_send_many(end, text, bytes, count) < 0 ? -1 : take_ack(end, i);
        if (whole < 0)
            return -1;
        add_turn(samples, whole, now_us() - start_us);
    }
    return 0;
}

struct exchange {
    struct end *end;
    uint32_t bytes, count, turn;
    bool barrier_came; /* of the next turn: the other end has given up this one, or has finished it */
};

/* Sends and takes what is possible now. Returns how many messages moved, or -1. */
static int exchange_some(struct exchange *x, uint32_t *out, uint32_t *in)
{
    int sent = *out < x->count ? x->end->carrier->send(x->end, text, x->bytes, false) : 0;
    int taken = *in < x->count ? x->end->carrier->take(x->end, x->bytes, false) : 0;
    if (sent < 0 || taken < 0 || (!sent && !taken && watchdog_check() < 0))
        return -1;
    *out += (uint32_t)sent;
    *in += taken && is_tagged(x->end, x->bytes, TAG_DATA | x->turn);
    x->barrier_came = taken && !x->end->carrier->lossless && x->end->head == (TAG_BARRIER | (x->turn + 1));
    return sent + taken;
}

/* Returns 1, or 0 if messages were lost. */
static int exchange_once(struct exchange *x)
{
    double silent_us = 0;
    for (uint32_t out = 0, in = 0; out < x->count || in < x->count;) {
        int moved = exchange_some(x, &out, &in);
        if (moved < 0 || x->barrier_came)
            return moved < 0 ? -1 : 0;
        if (moved || x->end->carrier->lossless)
            silent_us = 0;
        else if (silent_us <= 0)
            silent_us = now_us();
        else if (now_us() - silent_us > LOSS_US)
            return 0;
    }
    return 1;
}

int exercise_exchange(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples)
{
    struct exchange x = {.end = end, .bytes = bytes, .count = count};
    for (; x.turn < turns; x.turn++) {
        if (send_short(end, TAG_BARRIER | x.turn) < 0 ||
            (!x.barrier_came && take_tagged(end, ACK_BYTES, TAG_BARRIER | x.turn) < 0))
            return -1;
        double start_us = now_us();
        set_tag(TAG_DATA | x.turn);
        x.barrier_came = false;
        int whole = exchange_once(&x);
        if (whole < 0)
            return -1;
        add_turn(samples, whole, now_us() - start_us);
    }
    return 0;
}

static void pause_us(double us)
{
    for (double end_us = now_us() + us; now_us() < end_us;)
        ;
}

/* The time of reading the clock twice, to be subtracted from intervals of similar length. */
static double clock_cost_us(void)
{
    enum { READINGS = 1000 };
    double start_us = now_us();
    for (int i = 1; i < READINGS; i++)
        now_us();
    return (now_us() - start_us) / READINGS;
}

int exercise_send(struct end *end, uint32_t bytes, uint32_t turns, struct samples *samples)
{
    double clock_us = clock_cost_us();
    set_tag(TAG_DATA);
    for (uint32_t i = 0; i < turns; i++) {
        double start_us = now_us();
        if (end_send(end, text, bytes) < 0)
            return -1;
        samples_add(samples, now_us() - start_us - clock_us);
    }
    return 0;
}

int exercise_burst(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples)
{
    for (uint32_t i = 0; i < turns; i++) {
        set_tag(TAG_DATA | i);
        if (end_send(end, text, bytes) < 0)
            return -1;
        double start_us = now_us();
        if (end_send_many(end, text, bytes, count - 1) < 0)
            return -1;
        double us = (now_us() - start_us) / (count - 1);
        int whole = take_ack(end, i);
        if (whole < 0)
            return -1;
        add_turn(samples, whole, us);
    }
    return 0;
}

int exercise_pick(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns, struct samples *samples)
{
    for (uint32_t i = 0; i < turns; i++) {
        uint32_t taken = 0;
        if (end_send(end, text, ACK_BYTES) < 0)
            return -1;
        pause_us(SETTLE_US);
        double start_us = now_us();
        while (taken < count && end->carrier->take(end, bytes, false) > 0)
            taken++;
        double us = now_us() - start_us;
        if (taken == count) /* otherwise some arrived later, and the time is meaningless */
            samples_add(samples, us / count);
        for (; taken < count; taken++)
            if (end_take(end, bytes) < 0)
                return -1;
    }
    return 0;
}

int exercise_disturb(struct end *end, uint32_t bytes, uint32_t count, uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++)
        if (end_take(end, ACK_BYTES) < 0 || end_send_many(end, text, bytes, count) < 0 || end_take(end, ACK_BYTES) < 0)
            return -1;
    return 0;
}

/* ---- the server's side ---- */

static int serve_echo(struct end *end, const struct order *o)
{
    for (uint32_t i = 0; i < o->turns; i++)
        if (end_take(end, o->bytes) < 0 || end_send(end, text, o->bytes) < 0)
            return -1;
    return 0;
}

/* Takes the messages of a turn; *us is the time from the first to the last. Returns 1, or 0 if some were lost. */
static int sink_once(struct end *end, const struct order *o, uint32_t tag, double *us)
{
    int whole = 1;
    if (take_tagged(end, o->bytes, tag) < 0)
        return -1;
    double first_us = now_us();
    for (uint32_t j = 1; j < o->count && whole == 1; j++)
        whole = take_or_lose(end, o->bytes, tag);
    *us = now_us() - first_us;
    return whole;
}

static int serve_sink(struct end *end, const struct order *o, struct samples *samples)
{
    for (uint32_t i = 0; i < o->turns; i++) {
        double us;
        int whole = sink_once(end, o, TAG_DATA | i, &us);
        if (whole < 0 || send_short(end, (whole ? TAG_ACK : TAG_LOST) | i) < 0)
            return -1;
        add_turn(samples, whole, us);
    }
    return 0;
}

static int serve_source(struct end *end, const struct order *o)
{
    for (uint32_t i = 0; i < o->turns; i++)
        if (end_take(end, ACK_BYTES) < 0 || end_send_many(end, text, o->bytes, o->count) < 0)
            return -1;
    return 0;
}

static unsigned long compute(unsigned long rounds)
{
    unsigned long value = rounds;
    for (unsigned long i = 0; i < rounds; i++)
        __asm__ volatile("" : "+r"(value)); /* keeps the loop from being optimised away */
    return value;
}

/* The number of rounds that take about COMPUTE_US. */
static unsigned long rounds_of_compute(void)
{
    enum { TRIAL = 1000000 };
    double start_us = now_us();
    compute(TRIAL);
    return (unsigned long)(TRIAL * COMPUTE_US / (now_us() - start_us));
}

static double time_of_compute(unsigned long rounds)
{
    double start_us = now_us();
    compute(rounds);
    return now_us() - start_us;
}

/* Uses the shortest times, since other processes may use this processor. */
static int serve_compute(struct end *end, const struct order *o, double *lost_us)
{
    unsigned long rounds = rounds_of_compute();
    double alone_us = 1e9, disturbed_us = 1e9;
    for (uint32_t i = 0; i < o->turns; i++) {
        alone_us = fmin(alone_us, time_of_compute(rounds));
        if (send_short(end, TAG_BARRIER | i) < 0)
            return -1;
        disturbed_us = fmin(disturbed_us, time_of_compute(rounds));
        for (uint32_t j = 0; j < o->count; j++)
            if (end_take(end, o->bytes) < 0)
                return -1;
        if (send_short(end, TAG_BARRIER | i) < 0)
            return -1;
    }
    *lost_us = fmax(disturbed_us - alone_us, 0) / o->count;
    return 0;
}

int exercise_serve(struct end *end, const struct order *o, double *figure_us)
{
    struct samples samples = {0};
    int rc = -1;
    switch (o->exercise) {
    case EXERCISE_ECHO:
        rc = serve_echo(end, o);
        break;
    case EXERCISE_SINK:
        rc = serve_sink(end, o, &samples);
        break;
    case EXERCISE_SOURCE:
        rc = serve_source(end, o);
        break;
    case EXERCISE_EXCHANGE:
        rc = exercise_exchange(end, o->bytes, o->count, o->turns, &samples);
        break;
    case EXERCISE_COMPUTE:
        return serve_compute(end, o, figure_us);
    }
    *figure_us = samples_mean(&samples);
    samples_free(&samples);
    return rc;
}
