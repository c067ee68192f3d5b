/* test_virtual.c - programs in virtual time: exact to the nanosecond, independently of the machine's load. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "programs.h"

#define ASAP 4000
#define US   1000
#define MS   1000000

static int64_t now(void)
{
    int64_t ns;
    NEED(!atm_sim_time(&ns));
    return ns;
}

static void nap(int64_t ns)
{
    NEED(atm_sim_poll(NULL, 0, ns) == 0);
}

static int dial(const char *host, Atm_sap asap)
{
    Atm_endpoint to = {.asap = asap};
    int rc, fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !atm_gethostbyname(host, &to.nsap) && !atm_bind(fd, 0, NULL, 0));
    while ((rc = atm_connect(fd, &to, NULL, NULL, aal_type_5, duplex)) && atm_errno == ECONNREFUSED)
        nap(MS);
    NEED(!rc);
    return fd;
}

static int answer(Atm_sap asap)
{
    int id, listener = atm_open(NULL, 0, NULL), fd = atm_open(NULL, 0, NULL);
    NEED(listener >= 0 && fd >= 0 && !atm_bind(listener, asap, NULL, 8));
    NEED(!atm_listen(listener, &id, NULL, NULL, NULL));
    NEED(!atm_accept(listener, fd, id, NULL, duplex));
    NEED(!atm_close(listener));
    return fd;
}

/* ---- one cell ---- */

static int send_time(void *arg)
{
    (void)arg;
    int fd = dial("b", ASAP);
    for (int i = 0; i < 3; i++) {
        nap(10 * MS);
        int64_t t = now();
        NEED(atm_send(fd, (char *)&t, sizeof t) == sizeof t);
    }
    nap(10 * MS);
    return atm_close(fd);
}

static int receive_time(void *arg)
{
    int64_t t, latency = *(int64_t *)arg;
    int fd = answer(ASAP);
    for (int i = 0; i < 3; i++) {
        NEED(atm_recv(fd, (char *)&t, sizeof t) == sizeof t);
        if (now() - t != latency)
            tell(now() - t);
        NEED(now() - t == latency);
    }
    NEED(atm_recv(fd, (char *)&t, sizeof t) == 0);
    return atm_close(fd);
}

/* 2 x 8.25 + 12.5 + 2 cells at 140 Mbit/s + 0.5 of the switch; chapter 5 adds 2 x 0.85 of the bus. */
START_TEST(one_cell_takes_what_the_thesis_says)
{
    int64_t latency = _i ? 37257 : 35557;
    network_start(&(struct network){.topology = _i ? STAR("thesis-ch5", "rate=140M") : STAR("thesis-ch6", "rate=140M"),
                                    .is_virtual = true,
                                    .wait_for = 2});
    pid_t b = program_start("b", receive_time, &latency), a = program_start("a", send_time, NULL);
    program_wait(a);
    program_wait(b);
    network_stop();
}
END_TEST

/* ---- computing ---- */

static int declare(void *arg)
{
    (void)arg;
    int64_t t = now();
    NEED(now() == t); /* time does not pass by itself */
    NEED(!atm_sim_cost(123456789));
    NEED(now() == t + 123456789);
    nap(5);
    NEED(now() == t + 123456794);
    NEED(atm_sim_cost(-1) == -1 && atm_errno == EINVAL);
    return 0;
}

START_TEST(declared_computing_takes_what_it_says)
{
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", declare, NULL));
    network_stop();
}
END_TEST

static int call_for_cost(void *arg)
{
    (void)arg;
    setenv("PVM_ATM_CALL_COST", "7us", 1);
    int64_t t = now();
    NEED(now() == t + 7 * US);
    return 0;
}

START_TEST(calls_take_what_is_declared_for_them)
{
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", call_for_cost, NULL));
    network_stop();
}
END_TEST

static int64_t processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int burn(void *arg)
{
    const char *factor = arg;
    setenv("PVM_ATM_CPU", factor, 1);
    int64_t before = processor_ns(), t = now(), used = processor_ns();
    while (processor_ns() < used + 20 * MS)
        ;
    double took = (double)(now() - t);
    NEED(took >= atof(factor) * 20 * MS && took <= atof(factor) * (double)(processor_ns() - before));
    return 0;
}

START_TEST(measured_computing_is_scaled)
{
    static char factors[][8] = {"3", "2.75", "0.5"};
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", burn, factors[_i]));
    network_stop();
}
END_TEST

/* ---- a library between program and network ---- */

static void use_processor(int64_t ns)
{
    int64_t until = processor_ns() + ns;
    while (processor_ns() < until)
        ;
}

