/*
 * test_pvmd_listen.c - the daemon with a doorman that an attacker controls: whatever the doorman sends, the daemon
 * replaces it, keeps none of its descriptors, and continues. This program also plays that doorman.
 */
#include "pvmd/door/listen.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/log.h"
#include "pvmd/door/handover.h"
#include "pvmd/base/own_path.h"
#include "tests/unit/unit.h"

/* The doorman's behaviour. The id of the machine selects it, since the doorman has no arguments and no environment. */
enum deed {
    SHORT_MESSAGE = 1,
    LONG_MESSAGE,
    UNKNOWN_KIND,
    CALLER_WITHOUT_CONNECTION,
    CALLER_WITHOUT_PROOF,
    COUNTS_WITH_DESCRIPTOR,
    CALLER_THAT_IS_A_FILE,
    ENDS_AT_ONCE,
    NEVER_STOPS,
    CALLER_WITH_FORMER_KEY,
};

static struct ev_loop *loop;
static unsigned offers;

const char *pvmd_own_path(void)
{
    return "/proc/self/exe";
}

/* ---- the doorman ---- */

static void say(const void *message, size_t size, int fd)
{
    pvmd_handover_send(STDIN_FILENO, message, size, fd);
}

static struct pvmd_doorman_message proven_caller(const struct pvmd_door *door)
{
    static const struct pvmd_preface p;
    struct pvmd_doorman_message m = {.kind = PVMD_DOORMAN_CALLER};
    pvmd_preface_encode(&p, door, m.u.caller.nonce, m.u.caller.wire);
    return m;
}

static void do_deed(enum deed deed, const struct pvmd_door *door)
{
    struct pvmd_doorman_message m = {.kind = PVMD_DOORMAN_COUNTS}, two[2] = {0};
    int file = open("/dev/null", O_RDWR);
    if (deed == SHORT_MESSAGE)
        say(&m, 3, file);
    if (deed == LONG_MESSAGE)
        say(two, sizeof *two + 1, file);
    if (deed == COUNTS_WITH_DESCRIPTOR)
        say(&m, sizeof m, file);
    struct pvmd_doorman_message caller = proven_caller(door);
    if (deed == CALLER_THAT_IS_A_FILE)
        say(&caller, sizeof caller, file);
    m = (struct pvmd_doorman_message){.kind = deed == UNKNOWN_KIND ? 99 : PVMD_DOORMAN_CALLER};
    if (deed == UNKNOWN_KIND || deed == CALLER_WITHOUT_PROOF || deed == CALLER_WITH_FORMER_KEY)
        say(&m, sizeof m, file);
    if (deed == CALLER_WITHOUT_CONNECTION)
        say(&m, sizeof m, -1);
    while (deed == NEVER_STOPS)
        say(&caller, sizeof caller, file);
    if (deed == ENDS_AT_ONCE)
        _exit(7);
}

static int play_doorman(void)
{
    struct pvmd_doorman_orders orders;
    int listen_fd;
    char byte;
    pvmd_handover_receive(STDIN_FILENO, &orders, sizeof orders, &listen_fd);
    do_deed(orders.doors[0].machine_id[0], &orders.doors[0]);
    while (recv(STDIN_FILENO, &byte, 1, 0) > 0)
        continue;
    return 0;
}

/* ---- the daemon ---- */

static enum pvmd_verdict offered(const struct pvmd_preface *p)
{
    (void)p;
    offers++;
    return PVMD_VERDICT_GO;
}

static void accepted(const struct pvmd_preface *p, int fd, const uint8_t key[PVMD_KEY_BYTES])
{
    (void)p, (void)key, (void)fd;
    ck_abort_msg("a connection that takes no answer is let in");
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void begin(enum deed deed)
{
    static const struct pvmd_listen_events events = {.offered = offered, .accepted = accepted};
    const struct pvmd_machine machine = {.id = {(uint8_t)deed}, .secret = {2}};
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    unit_log_start();
    loop = ev_loop_new(EVFLAG_AUTO);
    ck_assert_int_eq(pvmd_listen_start(loop, "127.0.0.1", 0, &events), 0);
}

static void time_is_up(struct ev_loop *l, ev_timer *w, int events)
{
    (void)w, (void)events;
    ev_break(l, EVBREAK_ALL);
}

static void run_for(double seconds)
{
    ev_timer limit;
    ev_timer_init(&limit, time_is_up, seconds, 0.);
    ev_timer_start(loop, &limit);
    ev_run(loop, 0);
    ev_timer_stop(loop, &limit);
}

static void end(void)
{
    pvmd_listen_stop();
    ev_loop_destroy(loop);
}

static void is_replaced(enum deed deed, const char *why)
{
    unsigned before = open_descriptors();
    begin(deed);
    while (!unit_log.count)
        ev_run(loop, EVRUN_ONCE);
    ck_assert_msg(strstr(unit_log.line, why) != NULL, "deed %d: %s", (int)deed, unit_log.line);
    end();
    ck_assert_uint_eq(open_descriptors(), before);
}

START_TEST(who_breaks_the_protocol_is_replaced)
{
    static const enum deed deeds[] = {SHORT_MESSAGE, LONG_MESSAGE, UNKNOWN_KIND, CALLER_WITHOUT_CONNECTION,
                                      CALLER_WITHOUT_PROOF};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        is_replaced(deeds[i], "it does not follow the protocol");
}
END_TEST

/* One that had not got its new orders when the caller came does not break the protocol. */
START_TEST(a_caller_whose_key_was_dropped_is_refused)
{
    begin(CALLER_WITH_FORMER_KEY);
    pid_t doorman = pvmd_listen_counts()->doorman;
    pvmd_listen_keys_changed();
    run_for(0.2);
    ck_assert_uint_eq(offers, 0);
    ck_assert_int_eq(unit_log.count, 0);
    ck_assert_int_eq(pvmd_listen_counts()->doorman, doorman);
    end();
}
END_TEST

START_TEST(descriptors_that_are_no_connections_are_closed)
{
    static const enum deed deeds[] = {COUNTS_WITH_DESCRIPTOR, CALLER_THAT_IS_A_FILE};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        unsigned before = open_descriptors();
        begin(deeds[i]);
        run_for(0.3);
        end();
        ck_assert_uint_eq(open_descriptors(), before);
    }
    ck_assert_uint_eq(offers, 1);
}
END_TEST

/* 0.2 s, 0.4 s, 0.8 s ... */
START_TEST(one_that_does_not_live_is_started_less_and_less_often)
{
    begin(ENDS_AT_ONCE);
    run_for(2.);
    ck_assert_int_ge(unit_log.count, 2);
    ck_assert_int_le(unit_log.count, 4);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "replacing the doorman, process "));
    ck_assert_ptr_nonnull(strstr(unit_log.line, ": it has ended"));
    end();
}
END_TEST

START_TEST(one_that_never_stops_does_not_stop_the_daemon)
{
    begin(NEVER_STOPS);
    ev_tstamp start = ev_time();
    run_for(1.);
    ck_assert_double_lt(ev_time() - start, 5.);
    ck_assert_uint_gt(offers, 16);
    end();
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {who_breaks_the_protocol_is_replaced, a_caller_whose_key_was_dropped_is_refused,
                                  descriptors_that_are_no_connections_are_closed,
                                  one_that_does_not_live_is_started_less_and_less_often,
                                  one_that_never_stops_does_not_stop_the_daemon};
    if (argc == 2 && !strcmp(argv[1], "-D"))
        return play_doorman();
    return unit_run("pvmd_listen", tests, sizeof tests / sizeof *tests);
}
