/* member.c - one task of a team. Member 0 chooses the number of rounds; the others run the jobs that it sends. */
#include "member.h"
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "pvm3.h"
#include "clock.h"
#include "data.h"
#include "stats.h"
#include "test.h"

enum {
    SAMPLES_MAX = 100000,
    SAMPLES_MIN = 5,    /* even if that exceeds the time */
    TRIALS_MAX = 256,   /* samples in a job that looks for the number of rounds */
    TRIAL_US = 2000,    /* least duration of these samples */
    CHECKED_ROUNDS = 2, /* with --verify=sample, before and after the measurement */
    LINK_UP_US = 20000, /* least duration of the first warm-up: direct links open in the background */
    TEXT_MAX = 256,
};

static struct member self;
static double *times_us; /* [SAMPLES_MAX] */
static bool linked;      /* the first warm-up is done */

double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* ---- the parent ---- */

static void send_outcome(const struct outcome *outcome, const char *text)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble((double *)outcome, DOUBLES_OF(*outcome), 1);
    pvm_pkstr((char *)text);
    pvm_send(pvm_parent(), TAG_OUTCOME);
}

void member_fail(const char *format, ...)
{
    static const struct outcome none;
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    send_outcome(&none, text);
    pvm_recv(pvm_parent(), TAG_END); /* or the parent ends, and leave() is called */
    pvm_exit();
    exit(EXIT_FAILURE);
}

int member_must(int code, const char *call)
{
    if (code < 0)
        member_fail("%s failed on rank %d: %s", call, self.rank, pvm_strerror());
    return code;
}

/* Message handler for TAG_GONE: the parent has ended. */
static int leave(int mid)
{
    (void)mid;
    _exit(EXIT_FAILURE);
}

static void take_team(void)
{
    pvm_upkint(&self.count, 1, 1);
    if (self.count < 1 || self.count > MEMBERS_MAX)
        member_fail("invalid team size %d", self.count);
    pvm_upkint(self.tids, self.count, 1);
    for (int i = 0; i < self.count; i++)
        if (self.tids[i] == pvm_mytid())
            self.rank = i;
    pvm_upkint(&self.host_count, 1, 1);
    if (self.host_count < 0 || self.host_count > HOSTS_MAX)
        member_fail("invalid number of hosts %d", self.host_count);
    for (int i = 0; i < self.host_count; i++)
        member_must(pvm_upkstr(self.hosts[i]), "pvm_upkstr");
}

/* ---- jobs ---- */

/* Runs the job on this member. */
static void run_job(const struct test *test, double *times)
{
    test->run(&self, times);
}

/* On member 0: sends a job to all members, runs it and writes times[samples]. */
static void do_job(const struct test *test, int samples, int rounds, bool checked, double *times)
{
    self.job.samples = samples;
    self.job.rounds = rounds;
    self.job.checked = checked || self.point.verify == VERIFY_ALL;
    self.job.serial++;
    if (self.count > 1) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint((int *)&self.job, INTS_OF(self.job), 1);
        member_must(pvm_mcast(self.tids + 1, self.count - 1, TAG_JOB), "pvm_mcast");
    }
    if (samples > 0)
        run_job(test, times);
}

/* On the others: run jobs from member 0 until one has no samples. */
static void follow_jobs(const struct test *test)
{
    for (;;) {
        member_must(pvm_recv(self.tids[0], TAG_JOB), "pvm_recv");
        pvm_upkint((int *)&self.job, INTS_OF(self.job), 1);
        if (self.job.samples == 0)
            return;
        run_job(test, NULL);
    }
}

/* Runs the first round of a point without a job message, so that no other message precedes it. */
static double first_round(const struct test *test)
{
    double time = 0;
    self.job = (struct job){.samples = 1, .rounds = 1, .checked = self.point.verify == VERIFY_ALL, .serial = 0};
    run_job(test, &time);
    return time;
}

/* ---- a point ---- */

static void check_contents(const struct test *test)
{
    double unused[CHECKED_ROUNDS];
    if (self.point.verify == VERIFY_SAMPLE)
        do_job(test, CHECKED_ROUNDS, test->rounds_min, true, unused);
}

static int limited(double value, int min, int max)
{
    return value < min ? min : value > max ? max : (int)value;
}

/* Returns the mean time of the rounds that the point asks for, or 0 if it asks for none. */
static double warm_up(const struct test *test)
{
    double end = now_us() + (linked || self.point.warmup == 0 ? 0 : LINK_UP_US), sum = 0, time;
    int done = 0, counted = 0;
    for (; done < self.point.warmup || now_us() < end; done += test->rounds_min) {
        do_job(test, 1, test->rounds_min, false, &time);
        if (done < self.point.warmup) {
            sum += time;
            counted += test->rounds_min;
        }
    }
    linked = true;
    return counted > 0 ? sum / counted : 0;
}

/*
 * The least time of some samples of so many rounds. One is not enough: after a pause libpvm needs some dozens of short
 * waits before it polls again, and until then each round costs a wake-up.
 */
static double least_time(const struct test *test, int rounds)
{
    double times[TRIALS_MAX], least = 0, end = now_us() + TRIAL_US;
    for (int n = 1;; n = limited(2.0 * n, 1, TRIALS_MAX)) {
        do_job(test, n, rounds, false, times);
        for (int i = 0; i < n; i++)
            least = least == 0 || times[i] < least ? times[i] : least;
        if (now_us() >= end)
            return least;
    }
}

