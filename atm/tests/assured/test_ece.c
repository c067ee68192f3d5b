/*
 * test_ece.c - the Latency Monitoring Engine and the Effective Communication Engine: thresholds, which PDU goes by
 * which VC, Retransmit3, and data that arrive whatever is lost. Two ends, three VCs between them with a latency and a
 * loss.
 *
 *     test_ece [CASES [FIRST]]
 */
#include "../lab.h"
#include "atm/src/assured/ece.h"
#include "atm/src/assured/pcaal.h"
#include "atm/src/assured/serial.h"

enum { FLIGHT_MAX = 4096, PAYLOAD = 4, SEEN_MAX = 4096 };

/* ---- the engine that listens ---- */

START_TEST(thresholds)
{
    static const struct {
        int latency_us;
        bool changes, high;
    } rows[] = {{50, 0, 0}, {95, 0, 0}, {100, 0, 0}, {101, 1, 1}, {99, 0, 1}, {91, 0, 1}, {101, 0, 1},
                {90, 0, 1}, {89, 1, 0}, {95, 0, 0},  {91, 0, 0},  {99, 0, 0}, {89, 0, 0}, {150, 1, 1}};
    struct pvma_lme_settings settings = pvma_lme_defaults();
    struct pvma_lme lme;
    pvma_lme_init(&lme, &settings);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pvma_ps sent = (pvma_ps)i * PVMA_MS;
        ck_assert_int_eq(pvma_lme_measure(&lme, sent, sent + rows[i].latency_us * PVMA_US), rows[i].changes);
        ck_assert_int_eq(lme.high, rows[i].high);
        ck_assert(!rows[i].changes || lme.offender == sent);
    }
}
END_TEST

START_TEST(a_lost_periodic_cell)
{
    struct pvma_lme_settings settings = pvma_lme_defaults();
    struct pvma_lme lme;
    pvma_lme_init(&lme, &settings);
    ck_assert_int_eq(pvma_lme_due(&lme), PVMA_NEVER);
    pvma_lme_expect(&lme, PVMA_S, false);
    ck_assert_int_eq(pvma_lme_due(&lme), 1200 * PVMA_MS); /* sent after 0.1 s, lost 0.1 s later */
    ck_assert(!pvma_lme_expire(&lme, 1200 * PVMA_MS - 1));
    ck_assert(pvma_lme_expire(&lme, 1200 * PVMA_MS));
    ck_assert(lme.high && lme.offender == 1100 * PVMA_MS && lme.lost == 1);
    ck_assert_int_eq(pvma_lme_due(&lme), PVMA_NEVER); /* until another comes */
    pvma_lme_expect(&lme, 2 * PVMA_S, false);
    ck_assert(!pvma_lme_expire(&lme, 3 * PVMA_S)); /* high as it was */
    pvma_lme_expect(&lme, 4 * PVMA_S, true);
    ck_assert_int_eq(pvma_lme_due(&lme), PVMA_NEVER);
}
END_TEST

/* ---- two ends ---- */

struct end {
    struct pvma_sender sender;
    struct pvma_receiver receiver;
    struct pvma_ece ece;
    uint32_t written, read;
};

/* A cell on its way, and what was put into it. */
struct cell {
    pvma_ps at;
    enum pvma_path path;
    bool to_b;
    uint8_t octets[PVMA_PCAAL_BYTES];
};

/* What a VC got. */
struct seen {
    enum pvma_path path;
    enum pvma_pdu_type type;
    int64_t n;
    pvma_ps at;
    bool from_a;
};

static struct net {
    struct end a, b;
    unsigned flying;
    pvma_ps now, latency[PVMA_PATHS], behind[2][PVMA_PATHS]; /* no cell overtakes another on a VC */
    pvma_ps free_at[2][PVMA_PATHS], gap[PVMA_PATHS];         /* a VC takes a cell each so often */
    bool (*loses)(enum pvma_path path, const struct pvma_pdu *pdu);
    unsigned seen_count;
    uint64_t random, lost_control;
    struct cell flight[FLIGHT_MAX];
    struct seen seen[SEEN_MAX];
} net;

/* An assertion that writes to no file: there are many. */
static void must(bool holds, const char *else_what)
{
    if (!holds)
        ck_abort_msg("%s", else_what);
}

static const struct pvma_pcaal format = {.several = true, .stamped = true};