static int compute_below_library(void *arg)
{
    (void)arg;
    setenv("PVM_ATM_CPU", "3", 1);
    int64_t t = now();
    atm_sim_enter_library();
    t = now();
    use_processor(20 * MS);
    NEED(now() == t && !atm_sim_debt());
    int64_t before = processor_ns();
    atm_sim_leave_library();
    use_processor(10 * MS);
    atm_sim_enter_library();
    int64_t most = 3 * (processor_ns() - before), debt = atm_sim_debt();
    NEED(debt >= 30 * MS && debt <= most);
    NEED(now() == t);
    NEED(atm_sim_sleep(-1, 0, 0, 0) == 0 && !atm_sim_debt());
    NEED(now() == t + debt);
    for (int i = 0; i < 1000; i++) {
        atm_sim_leave_library();
        atm_sim_enter_library();
    }
    NEED(atm_sim_debt() < 10 * MS); /* 1000 empty stretches; each of at least the grain, if any, has lost its core */
    return 0;
}

START_TEST(only_the_program_itself_computes)
{
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", compute_below_library, NULL));
    network_stop();
}
END_TEST

/* Computes for 100 ms, and takes at its time what arrives after 10, 20 and 30. */
static int receive_while_computing(void *arg)
{
    int64_t sent, latency = *(int64_t *)arg;
    setenv("PVM_ATM_CPU", "0", 1);
    int fd = answer(ASAP);
    atm_sim_enter_library();
    atm_sim_leave_library();
    int64_t begun = now();
    NEED(!atm_sim_cost(100 * MS) && now() == begun + 100 * MS);
    atm_sim_enter_library();
    for (int i = 0; i < 3; i++) {
        NEED(now() < begun + 100 * MS && atm_sim_debt() > 0);
        NEED(!atm_sim_sleep(-1, 0, 0, 0));
        NEED(atm_recv(fd, (char *)&sent, sizeof sent) == sizeof sent);
        NEED(now() == sent + latency && now() + atm_sim_debt() == begun + 100 * MS);
    }
    while (atm_sim_debt())
        NEED(!atm_sim_sleep(-1, 0, 0, 0));
    NEED(now() == begun + 100 * MS);
    return atm_close(fd);
}

START_TEST(messages_arrive_while_a_program_computes)
{
    int64_t latency = 35557;
    network_start(&(struct network){.topology = STAR("thesis-ch6", "rate=140M"), .is_virtual = true, .wait_for = 2});
    pid_t b = program_start("b", receive_while_computing, &latency), a = program_start("a", send_time, NULL);
    program_wait(a);
    program_wait(b);
    network_stop();
}
END_TEST

static int64_t slept_to;

static void pass(void)
{
    atm_sim_enter_library();
    while (atm_sim_debt())
        NEED(!atm_sim_sleep(-1, 0, 0, 0));
    NEED(!atm_sim_time(&slept_to));
    atm_sim_leave_library();
}

static int sleep_above_library(void *arg)
{
    (void)arg;
    setenv("PVM_ATM_CPU", "0", 1);
    int64_t t = now();
    atm_sim_enter_library();
    atm_sim_on_pass(pass);
    atm_sim_leave_library();
    nap(5 * MS);
    NEED(slept_to == t + 5 * MS && now() == slept_to);
    return 0;
}

START_TEST(the_library_passes_the_sleeps_of_its_program)
{
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", sleep_above_library, NULL));
    network_stop();
}
END_TEST

/* ---- reproducibility ---- */

enum { ROUNDS = 30, PLAYERS = 4 };

/* A ring: each program computes for a time that depends on the data received, and passes them on. */
static int play(void *arg)
{
    static const char *const hosts[] = {"a", "b", "c", "d"};
    int me = *(int *)arg, next = (me + 1) % PLAYERS;
    uint32_t x = (uint32_t)me;
    int in, out;
    if (me == 0) {
        out = dial(hosts[next], ASAP);
        in = answer(ASAP);
    } else {
        in = answer(ASAP);
        out = dial(hosts[next], ASAP);
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (me || i)
            NEED(atm_recv(in, (char *)&x, sizeof x) == sizeof x);
        x = x * 1103515245 + 12345 + (uint32_t)me;
        NEED(!atm_sim_cost(x % 100000));
        NEED(atm_send(out, (char *)&x, sizeof x) == sizeof x);
    }
    if (!me) {
        NEED(atm_recv(in, (char *)&x, sizeof x) == sizeof x);
        tell(now());
        tell(x);
    }
    return atm_close(out) || atm_close(in);
}

