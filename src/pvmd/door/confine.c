/* confine.c - see confine.h. */
#include "confine.h"
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

void pvmd_confine_start(const char *name)
{
    static const struct rlimit none;
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &none);
    close_range(STDERR_FILENO + 1, ~0U, 0);
}

/*
 * The system calls that serving sockets needs: libev's loop, OpenSSL's random numbers and hashes, malloc(), and exit.
 * libev creates a new epoll set when a connection that was handed over, and so is still open elsewhere, shows up in the
 * old one.
 */
static const int permitted[] = {
    SCMP_SYS(accept4),       SCMP_SYS(recvfrom),    SCMP_SYS(recvmsg),      SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),       SCMP_SYS(setsockopt),  SCMP_SYS(close),        SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),    SCMP_SYS(epoll_pwait), SCMP_SYS(getrandom),    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),  SCMP_SYS(futex),       SCMP_SYS(brk),          SCMP_SYS(munmap),
    SCMP_SYS(mremap),        SCMP_SYS(madvise),     SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
    SCMP_SYS(epoll_create1), SCMP_SYS(getpid),      SCMP_SYS(exit_group),   SCMP_SYS(poll),
    SCMP_SYS(read),          SCMP_SYS(write),
};

static const int permitted_to_callers[] = {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(getsockopt)};

static int permit(scmp_filter_ctx filter, const int *calls, size_t count)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    return rc;
}

static int permit_all(scmp_filter_ctx filter, enum pvmd_confinement how)
{
    int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    rc = rc ? rc : permit(filter, permitted, sizeof permitted / sizeof *permitted);
    if (!rc && how == PVMD_CONFINE_CALLER)
        rc = permit(filter, permitted_to_callers, sizeof permitted_to_callers / sizeof *permitted_to_callers);
    return rc;
}

int pvmd_confine_calls(enum pvmd_confinement how)
{
    if (IS_SANITIZED || RUNNING_ON_VALGRIND)
        return ENOTSUP;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter)
        return ENOSYS;
    int rc = permit_all(filter, how);
    rc = rc ? rc : seccomp_load(filter); /* sets no_new_privs as well */
    seccomp_release(filter);
    return -rc;
}