static void open_end(struct end *end, bool duplicating, size_t window_bytes)
{
    struct pvma_ece_settings settings = pvma_ece_defaults(duplicating);
    pvma_sender_init(&end->sender, PVMA_SERIAL_PCAAL, window_bytes, 1);
    pvma_receiver_init(&end->receiver, PVMA_SERIAL_PCAAL, window_bytes, 1);
    pvma_ece_init(&end->ece, &settings, &end->sender, &end->receiver);
}

static void open_net(bool duplicating, size_t window_bytes)
{
    memset(&net, 0, offsetof(struct net, flight));
    open_end(&net.a, duplicating, window_bytes);
    open_end(&net.b, duplicating, window_bytes);
    for (int path = 0; path < PVMA_PATHS; path++) {
        net.latency[path] = 40 * PVMA_US;
        net.gap[path] = 3 * PVMA_US;
    }
    net.gap[PVMA_BACKUP] = 9 * PVMA_US;
}

static void close_net(void)
{
    struct end *const ends[] = {&net.a, &net.b};
    for (int i = 0; i < 2; i++) {
        pvma_ece_free(&ends[i]->ece);
        pvma_sender_free(&ends[i]->sender);
        pvma_receiver_free(&ends[i]->receiver);
    }
}

static void note(bool from_a, enum pvma_path path, const struct pvma_pdu *pdu)
{
    if (net.seen_count < SEEN_MAX)
        net.seen[net.seen_count++] = (struct seen){path, pdu->type, pdu->n, net.now, from_a};
}

static void launch(bool from_a, enum pvma_path path, const struct pvma_pdu *pdu)
{
    note(from_a, path, pdu);
    net.free_at[from_a][path] = net.now + net.gap[path];
    if (net.loses && net.loses(path, pdu)) {
        net.lost_control += pdu->type != PVMA_SD;
        return;
    }
    must(net.flying < FLIGHT_MAX, "too many cells");
    struct cell *cell = &net.flight[net.flying++];
    cell->at = net.now + net.latency[path];
    if (cell->at < net.behind[from_a][path])
        cell->at = net.behind[from_a][path];
    net.behind[from_a][path] = cell->at;
    cell->path = path;
    cell->to_b = from_a;
    pvma_pcaal_encode(&format, pdu, cell->octets);
}

static void send_ready(struct end *end, bool from_a)
{
    struct pvma_pdu pdu = {0};
    enum pvma_asked asked;
    for (enum pvma_path path = 0; path < PVMA_PATHS; path++)
        if (net.free_at[from_a][path] <= net.now && pvma_ece_next(&end->ece, path, net.now, &pdu, &asked))
            launch(from_a, path, &pdu);
}

static void write_one(struct end *end)
{
    end->written += pvma_sender_put(&end->sender, &end->written, PAYLOAD, 0, 0);
    pvma_ece_use(&end->ece, net.now);
}

static void read_all(struct end *end)
{
    uint32_t data;
    while (pvma_receiver_read(&end->receiver, &data, PAYLOAD) == PAYLOAD)
        must(data == end->read++, "SDs are out of order");
}

/* The property: what is acknowledged has come. */
static void check_acknowledged(const struct end *from, const struct end *to, int64_t n)
{
    for (; n < from->sender.s; n++)
        must(!pvma_sender_is_acknowledged(&from->sender, n) || pvma_receiver_has(&to->receiver, n),
             "an SD is acknowledged and has not come");
}

static void land(unsigned index)
{
    struct cell cell = net.flight[index];
    memmove(&net.flight[index], &net.flight[index + 1], (--net.flying - index) * sizeof cell);
    struct end *to = cell.to_b ? &net.b : &net.a, *from = cell.to_b ? &net.a : &net.b;
    struct pvma_pdu pdu;
    int64_t n = to->sender.a;
    must(pvma_pcaal_decode(&format, &pdu, cell.octets, net.now), "a cell is not read");
    must(pvma_ece_take(&to->ece, cell.path, &pdu, net.now) != PVMA_REFUSED, "an honest PDU is refused");
    check_acknowledged(to, from, n);
    read_all(to);
}

static pvma_ps earlier(pvma_ps a, pvma_ps b)
{
    return a < b ? a : b;
}

