/*
 * test_pvmd_launch.c - launch commands: the script that finds the daemon on another host, run here by a shell; the
 * output and exit of commands, and how they are ended.
 */
#include "pvmd/launch/launch.h"
#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/log.h"
#include "pvmd/base/sweeper.h"
#include "pvmd/launch/hoster.h"
#include "pvmd/launch/launchers/launchers.h"
#include "pvm3.h"
#include "tests/unit/unit.h"

static char folder[] = "/tmp/test_pvmd_launch.XXXXXX";

void pvmd_sweeper_started(pid_t pid)
{
    ck_assert_int_gt(pid, 0);
}

static pvmc_tid hoster;

pvmc_tid pvmd_hoster(void)
{
    return hoster;
}

static void in_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void clean(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Writes an executable script. */
static void program(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\n%s\n", text);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(chmod(name, 0755), 0);
}

/* The output of the remote command when a login shell runs it with this PATH. */
static const char *remote(const char *shell, const char *path, const char *daemon_path)
{
    static char said[1024];
    struct pvmd_launch_order o = {.target = "h", .daemon_path = daemon_path};
    char *command = pvmd_launch_remote_command(&o), line[64];
    ck_assert_ptr_nonnull(command);
    setenv("COMMAND", command, 1);
    setenv("PATH_THERE", path, 1);
    snprintf(line, sizeof line, "PATH=\"$PATH_THERE\" %s -c \"$COMMAND\"", shell);
    FILE *f = popen(line, "r");
    said[fread(said, 1, sizeof said - 1, f)] = '\0';
    pclose(f);
    free(command);
    return said;
}

START_TEST(the_daemon_is_found)
{
    static const char *const shells[] = {"/bin/sh", "/bin/bash"};
    char path[128];
    in_folder();
    setenv("HOME", folder, 1);
    setenv("WHERE", "in a variable", 1);
    mkdir("a 'b' \"c\" \\ $ `e`", 0755);
    program("a 'b' \"c\" \\ $ `e`/pvmd3", "echo strange \"$@\"");
    mkdir("in a variable", 0755);
    program("in a variable/pvmd3", "echo variable \"$@\"");
    mkdir("bin", 0755);
    program("bin/pvmd3", "echo looked up \"$@\"");
    program("bin/other", "echo other \"$@\"");
    snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", folder);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        ck_assert_str_eq(remote(shells[i], path, "./a 'b' \"c\" \\ $ `e`/pvmd3"), "strange -s\n");
        ck_assert_str_eq(remote(shells[i], path, "~/bin/pvmd3"), "looked up -s\n");
        ck_assert_str_eq(remote(shells[i], path, "$HOME/$WHERE/pvmd3"), "variable -s\n");
        ck_assert_str_eq(remote(shells[i], path, "${HOME}/bin/other"), "other -s\n");
        ck_assert_str_eq(remote(shells[i], path, "other"), "other -s\n");
    }
    clean();
}
END_TEST

START_TEST(a_missing_daemon_is_told)
{
    struct pvmd_start_line line;
    in_folder();
    char said[1024];
    snprintf(said, sizeof said, "%s", remote("/bin/sh", "/usr/bin:/bin", "/none/pvmd3"));
    said[strcspn(said, "\n")] = '\0';
    ck_assert_int_eq(pvmd_start_line_parse(said, &line), PVMD_LINE_ERROR);
    ck_assert_int_eq(line.code, PvmCantStart);
    ck_assert_msg(strstr(line.why, "/none/pvmd3") != NULL, "%s", line.why);
    clean();
}
END_TEST

/* ---- running commands ---- */

static struct ev_loop *loop;

static struct {
    unsigned started, failed;
    int code;
    bool reached;
    char why[1024];
} got;

static void started(void *owner, const struct pvmd_start_line *line)
{
    ck_assert_ptr_eq(owner, &got);
    ck_assert_uint_eq(line->port, 7);
    got.started++;
    ev_break(loop, EVBREAK_ALL);
}

static void failed(void *owner, int code, bool reached, const char *why)
{
    ck_assert_ptr_eq(owner, &got);
    got.failed++;
    got.code = code;
    got.reached = reached;
    snprintf(got.why, sizeof got.why, "%s", why);
    ev_break(loop, EVBREAK_ALL);
}

static const struct pvmd_launch_events events = {.started = started, .failed = failed};

