/* test_sim.c - the event engine, its digest, and random numbers. */
#include "atm/src/base/random.h"
#include "unit.h"
#include "atm/src/base/quantity.h"

struct tick {
    struct pvma_event event;
    char name;
};

static char order[64];
static struct pvma_sim *the_sim;

static void note(struct pvma_event *event)
{
    strncat(order, &PVMA_OF(event, struct tick, event)->name, 1);
}

START_TEST(events_run_in_order)
{
    static const struct {
        char name;
        pvma_ps at;
    } plan[] = {{'e', 50}, {'a', 10}, {'c', 30}, {'b', 10}, {'d', 30}, {'f', 60}};
    struct tick ticks[6];
    struct pvma_sim *sim = pvma_sim_new(1);
    order[0] = 0;
    for (int i = 0; i < 6; i++) {
        ticks[i].name = plan[i].name;
        pvma_event_init(&ticks[i].event, PVMA_EVENT_USER, note);
        pvma_sim_at(sim, &ticks[i].event, plan[i].at);
    }
    ck_assert_int_eq(pvma_sim_next(sim), 10);
    pvma_sim_run_until(sim, 30);
    ck_assert_str_eq(order, "abcd"); /* 'a' and 'b' have the same time and run in the order of scheduling */
    ck_assert_int_eq(pvma_sim_now(sim), 30);
    pvma_sim_cancel(sim, &ticks[0].event);
    pvma_sim_at(sim, &ticks[1].event, 20); /* a time in the past becomes now */
    pvma_sim_run(sim);
    ck_assert_str_eq(order, "abcdaf");
    ck_assert_int_eq(pvma_sim_now(sim), 60);
    ck_assert_uint_eq(pvma_sim_event_count(sim), 6);
    ck_assert_int_eq(pvma_sim_next(sim), PVMA_NEVER);
    pvma_sim_free(sim);
}
END_TEST

static pvma_ps last_time;
static unsigned ran;

static void check_time(struct pvma_event *event)
{
    (void)event;
    ck_assert_int_ge(pvma_sim_now(the_sim), last_time);
    last_time = pvma_sim_now(the_sim);
    ran++;
}

/* A heap of many events, moved and cancelled at random, delivers them in order. */
START_TEST(many_events)
{
    enum { COUNT = 5000 };
    static struct pvma_event events[COUNT];
    struct pvma_random random;
    unsigned scheduled = 0;
    the_sim = pvma_sim_new(7);
    pvma_random_init(&random, 7, "test");
    for (int i = 0; i < COUNT; i++)
        pvma_event_init(&events[i], PVMA_EVENT_USER, check_time);
    for (int i = 0; i < 4 * COUNT; i++) {
        struct pvma_event *event = &events[pvma_random_below(&random, COUNT)];
        if (pvma_random_below(&random, 4))
            pvma_sim_at(the_sim, event, (pvma_ps)pvma_random_below(&random, 1000000));
        else
            pvma_sim_cancel(the_sim, event);
    }
    for (int i = 0; i < COUNT; i++)
        scheduled += pvma_event_is_scheduled(&events[i]);
    pvma_sim_run(the_sim);
    ck_assert_uint_eq(ran, scheduled);
    pvma_sim_free(the_sim);
}
END_TEST

static void count(void *arg)
{
    ++*(int *)arg;
}

static void stop(void *arg)
{
    pvma_sim_stop(arg);
}

START_TEST(calls_and_stops)
{
    struct pvma_sim *sim = pvma_sim_new(1);
    int calls = 0;
    pvma_sim_call(sim, 5, count, &calls);
    pvma_sim_call(sim, 6, stop, sim);
    pvma_sim_call(sim, 7, count, &calls);
    pvma_sim_run(sim);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(pvma_sim_now(sim), 6);
    pvma_sim_free(sim); /* with an unfinished call */
}
END_TEST

START_TEST(random_numbers_are_known)
{
    struct pvma_random a, b;
    pvma_random_init(&a, 1, "x");
    pvma_random_init(&b, 1, "y");
    uint64_t first = pvma_random_next(&a);
    ck_assert_uint_ne(first, pvma_random_next(&b));
    pvma_random_init(&b, 1, "x");
    ck_assert_uint_eq(first, pvma_random_next(&b));
    /* xoshiro256** from the state 1, 2, 3, 4, according to its authors' code */
    struct pvma_random known = {{1, 2, 3, 4}};
    ck_assert_uint_eq(pvma_random_next(&known), 11520);
    ck_assert_uint_eq(pvma_random_next(&known), 0);
    ck_assert_uint_eq(pvma_random_next(&known), 1509978240);
}
END_TEST

START_TEST(exponential_mean)
{
    struct pvma_random random;
    pvma_random_init(&random, 3, "exponential");
    double sum = 0, above = 0;
    enum { DRAWS = 200000 };
    for (int i = 0; i < DRAWS; i++) {
        pvma_ps draw = pvma_random_exponential(&random, PVMA_US);
        ck_assert_int_ge(draw, 0);
        sum += (double)draw;
        above += draw > PVMA_US;
    }
    ck_assert_double_eq_tol(sum / DRAWS / PVMA_US, 1, 0.01);
    ck_assert_double_eq_tol(above / DRAWS, 0.36788, 0.005); /* 1/e */
    ck_assert(pvma_random_chance(&random, pvma_random_odds(1)));
    ck_assert(!pvma_random_chance(&random, pvma_random_odds(0)));
}
END_TEST

START_TEST(quantities)
{
    pvma_ps time;
    int64_t rate;
    char text[32];
    double p;
    ck_assert_int_eq(pvma_time_parse("2.831us", PVMA_S, &time), 0);
    ck_assert_int_eq(time, 2831000);
    pvma_time_format(time, text, sizeof text);
    ck_assert_str_eq(text, "2.831us");
    ck_assert_int_eq(pvma_time_parse("0", PVMA_S, &time), 0);
    ck_assert_int_ne(pvma_time_parse("5", PVMA_S, &time), 0);      /* without a unit */
    ck_assert_int_ne(pvma_time_parse("0.5ps", PVMA_S, &time), 0);  /* too fine */
    ck_assert_int_ne(pvma_time_parse("2000ms", PVMA_S, &time), 0); /* too large */
    ck_assert_int_ne(pvma_time_parse("99999999999999999999999s", PVMA_S, &time), 0);
    ck_assert_int_eq(pvma_rate_parse("149.76M", &rate), 0);
    ck_assert_int_eq(rate, 149760000);
    pvma_rate_format(rate, text, sizeof text);
    ck_assert_str_eq(text, "149.76M");
    ck_assert_int_eq(pvma_rate_parse("taxi100", &rate), 0);
    ck_assert_int_eq(rate, 100000000);
    ck_assert_int_ne(pvma_rate_parse("0", &rate), 0);
    ck_assert_int_eq(pvma_probability_parse("1e-6", &p), 0);
    ck_assert_int_ne(pvma_probability_parse("1.5", &p), 0);
    ck_assert_int_ne(pvma_probability_parse("-1", &p), 0);
    ck_assert_int_ne(pvma_probability_parse("nan", &p), 0);
}
END_TEST

UNIT_MAIN("atm_sim", events_run_in_order, many_events, calls_and_stops, random_numbers_are_known, exponential_mean,
          quantities)