/* The next time at which something can happen; a VC that is busy is looked at when it is free. */
static pvma_ps next_time(unsigned *index)
{
    pvma_ps at = earlier(pvma_ece_due(&net.a.ece), pvma_ece_due(&net.b.ece));
    *index = UINT32_MAX;
    for (unsigned i = 0; i < net.flying; i++) {
        if (net.flight[i].at < at) {
            at = net.flight[i].at;
            *index = i;
        }
    }
    for (int from_a = 0; from_a < 2; from_a++)
        for (int path = 0; path < PVMA_PATHS; path++)
            if (net.free_at[from_a][path] > net.now && net.free_at[from_a][path] < at) {
                at = net.free_at[from_a][path];
                *index = UINT32_MAX;
            }
    return at;
}

/* Everything up to a time. False: nothing is left to happen. */
static bool run_until(pvma_ps until)
{
    for (;;) {
        unsigned index;
        send_ready(&net.a, true);
        send_ready(&net.b, false);
        pvma_ps at = next_time(&index);
        if (at > until) {
            net.now = until;
            return at != PVMA_NEVER;
        }
        net.now = at;
        if (index != UINT32_MAX) {
            land(index);
            continue;
        }
        pvma_ece_tick(&net.a.ece, at);
        pvma_ece_tick(&net.b.ece, at);
    }
}

/* a writes an SD each millisecond. */
static void write_for(unsigned ms)
{
    for (; ms; ms--) {
        write_one(&net.a);
        run_until(net.now + PVMA_MS);
    }
}

static unsigned count_seen(bool from_a, int path, int type, pvma_ps since)
{
    unsigned count = 0;
    for (unsigned i = 0; i < net.seen_count; i++)
        count += net.seen[i].from_a == from_a && (int)net.seen[i].path == path && (int)net.seen[i].type == type &&
                 net.seen[i].at >= since;
    return count;
}

/* ---- modes ---- */

/* Latency that is injected gives one LSTAT for each crossing, and none between the thresholds. */
static void cross(bool duplicating)
{
    static const int latency_us[] = {40, 95, 99, 150, 95, 91, 99, 150, 95, 80, 95, 99, 91, 101, 99, 89};
    static const unsigned lstats[] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    open_net(duplicating, 65536);
    for (size_t i = 0; i < sizeof lstats / sizeof lstats[0]; i++) {
        net.latency[PVMA_ORDINARY] = latency_us[i] * PVMA_US;
        write_for(250);
        ck_assert_uint_eq(net.b.ece.count.lstats, lstats[i]);
        ck_assert_uint_eq(net.a.ece.count.changes, lstats[i]);
        ck_assert_int_eq(net.a.ece.high, lstats[i] & 1);
        net.seen_count = 0;
    }
    ck_assert_uint_eq(net.b.ece.count.repeated, 0);
    ck_assert_uint_eq(net.b.read, 250 * sizeof lstats / sizeof lstats[0]);
    close_net();
}

START_TEST(one_lstat_for_each_crossing)
{
    cross(false);
    cross(true);
}
END_TEST

/* Which VC each kind of PDU goes by, in both modes. */
static void paths(bool duplicating, bool high)
{
    open_net(duplicating, 65536);
    net.latency[PVMA_ORDINARY] = high ? 150 * PVMA_US : 40 * PVMA_US;
    write_for(300);
    ck_assert_int_eq(net.a.ece.high, high);
    run_until(net.now + PVMA_MS / 2); /* beyond a POLL and its STAT */
    pvma_ps from = net.now;
    write_for(500);
    unsigned ordinary = count_seen(true, PVMA_ORDINARY, PVMA_SD, from),
             backup = count_seen(true, PVMA_BACKUP, PVMA_SD, from);
    ck_assert_uint_eq(ordinary, high && !duplicating ? 0 : 500);
    ck_assert_uint_eq(backup, high ? 500 : 0);
    bool polls_backup = high && !duplicating;
    ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_POLL, from), polls_backup ? 0 : 5);
    ck_assert_uint_eq(count_seen(true, PVMA_BACKUP, PVMA_POLL, from), polls_backup ? 5 : 0);
    ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_STAMP, from), polls_backup ? 5 : 0);
    ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_STAT, from), 5);
    ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_LSTAT, 0), high);
    for (int path = PVMA_ORDINARY; path <= PVMA_BACKUP; path++)
        for (int type = PVMA_STAT; type <= PVMA_LSTAT; type++)
            ck_assert_uint_eq(count_seen(false, path, type, 0), 0);
    ck_assert_uint_eq(net.b.ece.lme.measured > 500, !polls_backup);
    close_net();
}

START_TEST(vcs_of_each_mode)
{
    for (int mode = 0; mode < 4; mode++)
        paths(mode & 1, mode & 2);
}
END_TEST

