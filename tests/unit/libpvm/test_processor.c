/* test_processor.c - a thread that shares its processor moves to an idle one, and keeps the set of those it may use. */
#include "libpvm/base/processor.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/unit.h"

enum { IN_A_ROW = 100000, PATIENCE_S = 20, PAUSE_US = 20000 };

/* The first `most` of the processors that this thread may use; it may use only these from now on. */
static cpu_set_t use_processors(int most)
{
    cpu_set_t may, some;
    CPU_ZERO(&some);
    ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && most; cpu++)
        if (CPU_ISSET(cpu, &may)) {
            CPU_SET(cpu, &some);
            most--;
        }
    ck_assert_int_eq(sched_setaffinity(0, sizeof some, &some), 0);
    return some;
}

static void check_may_use(const cpu_set_t *expected)
{
    cpu_set_t now;
    ck_assert_int_eq(sched_getaffinity(0, sizeof now, &now), 0);
    ck_assert(CPU_EQUAL(&now, expected));
}

/* Whether the thread has moved within many yields, each of which let another process run. */
static bool moves(void)
{
    int before = sched_getcpu();
    for (int i = 0; i < IN_A_ROW; i++) {
        pvmi_processor_yielded(true);
        if (sched_getcpu() != before)
            return true;
    }
    return false;
}

/* On a busy machine no processor may be idle for a while. The kernel may move the thread as well. */
START_TEST(a_thread_leaves_a_shared_processor_and_may_return)
{
    cpu_set_t two = use_processors(2);
    if (CPU_COUNT(&two) < 2)
        return;
    time_t end = time(NULL) + PATIENCE_S;
    while (!moves() && time(NULL) < end)
        usleep(PAUSE_US);
    ck_assert_int_lt(time(NULL), end);
    check_may_use(&two);
}
END_TEST

START_TEST(a_thread_bound_to_one_processor_stays)
{
    cpu_set_t one = use_processors(1);
    ck_assert(!moves());
    check_may_use(&one);
}
END_TEST

/* As many other processes as there are processors want to run, until they are killed. */
START_TEST(no_processor_is_spare_beside_busy_processes)
{
    cpu_set_t two = use_processors(2);
    pid_t busy[2];
    for (int i = 0; i < CPU_COUNT(&two); i++) {
        ck_assert_int_ge(busy[i] = fork(), 0);
        while (!busy[i])
            ;
    }
    bool spare = pvmi_processor_is_spare();
    for (int i = 0; i < CPU_COUNT(&two); i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    ck_assert(!spare);
    time_t end = time(NULL) + PATIENCE_S;
    while (!pvmi_processor_is_spare() && time(NULL) < end)
        usleep(PAUSE_US);
    ck_assert_int_lt(time(NULL), end);
}
END_TEST

UNIT_MAIN("processor", no_processor_is_spare_beside_busy_processes, a_thread_leaves_a_shared_processor_and_may_return,
          a_thread_bound_to_one_processor_stays)
