/* test_pvmd_gauges.c - which memory of tasks is read, and sums that outlive a task. */
#include "pvmd/tasks/gauges.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/unit/unit.h"

static int make(size_t bytes, int seals)
{
    int fd = memfd_create("gauges", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static struct pvmc_gauges *map(int fd)
{
    struct pvmc_gauges *page = mmap(NULL, PVMC_GAUGES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    return page;
}

static void check_refused(int fd)
{
    struct pvmc_gauges copy;
    ck_assert_ptr_null(pvmd_gauges_open(fd));
    ck_assert(!pvmd_gauges_read(NULL, &copy));
    if (fd >= 0)
        close(fd);
}

/* What could shrink under the daemon would kill it. */
START_TEST(refuses_what_is_not_sound)
{
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    check_refused(-1);
    check_refused(pipes[0]);
    close(pipes[1]);
    check_refused(make(PVMC_GAUGES_BYTES, F_SEAL_GROW));
    check_refused(make(PVMC_GAUGES_BYTES, F_SEAL_SHRINK));
    check_refused(make(PVMC_GAUGES_BYTES - 1, F_SEAL_SHRINK | F_SEAL_GROW));
    check_refused(make(2 * PVMC_GAUGES_BYTES, F_SEAL_SHRINK | F_SEAL_GROW));
    check_refused(make(PVMC_GAUGES_BYTES, F_SEAL_SHRINK | F_SEAL_GROW)); /* version 0 */
    check_refused(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
}
END_TEST

START_TEST(reads_what_the_task_writes)
{
    int fd = make(PVMC_GAUGES_BYTES, F_SEAL_SHRINK | F_SEAL_GROW);
    struct pvmc_gauges *page = map(fd), copy;
    page->version = PVMC_GAUGES_VERSION;
    struct pvmd_gauges *g = pvmd_gauges_open(fd);
    close(fd);
    page->doing = PVMC_GAUGES_SENDS;
    page->routes[PVMC_GAUGES_shm].tx_bytes = 42;
    ck_assert(pvmd_gauges_read(g, &copy));
    ck_assert_int_eq(copy.doing, PVMC_GAUGES_SENDS);
    ck_assert_int_eq(copy.routes[PVMC_GAUGES_shm].tx_bytes, 42);
    pvmd_gauges_close(g);
    munmap(page, PVMC_GAUGES_BYTES);
}
END_TEST

START_TEST(sums_never_fall)
{
    int fd = make(PVMC_GAUGES_BYTES, F_SEAL_SHRINK | F_SEAL_GROW);
    struct pvmc_gauges *page = map(fd);
    page->version = PVMC_GAUGES_VERSION;
    page->routes[PVMC_GAUGES_tcp].rx_messages = 7;
    uint64_t before = pvmd_gauges_sum(PVMC_GAUGES_tcp).rx_messages;
    struct pvmd_gauges *g = pvmd_gauges_open(fd);
    close(fd);
    ck_assert_int_eq(pvmd_gauges_sum(PVMC_GAUGES_tcp).rx_messages, before + 7);
    pvmd_gauges_close(g);
    ck_assert_int_eq(pvmd_gauges_sum(PVMC_GAUGES_tcp).rx_messages, before + 7);
    munmap(page, PVMC_GAUGES_BYTES);
}
END_TEST

UNIT_MAIN("pvmd_gauges", refuses_what_is_not_sound, reads_what_the_task_writes, sums_never_fall)
