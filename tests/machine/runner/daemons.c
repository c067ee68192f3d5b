#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "check.h"
#include "daemons.h"

const char *daemons_name(int index)
{
    static char names[16][64];
    static int next;
    char *name = names[next = (next + 1) % 16];
    snprintf(name, sizeof names[0], "127.0.%d.%d", index / 250, index % 250 + 1);
    return name;
}

/* A file of the daemon in PVM_TMP: the first one's has no suffix. */
static void file_of(const char *what, int index, char *path, size_t size)
{
    int used = snprintf(path, size, "%s/%s.%u", getenv("PVM_TMP"), what, (unsigned)getuid());
    if (index)
        snprintf(path + used, size - (size_t)used, ".%s", daemons_name(index));
}

static void socket_of(int index, char *path, size_t size)
{
    char file[4096];
    file_of("pvmd", index, file, sizeof file);
    FILE *f = fopen(file, "r");
    CHECK(f != NULL);
    CHECK(fgets(path, (int)size, f) != NULL);
    fclose(f);
}

void daemons_enrol_at(int index)
{
    char path[108];
    socket_of(index, path, sizeof path);
    pvm_exit();
    CHECK_EQ(setenv("PVMSOCK", path, 1), 0);
    CHECK(pvm_mytid() > 0);
}

pid_t daemons_pid(int index)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    struct ucred who;
    socklen_t length = sizeof who;
    socket_of(index, sun.sun_path, sizeof sun.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&sun, sizeof sun), 0);
    CHECK_EQ(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length), 0);
    close(fd);
    return who.pid;
}

int daemons_host(int index)
{
    struct pvmhostinfo *hosts;
    int n, i = 0;
    CHECK_EQ(pvm_config(&n, NULL, &hosts), 0);
    while (index && i < n && strcmp(hosts[i].hi_name, daemons_name(index)) != 0)
        i++;
    CHECK(i < n);
    return hosts[i].hi_tid;
}

int daemons_wait_end(pid_t pid)
{
    double end = check_now() + check_limit_s();
    while (check_alive(pid) && check_now() < end)
        check_sleep_ms(5);
    return !check_alive(pid);
}

int daemons_remove_journal(int index)
{
    char file[4096];
    file_of("pvmj", index, file, sizeof file);
    return remove(file) == 0;
}

int daemons_log_has(int index, const char *text)
{
    char path[4096], line[4096];
    int found = 0;
    file_of("pvml", index, path, sizeof path);
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, text) != NULL;
    if (f)
        fclose(f);
    return found;
}

double daemons_patience(double seconds)
{
    double load = 0;
    getloadavg(&load, 1);
    double factor = load / (double)sysconf(_SC_NPROCESSORS_ONLN) / 2;
    return seconds * check_slowness() * (factor < 1 ? 1 : factor > 6 ? 6 : factor);
}

void daemons_halt(void)
{
    int status;
    pvm_exit();
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        pvm_mytid();
        _exit(pvm_halt() < 0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    signal(SIGTERM, SIG_IGN); /* the pvm_exit() that ends a test may enrol with a daemon that is ending */
}

pid_t daemons_start_again(const char *program)
{
    int out[2];
    char line[PATH_MAX];
    CHECK_EQ(pipe(out), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        dup2(out[1], STDOUT_FILENO);
        unsetenv("PVMSOCK");
        unsetenv("PVMEPID");
        execl(program, program, NULL);
        _exit(1);
    }
    close(out[1]);
    CHECK(read(out[0], line, sizeof line) > 0);
    close(out[0]);
    return child;
}