/* The number of rounds that a sample needs. */
static int find_rounds(const struct test *test)
{
    int most = test->rounds_max;
    if (self.point.bytes > 0 && most > test->rounds_min) /* limit queued data to 64 MiB */
        most = limited((double)(64 << 20) / self.point.bytes, test->rounds_min, most);
    if (most <= test->rounds_min)
        return most;
    for (int rounds = test->rounds_min;; rounds = limited(rounds * 4.0, test->rounds_min, most)) {
        double time = least_time(test, rounds);
        if (time >= test->sample_us / 4.0 || rounds >= most)
            return limited(test->sample_us / (time / rounds + 1e-3), test->rounds_min, most);
    }
}

/* Makes room for more samples: keeps every second one. Returns their number. */
static int thin_out(int count)
{
    for (int i = 0; i < count / 2; i++)
        times_us[i] = times_us[2 * i];
    return count / 2;
}

/* Takes samples into times_us until there are enough; returns the number kept. *taken: the number taken. */
static int take_samples(const struct test *test, int rounds, double *taken)
{
    int wanted = self.point.samples > 0 ? limited(self.point.samples, 1, SAMPLES_MAX) : SAMPLES_MAX, n = 0;
    double start = now_us(), in_job = 1;
    while (n < wanted) {
        int some = limited(in_job, 1, wanted - n);
        double began = now_us();
        do_job(test, some, rounds, false, times_us + n);
        n += some;
        *taken += some;
        double now = now_us();
        in_job = test->jobs_us / ((now - began) / some + 1e-3);
        if (self.point.samples == 0 && n >= SAMPLES_MIN && now - start >= self.point.time_us)
            break;
        if (self.point.samples == 0 && n == wanted)
            n = thin_out(n);
    }
    for (int i = 0; i < n; i++)
        times_us[i] /= rounds;
    return n;
}

/* How often another process has run on this member's processor, since it slept, yielded or was preempted. */
static double switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* The work of member 0. */
static void lead(const struct test *test, struct outcome *outcome)
{
    outcome->first_us = first_round(test);
    outcome->warmup_us = warm_up(test);
    check_contents(test);
    int rounds = find_rounds(test);
    double before = switches(), taken = 0;
    int n = take_samples(test, rounds, &taken);
    outcome->switches = (switches() - before) / (taken * rounds);
    check_contents(test);
    do_job(test, 0, 0, false, NULL);
    stats_sort(times_us, n);
    outcome->min_us = times_us[0];
    outcome->median_us = stats_quantile(times_us, n, 0.5);
    outcome->p99_us = stats_quantile(times_us, n, 0.99);
    outcome->samples = n;
    outcome->rounds = rounds;
}

/*
 * Binds this member to one of the processors that it may use, if the point asks for it. Otherwise the kernel chooses:
 * it lets two members share a processor while another process is busy on the other one. Moved there, a member would
 * wait for that process in each message, 2 ms instead of 2 us.
 */
static void bind_to_processor(void)
{
    cpu_set_t may, one;
    if (!self.point.bind || sched_getaffinity(0, sizeof may, &may) < 0)
        return;
    int skip = self.rank % CPU_COUNT(&may);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && skip-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one); /* an error leaves it unbound */
            return;
        }
}

static void take_point(void)
{
    struct outcome outcome = {0};
    static bool bound;
    member_must(pvm_upkint((int *)&self.point, INTS_OF(self.point), 1), "pvm_upkint");
    if (self.point.test < 0 || self.point.test >= test_count)
        member_fail("the pvm-perf on this host has another version: test %d is unknown", self.point.test);
    const struct test *test = &tests[self.point.test];
    if (!bound)
        bind_to_processor();
    bound = true;
    data_open(&self);
    if (test->prepare)
        test->prepare(&self);
    if (self.rank == 0) {
        lead(test, &outcome);
    } else {
        first_round(test);
        follow_jobs(test);
    }
    if (test->finish)
        test->finish(&self);
    outcome.verified = data_verified();
    outcome.clock = clock_kind();
    data_close();
    send_outcome(&outcome, "");
}

/* ---- main ---- */

static void say_ready(void)
{
    int pid = (int)getpid();
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&pid, 1, 1);
    member_must(pvm_send(pvm_parent(), TAG_READY), "pvm_send");
}

int member_main(void)
{
    int parent = pvm_parent(), tag;
    times_us = malloc(SAMPLES_MAX * sizeof *times_us);
    if (parent < 0 || !times_us)
        return EXIT_FAILURE;
    pvm_setopt(PvmRoute, PvmRouteDirect);
    pvm_setopt(PvmAutoErr, 0); /* the parent prints */
    pvm_addmhf(-1, TAG_GONE, pvm_getcontext(), leave);
    pvm_notify(PvmTaskExit, TAG_GONE, 1, &parent);
    say_ready();
    do {
        int mid = member_must(pvm_recv(parent, -1), "pvm_recv");
        pvm_bufinfo(mid, NULL, &tag, NULL);
        if (tag == TAG_TEAM)
            take_team();
        else if (tag == TAG_POINT)
            take_point();
    } while (tag != TAG_END);
    free(times_us);
    pvm_exit();
    return EXIT_SUCCESS;
}