static int64_t play_once(uint32_t *x)
{
    static int number[PLAYERS] = {0, 1, 2, 3};
    static const char *const hosts[] = {"a", "b", "c", "d"};
    pid_t players[PLAYERS];
    network_start(&(struct network){.topology = STAR("hp735", "rate=oc3"), .is_virtual = true, .wait_for = PLAYERS});
    for (int i = 0; i < PLAYERS; i++)
        players[i] = program_start(hosts[i], play, &number[i]);
    int64_t end = told();
    *x = (uint32_t)told();
    for (int i = 0; i < PLAYERS; i++)
        program_wait(players[i]);
    network_stop();
    return end;
}

START_TEST(runs_are_the_same_to_the_nanosecond)
{
    uint32_t first, again;
    int64_t end = play_once(&first);
    ck_assert_int_gt(end, MS);
    ck_assert_int_eq(play_once(&again), end);
    ck_assert_uint_eq(first, again);
}
END_TEST

/* ---- joining and leaving ---- */

static int child(void *arg)
{
    int64_t t = now();
    NEED(t >= *(int64_t *)arg);
    int fd = dial("a", ASAP);
    NEED(atm_send(fd, (char *)&t, sizeof t) == sizeof t);
    return atm_close(fd);
}

/* Starts another program in mid-run, and receives from it. */
static int parent(void *arg)
{
    (void)arg;
    int64_t t, begun;
    nap(50 * MS);
    begun = now();
    pid_t pid = program_start("c", child, &begun);
    NEED(!atm_sim_expect(pid));
    int fd = answer(ASAP);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == sizeof t && t >= begun);
    int status;
    NEED(waitpid(pid, &status, 0) == pid && !status);
    return atm_close(fd);
}

START_TEST(programs_come_in_mid_run)
{
    network_start(&(struct network){.is_virtual = true});
    program_wait(program_start("a", parent, NULL));
    network_stop();
}
END_TEST

static int computes_for_ever(void *arg)
{
    (void)arg;
    now();
    tell(getpid());
    for (;;)
        pause();
    return 0;
}

static int waits_a_while(void *arg)
{
    (void)arg;
    nap(1000 * MS);
    return 0;
}

/* A computing program holds up time; when it is killed, the others continue. */
START_TEST(the_dead_hold_nobody_up)
{
    int status;
    network_start(&(struct network){.is_virtual = true, .wait_for = 2});
    pid_t b = program_start("b", computes_for_ever, NULL);
    pid_t a = program_start("a", waits_a_while, NULL);
    ck_assert_int_eq(told(), b);
    kill(b, SIGKILL);
    ck_assert_int_eq(waitpid(b, &status, 0), b);
    program_wait(a);
    network_stop();
}
END_TEST

/* ---- traffic outside the network ---- */

static int local_pipe[2], end_pipe[2];

/* Gives bytes through a pipe at a time that it chooses, and waits for the taker's end. */
static int giver(void *arg)
{
    (void)arg;
    int64_t t, other = told();
    nap(10 * MS);
    t = now();
    NEED(write(local_pipe[1], &t, sizeof t) == sizeof t);
    NEED(!atm_sim_local((pid_t)other, sizeof t, 0));
    NEED(!atm_sim_wait(-1));
    close(end_pipe[1]);
    NEED(read(end_pipe[0], &t, sizeof t) == 0);
    NEED(atm_sim_resume() == 0);
    NEED(!atm_sim_local((pid_t)other, sizeof t, UINT64_MAX));
    nap(1000 * MS);
    return 0;
}

/* Waits up to ten seconds for the pipe, which wakes it at the giver's time. */
static int taker(void *arg)
{
    tell(getpid()); /* before it joins, since programs take turns */
    int64_t t, mine = now();
    pid_t from = *(pid_t *)arg;
    NEED(!atm_sim_local(from, 0, 0));
    NEED(!atm_sim_wait(mine + INT64_C(10000) * MS));
    NEED(read(local_pipe[0], &t, sizeof t) == sizeof t);
    NEED(atm_sim_resume() == 0);
    NEED(now() == t);
    return atm_sim_local(from, 0, sizeof t);
}