/* Periodic cells go on for a second, the last one says so, and then nothing is left to happen. */
START_TEST(silence)
{
    open_net(false, 65536);
    write_for(1);
    while (run_until(net.now + PVMA_S))
        ck_assert_int_lt(net.now, 5 * PVMA_S);
    ck_assert_uint_eq(net.b.ece.lme.lost, 0);
    ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_POLL, 0), 9);
    ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_STAMP, 0), 1);
    write_for(1); /* it is used again */
    ck_assert_uint_eq(net.b.read, 2);
    ck_assert_uint_eq(net.b.ece.count.lstats, 0);
    close_net();
}
END_TEST

/* ---- Retransmit3 ---- */

/* Duplicating: what was sent from T_o until the LSTAT came is sent by backup, each SD once, and nothing else. */
START_TEST(retransmit3_is_what_was_not_doubled)
{
    open_net(true, 65536);
    write_for(150);
    net.latency[PVMA_ORDINARY] = 400 * PVMA_US;
    pvma_ps offender = 0, heard = 0;
    for (int i = 0; i < 100; i++) { /* an SD each 10 us */
        write_one(&net.a);
        run_until(net.now + 10 * PVMA_US);
        offender =
            offender ? offender : net.a.sender.slot[(size_t)(net.a.sender.s - 1) & (net.a.sender.slots - 1)]->issued;
        heard = !heard && net.a.ece.high ? net.now : heard;
    }
    run_until(net.now + 5 * PVMA_MS);
    ck_assert(net.a.ece.high);
    ck_assert_int_eq(net.b.ece.lme.offender, offender);
    uint64_t late = net.a.ece.count.retransmit3;
    ck_assert_uint_ge(late, 43); /* 400 us there and 40 us back, but for the first, which the LSTAT acknowledges */
    ck_assert_uint_le(late, 44);
    ck_assert_uint_eq(net.a.ece.count.replicas, 99); /* those, and all after them */
    int64_t expected = 152;
    for (unsigned i = 0; i < net.seen_count; i++)
        if (net.seen[i].path == PVMA_BACKUP && net.seen[i].type == PVMA_SD)
            ck_assert_int_eq(net.seen[i].n, expected++);
    ck_assert_uint_eq(net.b.read, 250);
    close_net();
}
END_TEST

/* ---- losses on purpose ---- */

static unsigned to_lose;
static enum pvma_pdu_type type_to_lose;

static bool loses_some(enum pvma_path path, const struct pvma_pdu *pdu)
{
    bool lost = pdu->type == type_to_lose && to_lose && path != PVMA_BACKUP;
    to_lose -= lost;
    return lost;
}

/* An LSTAT that is lost is repeated for the next POLL, in either direction, and no STAT replaces it. */
START_TEST(a_lost_lstat_is_repeated)
{
    for (int duplicating = 0; duplicating < 2; duplicating++) {
        open_net(duplicating, 65536);
        net.loses = loses_some;
        type_to_lose = PVMA_LSTAT;
        write_for(130);
        to_lose = 1;
        net.latency[PVMA_ORDINARY] = 150 * PVMA_US;
        write_for(20);
        ck_assert(net.b.ece.lme.high && !net.a.ece.high);
        write_for(150);
        ck_assert(net.a.ece.high);
        ck_assert_uint_eq(net.b.ece.count.lstats, 2);
        ck_assert_uint_eq(net.b.ece.count.repeated, 1);
        to_lose = 1;
        net.latency[PVMA_ORDINARY] = 50 * PVMA_US;
        write_for(350);
        ck_assert(!net.b.ece.lme.high && !net.a.ece.high);
        ck_assert_uint_eq(net.b.ece.count.repeated, 2);
        ck_assert_uint_eq(net.b.read, 650);
        close_net();
    }
}
END_TEST

/* A POLL that comes late gives an LSTAT and no STAT; what it lists as missing is sent again as the new mode demands. */
START_TEST(an_lstat_replaces_the_stat)
{
    for (int duplicating = 0; duplicating < 2; duplicating++) {
        open_net(duplicating, 65536);
        net.loses = loses_some;
        type_to_lose = PVMA_SD;
        write_for(95);
        to_lose = 3; /* the last ones, so no USTAT tells of them */
        write_for(3);
        net.latency[PVMA_ORDINARY] = 150 * PVMA_US;
        pvma_ps from = net.now;
        run_until(net.now + 3 * PVMA_MS);
        ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_POLL, from), 1);
        ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_LSTAT, from), 1);
        ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_STAT, from), 0);
        ck_assert_uint_eq(count_seen(true, PVMA_BACKUP, PVMA_SD, from), 3);
        ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_SD, from), duplicating ? 3 : 0);
        ck_assert_uint_eq(net.b.read, 98);
        close_net();
    }
}
END_TEST