/* Runs a script as PVM_RSH until it has started a daemon or failed. */
static struct pvmd_launch *launch(const char *script)
{
    struct pvmd_launch_order o = {.target = "hostb", .login = "me", .daemon_path = "pvmd3"};
    char why[256], path[128];
    signal(SIGPIPE, SIG_IGN); /* like the daemon */
    loop = ev_default_loop(0);
    in_folder();
    program("rsh", script);
    snprintf(path, sizeof path, "%s/rsh", folder);
    setenv("PVM_RSH", path, 1);
    struct pvmd_command c = {0};
    pvmd_launch_rsh.command(&o, &c);
    struct pvmd_launch *l =
        pvmd_launch_start(loop, pvmd_launch_rsh.label, &c, "the text\n", &events, &got, why, sizeof why);
    pvmd_command_free(&c);
    ck_assert_msg(l != NULL, "%s", why);
    ev_run(loop, 0);
    return l;
}

static void settle(void)
{
    pvmd_launch_stop();
    clean();
}

#define LINE "ddpro<6> arch<A> dsig<1> port<7> ssh<> ip<10.0.0.1:7>"

START_TEST(noise_before_the_line_is_skipped)
{
    launch("read text; test \"$text\" = 'the text' || exit 3\n"
           "printf 'welcome\\r\\n\\033[1mprompt> '; echo on stderr >&2; echo '" LINE "'; sleep 100");
    ck_assert_uint_eq(got.started, 1);
    ck_assert_uint_eq(got.failed, 0);
    settle();
}
END_TEST

START_TEST(the_command_is_called_as_rsh_is)
{
    launch("test \"$1 $2 $3\" = 'hostb -l me' && test $# = 4 && echo '" LINE "'; sleep 100");
    ck_assert_uint_eq(got.started, 1);
    settle();
}
END_TEST

START_TEST(last_words_are_told)
{
    launch("echo said; echo first >&2; printf 'not allowed \\033[1m\\n' >&2; exit 9");
    ck_assert_uint_eq(got.failed, 1);
    ck_assert_int_eq(got.code, PvmCantStart);
    ck_assert(!got.reached);
    ck_assert_str_eq(got.why, "the command in PVM_RSH ended with code 9: not allowed \\x1b[1m");
    settle();
}
END_TEST

START_TEST(death_and_silence_are_told)
{
    launch("kill -9 $$");
    ck_assert_str_eq(got.why, "the command in PVM_RSH was ended by signal 9");
    settle();
}
END_TEST

START_TEST(unknown_names_are_known_by_sshs_words)
{
    launch("echo 'ssh: Could not resolve hostname hostb: Name or service not known' >&2; exit 255");
    ck_assert_int_eq(got.code, PvmNoHost);
    settle();
}
END_TEST

START_TEST(error_lines_end_the_launch)
{
    launch("echo 'dpvm-error<-28> it runs already'; sleep 100");
    ck_assert_uint_eq(got.failed, 1);
    ck_assert_int_eq(got.code, PvmDupHost);
    ck_assert(got.reached);
    ck_assert_str_eq(got.why, "it runs already");
    settle();
}
END_TEST

START_TEST(floods_are_bounded)
{
    launch("i=0; while [ $i -lt 300 ]; do printf '%01000d' 0; i=$((i+1)); done; echo; yes | head -c 1000000; "
           "yes >&2 & sleep 0.2; kill $!; echo; echo '" LINE "'; sleep 100");
    ck_assert_uint_eq(got.started, 1);
    settle();
}
END_TEST

