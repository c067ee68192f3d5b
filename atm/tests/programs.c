/* programs.c - see programs.h. */
#include "programs.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "atm/src/serve/serve.h"

#define START_MS 20000
#define FOLDERS  "/tmp/dpvm-atm-%d-" /* of one test program */

static struct {
    char folder[64], socket[96], topology[96], log[96];
    pid_t pid;
    int figures[2];
} network;

/* ---- what failed tests leave, whose networks were killed with them ---- */

static pid_t main_pid;

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"socket", "topology", "log"};
    char path[160];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void remove_folders(void)
{
    char pattern[64];
    glob_t found = {0};
    if (getpid() != main_pid)
        return;
    snprintf(pattern, sizeof pattern, FOLDERS "*", (int)main_pid);
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = 0; i < found.gl_pathc; i++)
            remove_folder(found.gl_pathv[i]);
    globfree(&found);
}

__attribute__((constructor)) static void begin(void)
{
    main_pid = getpid();
    atexit(remove_folders);
}

/* ---- the network ---- */

static void write_topology(const char *text)
{
    FILE *f = fopen(network.topology, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    const char *overlay = getenv("DPVM_ATM_OVERLAY"); /* the same tests, with servers between the hosts */
    if (overlay)
        fprintf(f, "host q[1-2]\nlink q[1-2] s\nserver q[1-2] at=q[1-2]\noverlay %s\n", overlay);
    ck_assert_int_eq(fclose(f), 0);
}

static void become(int fd, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, fd);
    close(file);
}

static void serve(const struct network *how)
{
    struct pvma_serve_options options = {.topology = network.topology,
                                         .socket = network.socket,
                                         .is_virtual = how->is_virtual,
                                         .seed = 1,
                                         .wait_for = how->wait_for ? how->wait_for : 1};
    become(STDOUT_FILENO, "/dev/null");
    if (how->logs)
        become(STDERR_FILENO, network.log);
    if (how->descriptors)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){how->descriptors, how->descriptors});
    _exit(pvma_serve(&options));
}

void network_start(const struct network *how)
{
    struct stat status;
    snprintf(network.folder, sizeof network.folder, FOLDERS "XXXXXX", (int)main_pid);
    ck_assert_ptr_nonnull(mkdtemp(network.folder));
    snprintf(network.socket, sizeof network.socket, "%s/socket", network.folder);
    snprintf(network.topology, sizeof network.topology, "%s/topology", network.folder);
    snprintf(network.log, sizeof network.log, "%s/log", network.folder);
    write_topology(how->topology ? how->topology : STAR("thesis-ch6", "rate=140M"));
    ck_assert_int_eq(pipe2(network.figures, O_CLOEXEC), 0);
    setenv("PVM_ATM_SOCKET", network.socket, 1);
    setenv("PVM_ATM_CPU", "0", 1);
    network.pid = fork();
    ck_assert_int_ge(network.pid, 0);
    if (!network.pid)
        serve(how);
    for (int ms = 0; ms < START_MS && stat(network.socket, &status); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_msg(!stat(network.socket, &status), "the network did not start");
}

bool network_lives(void)
{
    return !kill(network.pid, 0) && waitpid(network.pid, NULL, WNOHANG) == 0;
}

static bool log_has(const char *text)
{
    char line[1024];
    bool has = false;
    FILE *f = fopen(network.log, "r");
    while (f && !has && fgets(line, sizeof line, f))
        has = strstr(line, text);
    if (f)
        fclose(f);
    return has;
}

bool network_said(const char *text)
{
    for (int ms = 0; ms < START_MS / 4 && !log_has(text); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return log_has(text);
}

void network_stop(void)
{
    int status;
    kill(network.pid, SIGTERM);
    ck_assert_int_eq(waitpid(network.pid, &status, 0), network.pid);
    ck_assert_msg(status == 0, "the network ended with status %#x", status);
    ck_assert_msg(access(network.socket, F_OK), "the network left its socket behind");
    unlink(network.topology);
    unlink(network.log);
    ck_assert_int_eq(rmdir(network.folder), 0);
    close(network.figures[0]);
    close(network.figures[1]);
}

/* ---- programs ---- */

pid_t program_start(const char *host, int (*fn)(void *arg), void *arg)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid)
        return pid;
    setenv("PVM_ATM_HOST", host, 1);
    exit(fn(arg));
}

void program_wait(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "a program ended with status %#x", status);
}

void program_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: failed: %s (%s)\n", file, line, what, strerror(atm_errno));
    exit(1);
}

void tell(int64_t figure)
{
    NEED(write(network.figures[1], &figure, sizeof figure) == sizeof figure);
}

int64_t told(void)
{
    int64_t figure;
    ck_assert_int_eq(read(network.figures[0], &figure, sizeof figure), sizeof figure);
    return figure;
}

void network_test_add(Suite *s, const char *name, const TTest *test, int times)
{
    TCase *tc = tcase_create(name);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test, 0, times);
    suite_add_tcase(s, tc);
}
