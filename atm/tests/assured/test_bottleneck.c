/* test_bottleneck.c - the experiment of chapter 5 of the thesis: one round at a low load ends by each protocol. */
#include "../lab.h"
#include "atm/src/lab/bottleneck.h"
#include "atm/src/lab/digest.h"

enum { MESSAGES = 8 /* of a round: four tasks, two neighbours each */ };

static struct bottleneck_result run(enum bottleneck_protocol protocol, uint64_t seed)
{
    struct bottleneck_setup setup = bottleneck_defaults(BOTTLENECK_PDE1, protocol);
    setup.rounds = 1;
    setup.on_mbps = 150; /* Table 5.4: a load of 0.4 */
    setup.limit = 20 * PVMA_S;
    setup.seed = seed;
    return bottleneck_run(&setup);
}

START_TEST(a_round_ends)
{
    for (enum bottleneck_protocol protocol = BOTTLENECK_SSCOP; protocol <= BOTTLENECK_PCAAL_N; protocol++) {
        struct bottleneck_result result = run(protocol, 1);
        ck_assert(result.ended);
        ck_assert_uint_eq(result.messages, MESSAGES);
        ck_assert_double_eq_tol(result.load, 0.41, 0.1); /* few states ON in so short a time */
        ck_assert_double_gt(result.latency_us, 0);
        if (protocol != BOTTLENECK_SSCOP)
            ck_assert_uint_eq(result.useless, 0);
    }
}
END_TEST

/* A digest covers the simulation, and equal runs are equal. */
START_TEST(a_digest_covers_it)
{
    uint64_t none = lab_digest();
    struct bottleneck_result one = run(BOTTLENECK_PCAAL_N, 1);
    ck_assert_uint_ne(lab_digest(), none);
    struct bottleneck_result again = run(BOTTLENECK_PCAAL_N, 1);
    ck_assert_uint_eq(one.events, again.events);
    ck_assert_double_eq(one.seconds, again.seconds);
}
END_TEST

UNIT_MAIN("bottleneck", a_round_ends, a_digest_covers_it)