/* Six SDs at once, of which the first is lost on the ordinary VC. */
static void lose_first_of_six(void)
{
    net.latency[PVMA_BACKUP] = PVMA_MS;
    to_lose = 1;
    for (int i = 0; i < 6; i++)
        write_one(&net.a);
    run_until(net.now + 5 * PVMA_MS);
}

/* While SDs are doubled, a gap asks for nothing: the replica fills it. Else it is reported at once. */
START_TEST(gaps)
{
    for (int mode = 0; mode < 4; mode++) {
        bool duplicating = mode & 1, high = mode & 2, by_backup = high && !duplicating;
        open_net(duplicating, 65536);
        net.loses = loses_some;
        type_to_lose = PVMA_SD;
        net.latency[PVMA_ORDINARY] = high ? 150 * PVMA_US : 40 * PVMA_US;
        write_for(150);
        pvma_ps from = net.now;
        lose_first_of_six();
        ck_assert_uint_eq(to_lose, by_backup); /* that VC loses none here */
        ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_USTAT, from), !high);
        ck_assert_uint_eq(count_seen(true, PVMA_ORDINARY, PVMA_SD, from), by_backup ? 0 : high ? 6 : 7);
        ck_assert_uint_eq(net.b.read, 156);
        close_net();
    }
}
END_TEST

/* Duplicating: a burst begins when the queue is long, and its first SDs are lost. They were sent before T_o, and no
 * POLL was sent since, so neither Retransmit3 nor the LSTAT's list repairs them: a USTAT does, at once. */
START_TEST(losses_before_the_offender)
{
    open_net(true, 65536);
    net.loses = loses_some;
    type_to_lose = PVMA_SD;
    write_for(150);
    net.latency[PVMA_ORDINARY] = 300 * PVMA_US;
    to_lose = 3;
    for (int i = 0; i < 10; i++)
        write_one(&net.a);
    run_until(net.now + 2 * PVMA_MS);
    ck_assert_uint_eq(net.b.ece.count.lstats, 1);
    ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_USTAT, 0), 1);
    ck_assert_uint_eq(net.b.read, 160);
    close_net();
}
END_TEST

/* A USTAT that was sent before the receiver knew better is not obeyed by a sender that doubles. */
START_TEST(a_late_ustat)
{
    for (int duplicating = 0; duplicating < 2; duplicating++) {
        open_net(duplicating, 65536);
        net.latency[PVMA_ORDINARY] = 150 * PVMA_US;
        write_for(150);
        net.latency[PVMA_BACKUP] = net.latency[PVMA_ORDINARY] = 10 * PVMA_MS;
        pvma_ps from = net.now;
        write_one(&net.a);
        run_until(net.now + PVMA_MS);
        int64_t n = net.a.sender.s - 1;
        struct pvma_pdu ustat = {.type = PVMA_USTAT, .n = n, .limit = n + 100, .list = {n, n + 1}, .elements = 2};
        ck_assert_int_eq(pvma_ece_take(&net.a.ece, PVMA_CONTROL, &ustat, net.now), PVMA_TAKEN);
        run_until(net.now + PVMA_MS);
        ck_assert_uint_eq(count_seen(true, PVMA_BACKUP, PVMA_SD, from), duplicating ? 1 : 2);
        close_net();
    }
}
END_TEST

/* An LSTAT that no honest receiver sends changes nothing, neither what is acknowledged nor the mode. */
START_TEST(a_refused_lstat)
{
    for (int duplicating = 0; duplicating < 2; duplicating++) {
        open_net(duplicating, 65536);
        write_for(10);
        int64_t beyond = net.a.sender.s + 1;
        struct pvma_pdu lstat = {
            .type = PVMA_LSTAT, .n = 1, .limit = 100, .list = {beyond}, .elements = 1, .high = true};
        ck_assert_int_eq(pvma_ece_take(&net.a.ece, PVMA_CONTROL, &lstat, net.now), PVMA_REFUSED);
        ck_assert(!net.a.ece.high);
        ck_assert_uint_eq(net.a.ece.count.changes, 0);
        ck_assert_uint_eq(net.a.ece.count.retransmit3, 0);
        close_net();
    }
}
END_TEST

