/*
 * test_pvmd_hostfile.c - host options and hostfiles: all keywords, defaults, marks, and the messages for malformed
 * lines.
 */
#include "pvmd/hosts/hostfile.h"
#include "core/error.h"
#include "core/log.h"
#include "pvmd/launch/launchers/launchers.h"
#include "tests/unit/unit.h"

bool pvmd_launcher_is_option(const char *text)
{
    return !strcmp(text, "ms") || !strcmp(text, "ssh");
}

const char *pvmd_launcher_options(void)
{
    return "ms, ssh";
}

static struct pvmd_host_spec spec;
static struct pvmd_hostfile file;
static char why[256];

static int parse(const char *line)
{
    return pvmd_host_spec_parse(line, strlen(line), &spec, why, sizeof why);
}

static int parse_file(const char *text)
{
    unit_log_start();
    return pvmd_hostfile_parse("hosts", text, strlen(text), &file);
}

static void refuse(const char *line, const char *words)
{
    ck_assert_int_eq(parse(line), PVMC_EFORMAT);
    ck_assert_msg(strstr(why, words) != NULL, "'%s' gives: %s", line, why);
    pvmd_host_spec_free(&spec);
}

START_TEST(all_options_are_read)
{
    ck_assert_int_eq(
        parse(
            "  hostb lo=me so=ms dx=/a/pvmd3 ep=$HOME/x:/y wd=/w sp=2000 sl=16 bx=/d ip=hostb-ib id=mine at=b2 # c\r"),
        0);
    ck_assert_str_eq(spec.name, "hostb");
    ck_assert_str_eq(spec.login, "me");
    ck_assert_str_eq(spec.start, "ms");
    ck_assert_str_eq(spec.daemon_path, "/a/pvmd3");
    ck_assert_str_eq(spec.exec_path, "$HOME/x:/y");
    ck_assert_str_eq(spec.working_dir, "/w");
    ck_assert_int_eq(spec.speed, 2000);
    ck_assert_int_eq(spec.slots, 16);
    ck_assert_str_eq(spec.debugger, "/d");
    ck_assert_str_eq(spec.ip, "hostb-ib");
    ck_assert_str_eq(spec.vmid, "mine");
    ck_assert_str_eq(spec.atm_host, "b2");
    ck_assert(!spec.later && !spec.overload && !spec.answer);
    pvmd_host_spec_free(&spec);
}
END_TEST

START_TEST(marks_stand_alone_or_at_the_name)
{
    ck_assert_int_eq(parse("&hostb"), 0);
    ck_assert(spec.later && !spec.overload);
    ck_assert_str_eq(spec.name, "hostb");
    pvmd_host_spec_free(&spec);
    ck_assert_int_eq(parse("& $ hostb sp=7"), 0);
    ck_assert(spec.later && spec.overload);
    ck_assert_int_eq(spec.speed, 7);
    pvmd_host_spec_free(&spec);
    ck_assert_int_eq(parse("$10.1.2.3"), 0);
    ck_assert(!spec.later && spec.overload);
    ck_assert_str_eq(spec.name, "10.1.2.3");
    pvmd_host_spec_free(&spec);
    ck_assert_int_eq(parse("fd00::17"), 0);
    ck_assert_str_eq(spec.name, "fd00::17");
    pvmd_host_spec_free(&spec);
}
END_TEST

START_TEST(empty_lines_have_no_name)
{
    static const char *const lines[] = {"", "   \t", "# hostb", "   # x=y"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_int_eq(parse(lines[i]), 0);
        ck_assert_ptr_null(spec.name);
        pvmd_host_spec_free(&spec);
    }
}
END_TEST

START_TEST(the_last_of_two_options_counts)
{
    ck_assert_int_eq(parse("hostb wd=/a wd=/b"), 0);
    ck_assert_str_eq(spec.working_dir, "/b");
    pvmd_host_spec_free(&spec);
}
END_TEST

START_TEST(a_hand_started_daemons_line_is_taken_whole)
{
    ck_assert_int_eq(parse("hostb so=ms ddpro<6> arch<LINUX64> ip<10.0.0.2:7>  "), 0);
    ck_assert_str_eq(spec.answer, "ddpro<6> arch<LINUX64> ip<10.0.0.2:7>");
    ck_assert_str_eq(spec.start, "ms");
    pvmd_host_spec_free(&spec);
}
END_TEST

START_TEST(faults_are_named)
{
    refuse("hostb xm=3", "unknown option 'xm='");
    refuse("hostb sp", "'sp' is not an option");
    refuse("hostb sp=0", "1 to 1000000");
    refuse("hostb sp=1000001", "1 to 1000000");
    refuse("hostb sp=12x", "sp=12x");
    refuse("hostb so=xx", "so=xx");
    refuse("hostb lo=-oProxyCommand=x", "lo=");
    refuse("hostb ip=$(x)", "ip=");
    refuse("hostb id=a/b", "id=");
    refuse("hostb at=a/b", "at=");
    refuse("-oProxyCommand=x", "not a host name");
    refuse("a;b", "not a host name");
    refuse("&", "missing after '&'");
    refuse("$ # x", "missing after '$'");
}
END_TEST

