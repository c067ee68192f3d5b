#include "tally.h"

#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include "team.h"

static struct {
    bool counting;
    int messages, room;
    int *sizes;
    bool running;
    double start_s, time_s;
    int depth; /* of tally_enter() */
    double enter_s, communication_s;
    struct timespec pace;
} tally;

double tally_now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

void tally_count(bool on)
{
    tally.counting = on;
}

void tally_start(void)
{
    tally.running = true;
    tally.communication_s = 0;
    tally.start_s = tally_now_s();
}

void tally_stop(void)
{
    if (tally.running)
        tally.time_s = tally_now_s() - tally.start_s;
    tally.running = false;
    tally.counting = false;
}

static void make_room(void)
{
    int *sizes;

    tally.room = tally.room ? 2 * tally.room : 1024;
    sizes = realloc(tally.sizes, tally.room * sizeof *sizes);
    if (!sizes)
        team_fail("no memory to count %d messages", tally.room);
    tally.sizes = sizes;
}

void tally_message(long bytes)
{
    if (!tally.counting)
        return;
    if (tally.messages == tally.room)
        make_room();
    tally.sizes[tally.messages++] = (int)bytes;
}

void tally_pace(long us)
{
    tally.pace = (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

void tally_enter(void)
{
    if (tally.depth++ > 0 || !tally.running)
        return;
    if (tally.pace.tv_sec > 0 || tally.pace.tv_nsec > 0)
        nanosleep(&tally.pace, NULL);
    tally.enter_s = tally_now_s();
}

void tally_leave(void)
{
    if (--tally.depth == 0 && tally.running)
        tally.communication_s += tally_now_s() - tally.enter_s;
}

struct tally tally_result(void)
{
    return (struct tally){tally.messages, tally.sizes, tally.time_s, tally.communication_s};
}