static bool loses_every_second(enum pvma_path path, const struct pvma_pdu *pdu)
{
    return pdu->type == PVMA_USTAT || (path == PVMA_ORDINARY && pdu->type == PVMA_SD && pdu->n % 2);
}

/* A long list takes several cells, and all are LSTATs; the mode changes once. */
START_TEST(an_lstat_in_several_cells)
{
    open_net(false, 65536);
    net.loses = loses_every_second;
    net.latency[PVMA_BACKUP] = 20 * PVMA_US;
    for (int i = 0; i < 20; i++)
        write_one(&net.a);
    run_until(PVMA_MS);
    net.latency[PVMA_ORDINARY] = 150 * PVMA_US;
    run_until(110 * PVMA_MS);                                             /* the first POLL */
    ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_LSTAT, 0), 4); /* ten gaps, three in a cell */
    ck_assert_uint_eq(count_seen(false, PVMA_CONTROL, PVMA_STAT, 0), 0);
    ck_assert_uint_eq(net.b.ece.count.lstats, 1);
    ck_assert_uint_eq(net.a.ece.count.changes, 1);
    ck_assert_uint_eq(count_seen(true, PVMA_BACKUP, PVMA_SD, 0), 10);
    ck_assert_uint_eq(net.b.read, 20);
    close_net();
}
END_TEST

/* ---- any loss ---- */

static uint32_t draw(void)
{
    net.random ^= net.random >> 12;
    net.random ^= net.random << 25;
    net.random ^= net.random >> 27;
    return (uint32_t)(net.random * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

static unsigned loss_of_256[PVMA_PATHS];

static bool loses_any(enum pvma_path path, const struct pvma_pdu *pdu)
{
    (void)pdu;
    return (draw() & 255) < loss_of_256[path];
}

static void vary(void)
{
    static const int latency_us[] = {30, 60, 88, 95, 110, 200, 1000, 5000};
    switch (draw() & 7) {
    case 0:
        net.latency[PVMA_ORDINARY] = latency_us[draw() & 7] * PVMA_US;
        break;
    case 1:
        net.latency[PVMA_BACKUP] = latency_us[draw() & 7] * PVMA_US;
        break;
    case 2:
        run_until(net.now + (pvma_ps)(draw() & 127) * PVMA_MS);
        break;
    default:
        for (unsigned left = draw() & 7; left; left--)
            write_one(draw() & 3 ? &net.a : &net.b);
        run_until(net.now + (pvma_ps)(draw() & 255) * PVMA_US);
    }
}

/* Each VC loses up to three cells in four, control too; then nothing, and all that was written is read. */
static void run_case(uint64_t number)
{
    open_net(number & 1, 512 + (number >> 1 & 3) * 2048);
    net.random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    draw();
    net.loses = loses_any;
    for (int path = 0; path < PVMA_PATHS; path++)
        loss_of_256[path] = draw() & 1 ? draw() % 192 : 0;
    for (unsigned left = 8 + (draw() & 31); left; left--)
        vary();
    net.loses = NULL;
    pvma_ps limit = net.now + 60 * PVMA_S;
    while (run_until(net.now + PVMA_S))
        must(net.now < limit, "a case does not end");
    ck_assert_uint_eq(net.b.read, net.a.written);
    ck_assert_uint_eq(net.a.read, net.b.written);
    ck_assert_uint_eq(net.a.sender.charge + net.b.sender.charge, 0);
    ck_assert_int_eq(net.a.ece.high, net.b.ece.lme.high);
    ck_assert_int_eq(net.b.ece.high, net.a.ece.lme.high);
    close_net();
}

static uint64_t cases = 5000, first_case;

START_TEST(any_loss)
{
    for (uint64_t i = first_case; i < first_case + cases; i++)
        run_case(i);
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {thresholds,
                                  a_lost_periodic_cell,
                                  one_lstat_for_each_crossing,
                                  vcs_of_each_mode,
                                  silence,
                                  retransmit3_is_what_was_not_doubled,
                                  a_lost_lstat_is_repeated,
                                  an_lstat_replaces_the_stat,
                                  gaps,
                                  losses_before_the_offender,
                                  a_late_ustat,
                                  a_refused_lstat,
                                  an_lstat_in_several_cells,
                                  any_loss};
    if (argc > 1)
        cases = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_case = strtoull(argv[2], NULL, 10);
    return unit_run("ece", tests, sizeof tests / sizeof tests[0]);
}
