/* notify_socket.c - see notify_socket.h. Ours and not libsystemd's for the reason that journald.c has. */
#include "notify_socket.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SOCKET, WATCHDOG_US, WATCHDOG_PID, VARIABLES };

static const char *const names[VARIABLES] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
static char *taken[VARIABLES]; /* NULL: was not set */

static int64_t number(const char *text)
{
    char *end;
    errno = 0;
    long long value = text ? strtoll(text, &end, 10) : 0;
    return text && *text && !*end && !errno && value > 0 ? value : 0;
}

void pvmc_notify_socket_take(void)
{
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = getenv(names[i]);
        free(taken[i]);
        taken[i] = value ? strdup(value) : NULL;
        unsetenv(names[i]);
    }
}

void pvmc_notify_socket_give_back(void)
{
    for (int i = 0; i < VARIABLES; i++)
        if (taken[i])
            setenv(names[i], taken[i], 1);
}

void pvmc_notify_socket_pass_watchdog(void)
{
    if (pvmc_notify_socket_watchdog_us())
        setenv(names[WATCHDOG_US], taken[WATCHDOG_US], 1);
}

/* A path, or "@" and an abstract name. Returns the length, or 0. */
static socklen_t address(const char *name, struct sockaddr_un *to)
{
    size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof to->sun_path || (*name != '/' && *name != '@'))
        return 0;
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(to->sun_path, name, length);
    if (*name == '@')
        to->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

void pvmc_notify_socket_send(const char *text)
{
    struct sockaddr_un to;
    socklen_t length = address(taken[SOCKET], &to);
    int fd = length ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return;
    ssize_t sent = sendto(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&to, length);
    (void)sent;
    close(fd);
}

int64_t pvmc_notify_socket_watchdog_us(void)
{
    if (taken[WATCHDOG_PID] && number(taken[WATCHDOG_PID]) != getpid())
        return 0;
    return number(taken[WATCHDOG_US]);
}