START_TEST(bytes_beside_the_network_hold_time)
{
    network_start(&(struct network){.is_virtual = true, .wait_for = 2});
    ck_assert_int_eq(pipe2(local_pipe, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(end_pipe, O_CLOEXEC), 0);
    pid_t a = program_start("a", giver, NULL), b = program_start("b", taker, &a);
    close(end_pipe[0]);
    close(end_pipe[1]);
    program_wait(b);
    program_wait(a);
    close(local_pipe[0]);
    close(local_pipe[1]);
    network_stop();
}
END_TEST

/* ---- a link that fails ---- */

static void nap_until(int64_t ns)
{
    if (now() < ns)
        nap(ns - now());
}

/* A packet each 10 ms from 50 to 200 ms; those from 110 to 150 ms are lost, and the connection lives on. */
static int send_steadily(void *arg)
{
    (void)arg;
    int fd = dial("b", ASAP);
    for (int64_t t = 50; t <= 200; t += 10) {
        nap_until(t * MS);
        NEED(atm_send(fd, (char *)&t, sizeof t) == sizeof t);
    }
    nap(10 * MS);
    return atm_close(fd);
}

static int receive_but_five(void *arg)
{
    (void)arg;
    int64_t t;
    int fd = answer(ASAP);
    for (int64_t expected = 50; expected <= 200; expected += expected == 100 ? 60 : 10)
        NEED(atm_recv(fd, (char *)&t, sizeof t) == sizeof t && t == expected);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == 0);
    return atm_close(fd);
}

START_TEST(programs_outlive_a_failed_link)
{
    network_start(&(struct network){
        .topology = STAR("thesis-ch6", "rate=140M") "fail a s at=105ms for=50ms\n", .is_virtual = true, .wait_for = 2});
    pid_t b = program_start("b", receive_but_five, NULL), a = program_start("a", send_steadily, NULL);
    program_wait(a);
    program_wait(b);
    network_stop();
}
END_TEST

/* With T309 of 20 ms the connection ends at both programs, and each can make a new one when the link is back. */
static int send_and_dial_again(void *arg)
{
    (void)arg;
    int64_t t = 1;
    int fd = dial("b", ASAP);
    NEED(atm_send(fd, (char *)&t, sizeof t) == sizeof t);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == 0);
    NEED(now() >= 125 * MS && now() < 130 * MS);
    atm_close(fd);
    Atm_endpoint to = {.asap = ASAP};
    fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !atm_gethostbyname("b", &to.nsap) && !atm_bind(fd, 0, NULL, 0));
    NEED(atm_connect(fd, &to, NULL, NULL, aal_type_5, duplex)); /* no way */
    atm_close(fd);
    nap_until(160 * MS);
    fd = dial("b", ASAP);
    NEED(atm_send(fd, (char *)&t, sizeof t) == sizeof t);
    nap(10 * MS);
    return atm_close(fd);
}

static int receive_and_answer_again(void *arg)
{
    (void)arg;
    int64_t t;
    int fd = answer(ASAP);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == sizeof t);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == 0);
    NEED(now() >= 125 * MS && now() < 130 * MS);
    atm_close(fd);
    fd = answer(ASAP);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == sizeof t);
    NEED(atm_recv(fd, (char *)&t, sizeof t) == 0);
    return atm_close(fd);
}

START_TEST(long_failures_end_connections)
{
    network_start(
        &(struct network){.topology = STAR("thesis-ch6", "rate=140M t309=20ms") "fail a s at=105ms for=50ms\n",
                          .is_virtual = true,
                          .wait_for = 2});
    pid_t b = program_start("b", receive_and_answer_again, NULL), a = program_start("a", send_and_dial_again, NULL);
    program_wait(a);
    program_wait(b);
    network_stop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("virtual");
    network_test_add(s, "one_cell_takes_what_the_thesis_says", one_cell_takes_what_the_thesis_says, 2);
    network_test_add(s, "declared_computing_takes_what_it_says", declared_computing_takes_what_it_says, 1);
    network_test_add(s, "calls_take_what_is_declared_for_them", calls_take_what_is_declared_for_them, 1);
    network_test_add(s, "measured_computing_is_scaled", measured_computing_is_scaled, 3);
    network_test_add(s, "only_the_program_itself_computes", only_the_program_itself_computes, 1);
    network_test_add(s, "messages_arrive_while_a_program_computes", messages_arrive_while_a_program_computes, 1);
    network_test_add(s, "the_library_passes_the_sleeps_of_its_program", the_library_passes_the_sleeps_of_its_program,
                     1);
    network_test_add(s, "runs_are_the_same_to_the_nanosecond", runs_are_the_same_to_the_nanosecond, 1);
    network_test_add(s, "programs_come_in_mid_run", programs_come_in_mid_run, 1);
    network_test_add(s, "the_dead_hold_nobody_up", the_dead_hold_nobody_up, 1);
    network_test_add(s, "bytes_beside_the_network_hold_time", bytes_beside_the_network_hold_time, 1);
    network_test_add(s, "programs_outlive_a_failed_link", programs_outlive_a_failed_link, 1);
    network_test_add(s, "long_failures_end_connections", long_failures_end_connections, 1);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
