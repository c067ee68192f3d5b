/*
 * test_pvmd_address_file.c - one daemon per address file: a second daemon finds the first, a dead daemon's file is
 * replaced, and files that others may have planted are refused. A process plays each daemon.
 */
#include "pvmd/base/address_file.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "tests/unit/unit.h"

/* ---- functions that rendezvous.c needs ---- */

struct pvmd_daemon pvmd;

/* ---- a folder with daemons ---- */

static char folder[100], file[200], why[8192];

static void start(void)
{
    strcpy(folder, "/tmp/dpvm-rendezvous.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("PVM_TMP", folder, 1);
    setenv("PVM_VMID", "vm", 1);
    snprintf(file, sizeof file, "%s/pvmd.%u.vm", folder, (unsigned)getuid());
    unit_log_start();
}

static unsigned files_left(void)
{
    char command[200], text[20] = "";
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof text, p));
    pclose(p);
    return (unsigned)atoi(text);
}

static void end(void)
{
    ck_assert_uint_eq(files_left(), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static int listener = -1;

static void listen_on_socket(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    snprintf(sun.sun_path, sizeof sun.sun_path, "%s", pvmd.socket_path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&sun, sizeof sun), 0);
    ck_assert_int_eq(listen(listener, 5), 0);
}

static int come_up(void)
{
    int rc = pvmd_address_file_check(why, sizeof why);
    if (rc)
        return rc;
    listen_on_socket();
    return pvmd_address_file_publish(why, sizeof why);
}

static void go_down(void)
{
    close(listener);
    unlink(pvmd.socket_path);
    pvmd_address_file_release();
}

/* Another daemon, which is up when this returns and lives until it is killed. */
static pid_t other_daemon(void)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        if (come_up() || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void kill_daemon(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

START_TEST(the_file_names_the_socket_and_goes)
{
    char text[300] = "";
    struct stat st;
    start();
    ck_assert_int_eq(come_up(), 0);
    FILE *f = fopen(file, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, f), 0);
    fclose(f);
    ck_assert_str_eq(text, pvmd.socket_path);
    ck_assert_int_eq(stat(file, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_uint_eq(files_left(), 2); /* no temporary file is left */
    go_down();
    end();
}
END_TEST

START_TEST(a_second_daemon_is_told_of_the_first)
{
    char pid_text[40];
    start();
    pid_t first = other_daemon();
    ck_assert_int_eq(come_up(), PVMC_EEXISTS);
    ck_assert_ptr_nonnull(strstr(why, "already running"));
    snprintf(pid_text, sizeof pid_text, "pid %d", (int)first);
    ck_assert_ptr_nonnull(strstr(why, pid_text));
    ck_assert_uint_eq(files_left(), 2);
    kill_daemon(first);
    ck_assert_int_eq(come_up(), 0); /* its file and socket are still there, and are replaced */
    ck_assert_uint_eq(files_left(), 2);
    go_down();
    end();
}
END_TEST

START_TEST(the_faster_of_two_wins)
{
    start();
    ck_assert_int_eq(pvmd_address_file_check(why, sizeof why), 0);
    pid_t faster = other_daemon();
    ck_assert_int_eq(pvmd_address_file_publish(why, sizeof why), PVMC_EEXISTS);
    ck_assert_uint_eq(files_left(), 2);
    pvmd_address_file_release();
    ck_assert_uint_eq(files_left(), 2); /* not ours, so we must not remove it */
    kill_daemon(faster);
    ck_assert_int_eq(come_up(), 0);
    go_down();
    end();
}
END_TEST

START_TEST(a_dead_daemons_other_files_stay)
{
    char precious[200];
    start();
    snprintf(precious, sizeof precious, "%s/precious", folder);
    close(open(precious, O_CREAT | O_WRONLY, 0600));
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(write(fd, precious, strlen(precious)), (int)strlen(precious));
    close(fd);
    ck_assert_int_eq(come_up(), 0);
    ck_assert_int_eq(access(precious, F_OK), 0); /* the stale file named it, but it is not a socket */
    unlink(precious);
    go_down();
    end();
}
END_TEST

static void refused(int expected, const char *text)
{
    ck_assert_int_eq(come_up(), expected);
    ck_assert_msg(strstr(why, text) != NULL, "\"%s\" does not say \"%s\"", why, text);
}

START_TEST(what_others_may_write_is_refused)
{
    start();
    close(open(file, O_CREAT | O_WRONLY, 0600));
    chmod(file, 0666);
    refused(PVMC_EDENIED, file);
    unlink(file);
    ck_assert_int_eq(symlink("/etc/passwd", file), 0);
    refused(PVMC_EDENIED, "symbolic link");
    unlink(file);
    ck_assert_int_eq(mkdir(file, 0700), 0);
    ck_assert_int_lt(come_up(), 0);
    rmdir(file);
    chmod(folder, 0777);
    refused(PVMC_EDENIED, "chmod");
    chmod(folder, 01777);
    ck_assert_int_eq(come_up(), 0);
    go_down();
    end();
}
END_TEST

START_TEST(bad_folders_are_named)
{
    start();
    setenv("PVM_TMP", "/tmp/there/is/none", 1);
    refused(PVMC_ESYSTEM, "create it");
    setenv("PVM_TMP", "/etc/passwd", 1);
    ck_assert_int_lt(come_up(), 0);
    ck_assert_ptr_nonnull(strstr(why, "/etc/passwd"));
    end();
}
END_TEST

UNIT_MAIN("pvmd_address_file", the_file_names_the_socket_and_goes, a_second_daemon_is_told_of_the_first,
          the_faster_of_two_wins, a_dead_daemons_other_files_stay, what_others_may_write_is_refused,
          bad_folders_are_named)