START_TEST(long_words_are_refused_and_long_lines_are_not)
{
    size_t size = 2 * PVMD_OPTION_MAX;
    char *line = malloc(size + 64);
    memset(line, 'x', size);
    memcpy(line, "hostb wd=", 9);
    line[9 + PVMD_OPTION_MAX] = '\0';
    refuse(line, "the longest");
    line[9 + PVMD_OPTION_MAX - 3] = '\0';
    ck_assert_int_eq(parse(line), 0);
    pvmd_host_spec_free(&spec);
    memset(line, ' ', size);
    strcpy(line + size, "hostb wd=/x");
    ck_assert_int_eq(parse(line), 0);
    ck_assert_str_eq(spec.working_dir, "/x");
    pvmd_host_spec_free(&spec);
    free(line);
}
END_TEST

START_TEST(defaults_hold_from_their_line_on)
{
    ck_assert_int_eq(parse_file("# my hosts\n"
                                "hosta sp=5\n"
                                "*  lo=guest wd=/g sp=300\n"
                                "hostb\n"
                                "hostc lo=me\n"
                                "\n"
                                "* dx=/d\n"
                                "&hostd ep=/e\n"
                                "$hoste"),
                     0);
    ck_assert_uint_eq(file.count, 5);
    ck_assert_ptr_null(file.hosts[0].login);
    ck_assert_str_eq(file.hosts[1].login, "guest");
    ck_assert_int_eq(file.hosts[1].speed, 300);
    ck_assert_str_eq(file.hosts[2].login, "me");
    ck_assert_str_eq(file.hosts[2].working_dir, "/g");
    ck_assert_ptr_null(file.hosts[3].login); /* a new line of defaults replaces the whole old one */
    ck_assert_str_eq(file.hosts[3].daemon_path, "/d");
    ck_assert(file.hosts[3].later);
    ck_assert(file.hosts[4].overload);
    ck_assert_str_eq(file.defaults.daemon_path, "/d");
    ck_assert_ptr_eq(pvmd_hostfile_find(&file, "HOSTD"), &file.hosts[3]);
    ck_assert_ptr_null(pvmd_hostfile_find(&file, "hostx"));
    pvmd_hostfile_free(&file);
}
END_TEST

START_TEST(faults_have_line_numbers)
{
    ck_assert_int_eq(parse_file("hosta\n\nhostb foo=1\nhostc\n"), PVMC_EFORMAT);
    ck_assert_msg(strstr(unit_log.line, "hosts:3: unknown option 'foo='") != NULL, "%s", unit_log.line);
    ck_assert_int_eq(unit_log.count, 1);
    ck_assert_uint_eq(file.count, 0);
    ck_assert_int_eq(parse_file("* sp=x\nhostb y\n"), PVMC_EFORMAT);
    ck_assert_int_eq(unit_log.count, 2);
}
END_TEST

START_TEST(a_file_of_faults_does_not_flood_the_log)
{
    static char text[4096];
    memset(text, '\n', sizeof text - 1);
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        text[i] = '!';
    ck_assert_int_eq(parse_file(text), PVMC_EFORMAT);
    ck_assert_int_eq(unit_log.count, 20);
}
END_TEST

START_TEST(too_many_hosts_are_refused)
{
    char *text = malloc(4096 * 8), *at = text;
    for (int i = 0; i < 4096; i++)
        at += sprintf(at, "h%04d\n", i);
    ck_assert_int_eq(parse_file(text), PVMC_ELIMIT);
    ck_assert_msg(strstr(unit_log.line, "hosts:4096:") != NULL, "%s", unit_log.line);
    free(text);
}
END_TEST

START_TEST(files_that_cannot_be_read_are_named)
{
    unit_log_start();
    ck_assert_int_eq(pvmd_hostfile_read("/no/such/file", &file), PVMC_ESYSTEM);
    ck_assert_msg(strstr(unit_log.line, "/no/such/file: No such file") != NULL, "%s", unit_log.line);
    ck_assert_int_eq(pvmd_hostfile_read("/dev/null", &file), PVMC_ESYSTEM);
    ck_assert_msg(strstr(unit_log.line, "not an ordinary file") != NULL, "%s", unit_log.line);
}
END_TEST

UNIT_MAIN("pvmd_hostfile", all_options_are_read, marks_stand_alone_or_at_the_name, empty_lines_have_no_name,
          the_last_of_two_options_counts, a_hand_started_daemons_line_is_taken_whole, faults_are_named,
          long_words_are_refused_and_long_lines_are_not, defaults_hold_from_their_line_on, faults_have_line_numbers,
          a_file_of_faults_does_not_flood_the_log, too_many_hosts_are_refused, files_that_cannot_be_read_are_named)
