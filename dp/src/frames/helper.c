/*
 * helper.c - starts dp-socket without side effects on the calling program: no SIGCHLD, and no child that its wait()
 * could find. So a child without an exit signal starts the helper and exits, and init adopts the helper.
 */
#include "helper.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "wire/rights.h"

#define STACK_BYTES 16384
#define LIMIT_MS    10000

static const char *helper_path(void)
{
    const char *path = pvmc_config_text(PVMC_SETTING_DP_SOCKET);
    return *path ? path : DPVM_DP_SOCKET_PATH;
}

/* ---- permission ---- */

static int raw_socket_error(void)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), number = errno;
    if (fd < 0)
        return number;
    close(fd);
    return 0;
}

static bool has_capability(const char *path)
{
    return getxattr(path, "security.capability", NULL, 0) > 0;
}

int dpi_helper_may_open(const char **helper, char *why, size_t size)
{
    const char *path = helper_path();
    int number = raw_socket_error();
    *helper = number ? path : NULL;
    if (!number)
        return 0;
    if (number != EPERM) {
        snprintf(why, size, "raw sockets cannot be opened here: %s", strerror(number));
        return number == EAFNOSUPPORT ? PVMC_EUNSUPPORTED : PVMC_ELIMIT;
    }
    if (!access(path, X_OK) && has_capability(path))
        return 0;
    const char *cause = !access(path, X_OK) ? "lacks its capability: as root, setcap cap_net_raw+ep on it"
                        : errno == EACCES   ? "may not be run by this user: join its group"
                                            : "is not there";
    snprintf(why, size, "raw sockets need CAP_NET_RAW, and the helper %s %s; see dp-socket(8)", path, cause);
    return PVMC_EDENIED;
}

/* ---- starting the helper ---- */

struct start {
    const char *path;
    char *const *arguments;
    int fd; /* becomes the helper's descriptor 0 */
    uint8_t *stack;
};

static int run(void *arg)
{
    const struct start *s = arg;
    extern char **environ;
    if (dup2(s->fd, 0) == 0)
        execve(s->path, s->arguments, environ);
    _exit(127);
}

static int run_and_leave(void *arg)
{
    struct start *s = arg;
    _exit(clone(run, s->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, s) < 0);
}

/* Both children share our memory until the helper runs; we are suspended meanwhile. */
static int start_helper(char *const *arguments, int fd)
{
    static uint8_t stacks[2][STACK_BYTES] __attribute__((aligned(16)));
    struct start s = {.path = helper_path(), .arguments = arguments, .fd = fd, .stack = stacks[1]};
    sigset_t all, before;
    sigfillset(&all); /* no signal handler of the program may run in the children */
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(run_and_leave, stacks[0] + STACK_BYTES, CLONE_VM | CLONE_VFORK, &s);
    if (pid > 0)
        while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid < 0 ? PVMC_ELIMIT : 0;
}

/* ---- the helper's answer ---- */

/* Returns the socket, or a PVMC_E code; PVMC_ESHORT: the helper ended without an answer, and printed why. */
static int hear(int from, uint16_t *point)
{
    struct dpi_helper_answer answer = {.code = PVMC_ESHORT};
    union pvmw_rights_room room;
    struct iovec piece = {&answer, sizeof answer};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    struct pollfd p = {.fd = from, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, LIMIT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return PVMC_ETIMEOUT;
    ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int fd = -1;
    if (n >= 0)
        pvmw_rights_take(&m, &fd, 1);
    if (n != sizeof answer || answer.code || fd < 0) {
        if (fd >= 0)
            close(fd);
        return answer.code < 0 ? answer.code : PVMC_ESHORT;
    }
    *point = answer.point;
    return fd;
}

static int ask_helper(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point)
{
    char numbers[3][8];
    snprintf(numbers[0], sizeof numbers[0], "%u", ethertype);
    snprintf(numbers[1], sizeof numbers[1], "%u", point->node);
    snprintf(numbers[2], sizeof numbers[2], "%u", point->point);
    char *const arguments[] = {"dp-socket", (char *)interface->name, numbers[0], numbers[1], numbers[2], NULL};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return PVMC_ELIMIT;
    int rc = start_helper(arguments, pair[1]);
    close(pair[1]);
    if (!rc)
        rc = hear(pair[0], &point->point);
    close(pair[0]);
    return rc;
}

int dpi_helper_open(const struct dpi_interface *interface, uint16_t ethertype, struct dpi_point *point)
{
    char why[512];
    const char *helper;
    int rc = dpi_socket_open(interface, ethertype, point);
    if (rc != PVMC_EDENIED)
        return rc;
    rc = dpi_helper_may_open(&helper, why, sizeof why);
    if (rc) {
        pvmc_log_once(PVMC_LOG_ERROR, "%s", why);
        return rc;
    }
    rc = ask_helper(interface, ethertype, point);
    if (rc == PVMC_ESHORT || rc == PVMC_ETIMEOUT) {
        pvmc_log_once(PVMC_LOG_ERROR, "the helper %s gave no socket", helper);
        rc = PVMC_EDENIED;
    }
    return rc;
}
