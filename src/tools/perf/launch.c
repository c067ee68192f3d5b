/* launch.c - spawns copies of this program. */
#include "launch.h"
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "pvm3.h"
#include "point.h"

static const char *own_path(void)
{
    static char path[PATH_MAX];
    if (!path[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        snprintf(path, sizeof path, "pvm-perf");
    return path;
}

static int spawn(const char *program, const char *host, int n, int *tids)
{
    char *arguments[] = {MEMBER_OPTION, NULL};
    return pvm_spawn((char *)program, arguments, PvmTaskHost, (char *)host, n, tids);
}

static const char *error_text(int code)
{
    return code < 0 && -code < pvm_nerr ? pvm_errlist[-code] : "unknown error";
}

int launch_members(const char *host, int n, int *tids, char *why, size_t size)
{
    const char *program = own_path();
    int started = spawn(program, host, n, tids);
    if (started == 0 && tids[0] == PvmNoFile)
        started = spawn(program = "pvm-perf", host, n, tids);
    if (started == n)
        return 0;
    int code = started < 0 ? started : tids[started];
    for (int i = 0; i < started; i++)
        pvm_kill(tids[i]);
    if (code == PvmNoFile)
        snprintf(why, size, "pvm-perf is not installed on host %s: install it in the daemon's PVM_PATH", host);
    else if (code == PvmNoHost)
        snprintf(why, size, "host %s is not part of the virtual machine: add it with the console's `add %s`", host,
                 host);
    else
        snprintf(why, size, "%d of %d tasks could not be started on host %s: %s", n - (started > 0 ? started : 0), n,
                 host, error_text(code));
    return -1;
}

int launch_host_of(int rank, int host_count)
{
    return rank == 0 || host_count == 0 ? -1 : (rank - 1) % host_count;
}
