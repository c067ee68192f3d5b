/*
 * journald.c - see journald.h. The protocol is small enough that libsystemd, with the libraries that it loads, would
 * cost a daemon more than it saves.
 */
#include "journald.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include "error.h"

#define FIELDS_MAX 8

static int fd = -1;
static struct sockaddr_un journal = {.sun_family = AF_UNIX};

/* An entry is a datagram of lines NAME=value. */
struct entry {
    struct iovec parts[4 * (FIELDS_MAX + 3)];
    size_t count;
};

static void add_text(struct entry *e, const char *text)
{
    e->parts[e->count++] = (struct iovec){(void *)text, strlen(text)};
}

static void add_field(struct entry *e, const char *name, const char *value)
{
    if (!*value || e->count + 4 > sizeof e->parts / sizeof *e->parts)
        return;
    add_text(e, name);
    add_text(e, "=");
    add_text(e, value);
    add_text(e, "\n");
}

static const char *priority(enum pvmc_log_level level)
{
    static const char *const of_syslog[] = {"3", "4", "6", "7"};
    return of_syslog[level];
}

int pvmc_journald_open(const char *socket_path)
{
    if (strlen(socket_path) >= sizeof journal.sun_path)
        return PVMC_EPARAM;
    strcpy(journal.sun_path, socket_path);
    int trial = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (trial < 0)
        return PVMC_ESYSTEM;
    int rc = connect(trial, (struct sockaddr *)&journal, sizeof journal);
    close(trial);
    /* Not connected, so that it reaches the journal after a restart, too. */
    fd = rc ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd < 0 ? PVMC_ESYSTEM : 0;
}

void pvmc_journald_send(enum pvmc_log_level level, const char *line, const struct pvmc_journald_field *fields)
{
    struct entry e = {.count = 0};
    add_field(&e, "MESSAGE", *line ? line : " ");
    add_field(&e, "PRIORITY", priority(level));
    for (; fields->name; fields++)
        add_field(&e, fields->name, fields->value);
    struct msghdr datagram = {
        .msg_name = &journal, .msg_namelen = sizeof journal, .msg_iov = e.parts, .msg_iovlen = e.count};
    ssize_t sent = sendmsg(fd, &datagram, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent;
}

void pvmc_journald_close(void)
{
    if (fd >= 0)
        close(fd);
    fd = -1;
}