static bool is_running(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

START_TEST(a_cancelled_command_is_ended_with_all_its_children)
{
    struct pvmd_launch *l = launch("trap '' TERM; sleep 1000 & echo $! >pid; echo '" LINE "'; wait; wait");
    pid_t pid = 0;
    FILE *f = fopen("pid", "r");
    ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
    fclose(f);
    ck_assert(is_running(pid));
    pvmd_launch_cancel(l); /* the shell ignores SIGTERM; SIGKILL follows one second later */
    for (int i = 0; i < 400 && is_running(pid); i++) {
        ev_run(loop, EVRUN_NOWAIT);
        usleep(10000);
    }
    ck_assert(!is_running(pid));
    ck_assert_uint_eq(got.failed, 0);
    settle();
}
END_TEST

/* ---- the table ---- */

static const struct pvmd_launcher *choice(const char *start, bool loopback, const char *setting, const char *rsh)
{
    struct pvmd_launch_wish w = {.start = start, .loopback = loopback};
    setenv("PVM_LAUNCHER", setting, 1);
    setenv("PVM_RSH", rsh, 1);
    return pvmd_launcher_choose(&w);
}

START_TEST(a_launcher_serves_who_asks_for_it)
{
    ck_assert_ptr_eq(choice(NULL, true, "ssh", ""), &pvmd_launch_ssh);
    ck_assert_ptr_eq(choice(NULL, true, "rsh", ""), &pvmd_launch_rsh);
    ck_assert_ptr_eq(choice(NULL, false, "manual", "fake"), &pvmd_launch_manual);
    ck_assert_ptr_eq(choice("ms", true, "ssh", "fake"), &pvmd_launch_manual);
    ck_assert_ptr_eq(choice("local", false, "ssh", "fake"), &pvmd_launch_local);
    ck_assert_ptr_eq(choice("ssh", true, "auto", "fake"), &pvmd_launch_ssh);
    ck_assert_ptr_null(choice(NULL, true, "telnet", "fake"));
    ck_assert_ptr_null(choice(NULL, true, "pw", ""));
}
END_TEST

START_TEST(auto_prefers_local_then_rsh_then_ssh)
{
    ck_assert_ptr_eq(choice(NULL, true, "auto", "fake"), &pvmd_launch_local);
    ck_assert_ptr_eq(choice(NULL, false, "auto", "fake"), &pvmd_launch_rsh);
    ck_assert_ptr_eq(choice(NULL, false, "auto", ""), &pvmd_launch_ssh);
}
END_TEST

START_TEST(a_password_is_asked_for_where_somebody_can_be_asked)
{
    setsid(); /* without a terminal */
    unsetenv("SSH_ASKPASS");
    unsetenv("DISPLAY");
    ck_assert_ptr_eq(choice("pw", false, "auto", ""), &pvmd_launch_ssh);
    setenv("SSH_ASKPASS", "/bin/true", 1);
    ck_assert_ptr_eq(choice("pw", false, "auto", ""), &pvmd_launch_password);
    ck_assert_ptr_eq(choice("pw", false, "ssh", "fake"), &pvmd_launch_password);
    ck_assert_ptr_eq(choice("pw", false, "auto", "fake"), &pvmd_launch_rsh);
    ck_assert_ptr_eq(choice("pw", true, "auto", ""), &pvmd_launch_local);
    ck_assert_ptr_eq(choice("pw", false, "manual", ""), &pvmd_launch_manual);
    ck_assert_ptr_eq(choice("ssh", false, "auto", ""), &pvmd_launch_ssh);
}
END_TEST

START_TEST(a_hoster_starts_all_that_need_a_start)
{
    struct pvmd_launch_wish answered = {.start = "ms", .answered = true}, joins = {.joins = true};
    hoster = 0x40001;
    ck_assert_ptr_eq(choice(NULL, true, "auto", ""), &pvmd_launch_hoster);
    ck_assert_ptr_eq(choice("ssh", false, "telnet", ""), &pvmd_launch_hoster);
    ck_assert_ptr_eq(pvmd_launcher_choose(&answered), &pvmd_launch_manual);
    ck_assert_ptr_eq(pvmd_launcher_choose(&joins), &pvmd_launch_join);
    hoster = 0;
}
END_TEST

/* What the help of PVM_LAUNCHER and the messages say. */
START_TEST(all_launchers_are_listed)
{
    char names[256], *rest = NULL;
    snprintf(names, sizeof names, "%s", pvmd_launcher_names());
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
        ck_assert_msg(strstr(pvmc_setting_table[PVMC_SETTING_LAUNCHER].help, name) != NULL, "%s", name);
    ck_assert_str_eq(pvmd_launcher_names(), "auto, local, rsh, ssh, manual");
    ck_assert_str_eq(pvmd_launcher_options(), "local, rsh, pw (asking for a password), ssh, ms (by hand)");
    ck_assert(pvmd_launcher_is_option("pw") && pvmd_launcher_is_option("ms") && pvmd_launcher_is_option("rsh"));
    ck_assert(!pvmd_launcher_is_option("manual") && !pvmd_launcher_is_option("hoster"));
}
END_TEST

START_TEST(sshs_command_cannot_be_turned_by_names)
{
    struct pvmd_launch_order o = {.target = "hostb", .login = "me"};
    struct pvmd_command c = {0};
    pvmd_launch_ssh.command(&o, &c);
    ck_assert(!c.failed);
    ck_assert_str_eq(c.argv[0], "ssh");
    ck_assert_str_eq(c.argv[c.count - 3], "--");
    ck_assert_str_eq(c.argv[c.count - 2], "hostb");
    ck_assert_ptr_null(c.argv[c.count]);
    pvmd_command_free(&c);
}
END_TEST

UNIT_MAIN("pvmd_launch", the_daemon_is_found, a_missing_daemon_is_told, noise_before_the_line_is_skipped,
          the_command_is_called_as_rsh_is, last_words_are_told, death_and_silence_are_told,
          unknown_names_are_known_by_sshs_words, error_lines_end_the_launch, floods_are_bounded,
          a_cancelled_command_is_ended_with_all_its_children, a_launcher_serves_who_asks_for_it,
          auto_prefers_local_then_rsh_then_ssh, a_password_is_asked_for_where_somebody_can_be_asked,
          a_hoster_starts_all_that_need_a_start, all_launchers_are_listed, sshs_command_cannot_be_turned_by_names)
