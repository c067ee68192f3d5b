/*
 * test_loss.c - SSCOP and PC-AAL, whatever is lost: a million cases, in each of which a few SDs, POLLs, STATs and
 * USTATs are sent in a random order over wires that lose and double any of them and deliver them late. In each, no SD
 * is ever acknowledged that has not come, all data are read in order, and once nothing is lost any more, everything
 * ends.
 *
 *     DPVM_ASSURED_CASES=CASES DPVM_ASSURED_FIRST=FIRST test_loss
 */
#include "wires.h"

enum { CASES = 1000000, STEPS_MAX = 40, POLLS_MAX = 8 };

/* Of a case. */
struct chances {
    unsigned lose, twice; /* of 256: a PDU */
    unsigned elements;    /* in a STAT */
    bool once;            /* a STAT is cut off, as SSCOP's */
    bool octets;          /* PDUs are encoded */
    bool sscop;
};

static uint64_t draw_state;

/* xorshift*: the simulator's generator would take a third of the time. */
static uint32_t draw(void)
{
    draw_state ^= draw_state >> 12;
    draw_state ^= draw_state << 25;
    draw_state ^= draw_state >> 27;
    return (uint32_t)(draw_state * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

static bool chance(unsigned of_256)
{
    return (draw() & 255) < of_256;
}

/* To octets and back: the numbers lose their upper bits. */
static void recode(const struct chances *chances, struct pvma_pdu *pdu, uint8_t *octets)
{
    static const struct pvma_pcaal format = {.several = true};
    size_t length = PVMA_PCAAL_BYTES;
    if (chances->sscop)
        length = pvma_sscop_encode(pdu, octets);
    else
        pvma_pcaal_encode(&format, pdu, octets);
    MUST(chances->sscop ? pvma_sscop_decode(pdu, octets, length) : pvma_pcaal_decode(&format, pdu, octets, 0));
}

static void send(struct wire *wire, const struct pvma_pdu *pdu, const struct chances *chances)
{
    for (unsigned copies = chance(chances->lose) ? 0 : 1 + chance(chances->twice); copies; copies--)
        wire_put(wire, pdu);
}

static void send_sd(struct pair *pair, const struct chances *chances)
{
    struct pvma_pdu pdu;
    enum pvma_asked asked;
    if (pvma_sender_next(&pair->sender, pair->now, &pdu, &asked))
        send(&pair->there, &pdu, chances);
}

static void send_poll(struct pair *pair, const struct chances *chances)
{
    struct pvma_pdu pdu;
    pvma_sender_poll(&pair->sender, &pdu);
    send(&pair->there, &pdu, chances);
}

static bool send_report(struct pair *pair, const struct chances *chances)
{
    struct pvma_pdu pdu;
    bool any = pvma_receiver_report(&pair->receiver, chances->elements, chances->once, &pdu);
    if (any)
        send(&pair->back, &pdu, chances);
    return any;
}

static void arrive_there(struct pair *pair, const struct chances *chances)
{
    struct pvma_pdu pdu;
    uint8_t octets[PVMA_SSCOP_STAT_MAX];
    if (!pair->there.count)
        return;
    wire_take(&pair->there, &pdu);
    if (chances->octets)
        recode(chances, &pdu, octets);
    MUST(pvma_receiver_take(&pair->receiver, &pdu) != PVMA_REFUSED);
}

/* The property: what is acknowledged has come. */
static void arrive_back(struct pair *pair, const struct chances *chances)
{
    struct pvma_pdu pdu;
    uint8_t octets[PVMA_SSCOP_STAT_MAX];
    int64_t n = pair->sender.a;
    if (!pair->back.count)
        return;
    wire_take(&pair->back, &pdu);
    if (chances->octets)
        recode(chances, &pdu, octets);
    MUST(pvma_sender_take(&pair->sender, &pdu));
    for (; n < pair->sender.s; n++)
        if (pvma_sender_is_acknowledged(&pair->sender, n) && !pvma_receiver_has(&pair->receiver, n))
            ck_abort_msg("case %llu: SD %d is acknowledged and has not come", (unsigned long long)wires_case,
                         (int)(n - pair->first));
}

static void step(struct pair *pair, const struct chances *chances)
{
    switch (draw() & 7) {
    case 0:
    case 1:
        pair_write(pair);
        send_sd(pair, chances);
        break;
    case 2:
        send_sd(pair, chances);
        break;
    case 3:
        send_poll(pair, chances);
        break;
    case 4:
        arrive_there(pair, chances);
        break;
    case 5:
        send_report(pair, chances);
        break;
    case 6:
        arrive_back(pair, chances);
        break;
    case 7:
        if (draw() & 1)
            pair_read(pair);
        arrive_there(pair, chances);
        break;
    }
}

/* All that is underway arrives, and all that may be sent is. */
static void settle(struct pair *pair, const struct chances *sure)
{
    bool busy = true;
    while (busy) {
        int64_t sent = pair->sender.s;
        while (pair->there.count)
            arrive_there(pair, sure);
        pair_read(pair);
        busy = send_report(pair, sure);
        while (pair->back.count)
            arrive_back(pair, sure);
        while (pair->sender.again)
            send_sd(pair, sure);
        send_sd(pair, sure);
        busy |= pair->sender.s != sent || pair->there.count;
    }
}

static void end(struct pair *pair, const struct chances *chances)
{
    struct chances sure = *chances;
    unsigned polls = 0;
    sure.lose = sure.twice = 0;
    settle(pair, &sure);
    for (; pvma_sender_waits(&pair->sender); polls++) {
        MUST(polls < POLLS_MAX);
        send_poll(pair, &sure);
        settle(pair, &sure);
    }
    MUST(pair->read == pair->written);
    MUST(pair->sender.charge == 0);
    MUST(pair->receiver.charge == 0);
}

static void run_case(uint64_t number)
{
    static struct pair pair;
    draw_state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    draw();
    struct chances chances = {.lose = draw() & 255,
                              .twice = draw() & 63,
                              .elements = 3 + (draw() & 4),
                              .once = draw() & 1,
                              .octets = (number & 15) == 0,
                              .sscop = draw() & 1};
    chances.lose = chances.lose < 192 ? chances.lose : 0;
    chances.once |= chances.octets && chances.sscop; /* its STAT has no LAF, without which a second one would lie */
    unsigned bits = chances.sscop ? PVMA_SERIAL_SSCOP : PVMA_SERIAL_PCAAL;
    /* Windows of 5 to 36 SDs, numbers that pass the largest on the wire. */
    pair_open(&pair, bits, pvma_sd_charge(PAYLOAD) * (4 + (draw() & 31)), (INT64_C(1) << bits) - (draw() & 15));
    for (unsigned left = 8 + draw() % (STEPS_MAX - 8); left; left--)
        step(&pair, &chances);
    end(&pair, &chances);
    pair_close(&pair);
}

/* A number of the environment; `otherwise` if it is not there. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(any_loss)
{
    uint64_t first = setting("DPVM_ASSURED_FIRST", 0), cases = setting("DPVM_ASSURED_CASES", CASES);
    for (wires_case = first; wires_case < first + cases; wires_case++)
        run_case(wires_case);
}
END_TEST

UNIT_MAIN("loss", any_loss)
