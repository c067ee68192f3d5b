/* path.c - Unix sockets by name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "unix.h"

#define LISTEN_BACKLOG 4096

struct unix_name {
    struct sockaddr_un sun;
    int dir_fd; /* kept open while a path too long for sun_path is in use, else -1 */
};

int pvmt_unix_system_error(void)
{
    if (errno != EMFILE && errno != ENFILE)
        return PVMC_ESYSTEM;
    pvmc_log_once(PVMC_LOG_ERROR, "out of descriptors; raise the limit (ulimit -n)");
    return PVMC_ELIMIT;
}

/* Paths longer than sun_path's 107 bytes are reached through a descriptor of their folder. */
static int name_fill(struct unix_name *a, const char *path)
{
    memset(a, 0, sizeof *a);
    a->dir_fd = -1;
    a->sun.sun_family = AF_UNIX;
    if (strlen(path) < sizeof a->sun.sun_path) {
        strcpy(a->sun.sun_path, path);
        return 0;
    }
    char dir[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) >= sizeof dir)
        return PVMC_ELIMIT;
    memcpy(dir, path, slash - path);
    dir[slash - path] = '\0';
    a->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (a->dir_fd < 0)
        return PVMC_ESYSTEM;
    int n = snprintf(a->sun.sun_path, sizeof a->sun.sun_path, "/proc/self/fd/%d%s", a->dir_fd, slash);
    return n < (int)sizeof a->sun.sun_path ? 0 : PVMC_ELIMIT;
}

static void name_release(struct unix_name *a)
{
    if (a->dir_fd >= 0)
        close(a->dir_fd);
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int pvmt_unix_path_listen(const char *path)
{
    struct unix_name a;
    int fd = -1, rc = name_fill(&a, path);
    if (!rc) {
        fd = new_socket();
        mode_t mask = umask(0177); /* no other user may connect, not even for a moment */
        if (fd < 0 || bind(fd, (struct sockaddr *)&a.sun, sizeof a.sun) || listen(fd, LISTEN_BACKLOG))
            rc = PVMC_ESYSTEM;
        umask(mask);
    }
    if (rc)
        pvmc_log(PVMC_LOG_ERROR, "cannot listen on socket %s: %s", path,
                 rc == PVMC_ESYSTEM ? strerror(errno) : pvmc_error_text(rc));
    if (rc && fd >= 0)
        close(fd);
    name_release(&a);
    return rc ? rc : fd;
}

static int connect_error(void)
{
    switch (errno) {
    case EAGAIN:
        return PVMC_EAGAIN;
    case ENOENT:
    case ECONNREFUSED:
        return PVMC_EUNREACHABLE;
    case EACCES:
        return PVMC_EDENIED;
    default:
        return PVMC_ESYSTEM;
    }
}

int pvmt_unix_path_connect(const char *path)
{
    struct unix_name a;
    int fd = -1, rc = name_fill(&a, path);
    if (!rc && (fd = new_socket()) < 0)
        rc = pvmt_unix_system_error();
    if (!rc && connect(fd, (struct sockaddr *)&a.sun, sizeof a.sun))
        rc = connect_error();
    name_release(&a);
    if (rc && fd >= 0)
        close(fd);
    return rc ? rc : fd;
}
