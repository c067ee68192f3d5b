/* real_echo.c - see real.h: the program echo, and hosts whose costs are fitted by it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/profile.h"
#include "real.h"

#define ALL_SIZES "0,1,4,16,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072"

enum { ROUND_TRIPS = 20, FEW_ROUND_TRIPS = 5 };

static void run_echo(const struct real_setup *setup, const char *sizes, unsigned round_trips, struct real_echo *echo)
{
    char command[256], text[8192], *rest = text, *line;
    double bytes, least_us, median_us;
    snprintf(command, sizeof command, "echo -r %s -t 127.0.0.2 -n %u -s %s", setup->by_daemons ? "daemon" : "direct",
             round_trips, sizes);
    real_run(setup, command, text, sizeof text);
    *echo = (struct real_echo){0};
    while ((line = strsep(&rest, "\n")) && echo->count < REAL_SIZES_MAX)
        if (sscanf(line, "%lf %lf %lf", &bytes, &least_us, &median_us) == 3) {
            echo->bytes[echo->count] = bytes;
            echo->us[echo->count++] = median_us;
        }
    if (!echo->count)
        real_fail(command);
}

void real_echo(const struct real_setup *setup, struct real_echo *echo)
{
    run_echo(setup, setup->by_daemons ? ALL_SIZES ",262144" : ALL_SIZES, ROUND_TRIPS, echo);
}

double real_echo_one_us(const struct real_setup *setup, unsigned bytes)
{
    struct real_echo echo;
    char size[16];
    snprintf(size, sizeof size, "%u", bytes);
    run_echo(setup, size, FEW_ROUND_TRIPS, &echo);
    return echo.us[0];
}

double real_echo_us(const struct real_echo *echo, double bytes)
{
    for (unsigned i = 0; i < echo->count; i++)
        if (fabs(echo->bytes[i] - bytes) < 0.5)
            return echo->us[i];
    real_fail("echo");
}

double real_echo_r_max(const struct real_echo *echo)
{
    double most = 0;
    for (unsigned i = 0; i < echo->count; i++)
        most = fmax(most, echo->bytes[i] / echo->us[i]);
    return most;
}

double real_echo_n_half(const struct real_echo *echo)
{
    double half = real_echo_r_max(echo) / 2;
    for (unsigned i = 1; i < echo->count; i++) {
        double low = echo->bytes[i - 1] / echo->us[i - 1], high = echo->bytes[i] / echo->us[i];
        if (high >= half)
            return echo->bytes[i - 1] + (half - low) / (high - low) * (echo->bytes[i] - echo->bytes[i - 1]);
    }
    return 0;
}

/* ---- fitting ---- */

/* Each message needs as many calls, so the time grows with their cost along a line. */
void real_fit_call(struct real_setup *setup, unsigned bytes, double us)
{
    enum { TRY_US = 100 };
    double free_us, tried_us;
    setup->call_us = 0;
    free_us = real_echo_one_us(setup, bytes);
    setup->call_us = TRY_US;
    tried_us = real_echo_one_us(setup, bytes);
    setup->call_us = us > free_us ? round((us - free_us) / (tried_us - free_us) * TRY_US) : 0;
}

struct real_daemons real_daemons_of(const char *profile)
{
    const int64_t *cost = pvma_profile_find(profile)->cost;
    return (struct real_daemons){.fragment_us = (double)cost[PVMA_COST_pvmd_fragment] / (double)PVMA_US,
                                 .byte_us = (double)cost[PVMA_COST_pvmd_byte] / (double)PVMA_US};
}

/*
 * A fragment is paid for at four places, one after the other if the message is short. With a long one they work at the
 * same time, so that its time grows with the cost of a byte along a line that bends: a secant finds the cost.
 */
void real_fit_daemons(struct real_setup *setup, double least_us, double most_us)
{
    enum { PLACES = 4, STEPS = 3 };
    struct real_daemons *d = &setup->daemons;
    double before = 0, before_us = 0;
    struct real_echo echo;
    char sizes[16];
    snprintf(sizes, sizeof sizes, "1,%d", REAL_LONG);
    *d = real_daemons_of(setup->profile);
    for (unsigned i = 0; i < STEPS; i++) {
        double tried = d->byte_us, tried_us;
        run_echo(setup, sizes, FEW_ROUND_TRIPS, &echo);
        tried_us = real_echo_us(&echo, REAL_LONG);
        d->fragment_us += (least_us - real_echo_us(&echo, 1)) / PLACES;
        d->byte_us += (most_us - tried_us) * (tried - before) / (tried_us - before_us);
        before = tried;
        before_us = tried_us;
    }
}
