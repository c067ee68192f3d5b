/* system.c - this computer: user, limits, shared memory, clock. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>
#include "core/config.h"
#include "core/place/start.h"
#include "probe.h"
#include "result.h"

enum { DESCRIPTORS_WISHED = 256, PROCESSES_WISHED = 64 };
#define MEMLOCK_WISHED (64L << 20) /* bytes: PVM_RDMA_CACHE's default */
#define SHM_WISHED     64000000L   /* bytes in /dev/shm, what container managers give */
#define PROBE_BYTES    (1L << 20)
#define YEAR_2024      1704067200

void probe_user(json_t *results)
{
    char why[512];

    if (pvmc_start_check_user(why, sizeof(why)) != 0)
        result_add_why(results, "user", SEVERITY_ERROR, why);
    else
        result_add(results, "user", SEVERITY_OK, "", "user %u may start a daemon", (unsigned)geteuid());
}

/* ---- limits ---- */

static unsigned long long limit_of(__rlimit_resource_t which, bool hard)
{
    struct rlimit limit;

    if (getrlimit(which, &limit) != 0)
        return RLIM_INFINITY;
    return hard ? limit.rlim_max : limit.rlim_cur;
}

/* The daemon raises its own limit to the hard one. */
static void check_descriptors(json_t *results)
{
    unsigned long long most = limit_of(RLIMIT_NOFILE, true);
    char why[256];

    if (pvmc_start_check_descriptors(most, why, sizeof(why)) != 0)
        result_add_why(results, "limits", SEVERITY_ERROR, why);
    else if (most < DESCRIPTORS_WISHED)
        result_add(results, "limits", SEVERITY_WARNING,
                   "raise the hard limit: `ulimit -Hn 4096` as root, or nofile in /etc/security/limits.conf",
                   "only %llu descriptors (ulimit -Hn): the daemon can serve few tasks", most);
}

static void check_processes(json_t *results)
{
    unsigned long long most = limit_of(RLIMIT_NPROC, false);

    if (most < PROCESSES_WISHED)
        result_add(results, "limits", SEVERITY_WARNING,
                   "raise it: `ulimit -u 4096`, or nproc in /etc/security/limits.conf",
                   "only %llu processes (ulimit -u): few tasks can be started", most);
}

static bool wants_rdma(void)
{
    const char *at = strstr(pvmc_config_text(PVMC_SETTING_TRANSPORT), "rdma");

    return at != NULL && at[-(at > pvmc_config_text(PVMC_SETTING_TRANSPORT))] != '^';
}

static void check_memlock(json_t *results)
{
    unsigned long long most = limit_of(RLIMIT_MEMLOCK, false);

    if (most < MEMLOCK_WISHED && wants_rdma() && geteuid() != 0)
        result_add(results, "limits", SEVERITY_WARNING,
                   "raise it: `ulimit -l unlimited`, or memlock in /etc/security/limits.conf",
                   "only %llu KiB may be locked (ulimit -l), and rdma registers up to %ld KiB", most >> 10,
                   MEMLOCK_WISHED >> 10);
}

static void check_file_size(json_t *results)
{
    unsigned long long most = limit_of(RLIMIT_FSIZE, false);

    if (most < (unsigned long long)PROBE_BYTES)
        result_add(results, "limits", SEVERITY_WARNING, "ulimit -f unlimited",
                   "files may have %llu KiB only (ulimit -f): shared memory between tasks needs more", most >> 10);
}

void probe_limits(json_t *results)
{
    check_descriptors(results);
    check_processes(results);
    check_memlock(results);
    check_file_size(results);
    if (json_array_size(results) == 0)
        result_add(results, "limits", SEVERITY_OK, "", "descriptors, processes, locked memory and file size suffice");
}

/* ---- shared memory ---- */

/* Makes and writes a block as links in shared memory do. */
static int try_memfd(void)
{
    int fd = memfd_create("pvm-doctor", MFD_CLOEXEC), error = 0;
    void *block = MAP_FAILED;

    if (fd < 0 || ftruncate(fd, PROBE_BYTES) != 0 ||
        (block = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        error = errno;
    else
        memset(block, 1, PROBE_BYTES);
    if (block != MAP_FAILED)
        munmap(block, PROBE_BYTES);
    if (fd >= 0)
        close(fd);
    return error;
}

static void check_dev_shm(json_t *results)
{
    static const char remount[] = "mount -t tmpfs -o mode=1777 shm /dev/shm as root; in a container: --shm-size=1g";
    struct statvfs fs;

    if (access("/dev/shm", F_OK) != 0 || statvfs("/dev/shm", &fs) != 0)
        result_add(results, "memory", SEVERITY_WARNING, remount,
                   "there is no /dev/shm: dpvm does without, but libfabric and other libraries of tasks need it");
    else if (access("/dev/shm", W_OK | X_OK) != 0)
        result_add(results, "memory", SEVERITY_WARNING, "chmod 1777 /dev/shm as root",
                   "/dev/shm cannot be written: dpvm does without, but libfabric and other libraries of tasks need it");
    else if ((unsigned long long)fs.f_bavail * fs.f_frsize < SHM_WISHED && fs.f_blocks != 0)
        result_add(results, "memory", SEVERITY_WARNING, "make room: ls -l /dev/shm; in a container: --shm-size=1g",
                   "only %llu KiB are left in /dev/shm", (unsigned long long)fs.f_bavail * fs.f_frsize >> 10);
}

void probe_memory(json_t *results)
{
    int error = try_memfd();

    if (error != 0)
        result_add(results, "memory", SEVERITY_ERROR,
                   "allow it (memory limit of the container or of the job), or set PVM_TRANSPORT=^shm",
                   "no shared memory can be made: %s", strerror(error));
    check_dev_shm(results);
    if (json_array_size(results) == 0)
        result_add(results, "memory", SEVERITY_OK, "", "shared memory works");
}

/* ---- clock ---- */

void probe_clock(json_t *results)
{
    struct timex about = {.modes = 0};
    time_t now = time(NULL);
    char text[64] = "";
    struct tm tm;
    bool synchronized = adjtimex(&about) >= 0 && !(about.status & STA_UNSYNC);

    if (localtime_r(&now, &tm) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    if (now < YEAR_2024)
        result_add(results, "clock", SEVERITY_WARNING, "set it: `timedatectl set-ntp true` as root",
                   "the clock is wrong: %s", text);
    else
        result_add(results, "clock", SEVERITY_OK, "", "%s%s", text,
                   synchronized ? ", synchronised" : ", as far as the kernel knows not synchronised with others");
}
