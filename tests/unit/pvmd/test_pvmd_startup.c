/* test_pvmd_startup.c - start texts and the lines of launched daemons, including invalid ones. */
#include "pvmd/launch/startup.h"
#include "core/error.h"
#include "tests/unit/unit.h"

static struct pvmd_start_text sample(void)
{
    struct pvmd_start_text t = {.master_index = 1,
                                .master_incarnation = 1,
                                .master_port = 41234,
                                .master_name = "hosta",
                                .index = 7,
                                .incarnation = 9,
                                .name = "hostb",
                                .speed = 1000,
                                .slots = 3,
                                .exec_path = "$HOME/bin",
                                .working_dir = "",
                                .debugger = "",
                                .listen_ip = "127.0.0.2",
                                .shares_machine = true,
                                .settings = {{"PVM_VMID", "x"}, {"PVM_HOST_TIMEOUT", "5"}},
                                .setting_count = 2};
    for (size_t i = 0; i < sizeof t.machine.secret; i++)
        t.machine.secret[i] = (uint8_t)(i * 7);
    return t;
}

static struct pvmd_start_text got;

static int parse(const char *text)
{
    return pvmd_start_text_parse(text, strlen(text), &got);
}

START_TEST(start_texts_come_through)
{
    struct pvmd_start_text t = sample();
    char *text = pvmd_start_text_format(&t);
    ck_assert_ptr_nonnull(text);
    ck_assert(pvmd_start_text_is_whole(text, strlen(text)));
    ck_assert_int_eq(parse(text), 0);
    ck_assert_mem_eq(&got.machine, &t.machine, sizeof t.machine);
    ck_assert_uint_eq(got.index, 7);
    ck_assert_uint_eq(got.incarnation, 9);
    ck_assert_str_eq(got.name, "hostb");
    ck_assert_int_eq(got.slots, 3);
    ck_assert_uint_eq(got.master_port, 41234);
    ck_assert_str_eq(got.master_name, "hosta");
    ck_assert_str_eq(got.exec_path, "$HOME/bin");
    ck_assert_str_eq(got.listen_ip, "127.0.0.2");
    ck_assert(got.shares_machine);
    ck_assert_uint_eq(got.setting_count, 2);
    ck_assert_str_eq(got.settings[1].name, "PVM_HOST_TIMEOUT");
    ck_assert_str_eq(got.settings[1].value, "5");
    pvmd_start_text_free(&got);
    free(text);
}
END_TEST

/* A terminal accepts lines of at most 4095 bytes, and may end them with other characters. */
START_TEST(start_texts_can_be_pasted)
{
    struct pvmd_start_text t = sample();
    char *text = pvmd_start_text_format(&t), *pasted = calloc(2, strlen(text)), *to = pasted;
    size_t column = 0;
    for (const char *c = text; *c; c++) {
        ck_assert_uint_le(column = *c == '\n' ? 0 : column + 1, 72);
        if (*c == '\n')
            *to++ = '\r';
        *to++ = *c;
    }
    ck_assert_int_eq(parse(pasted), 0);
    pvmd_start_text_free(&got);
    free(pasted);
    free(text);
}
END_TEST

START_TEST(damaged_start_texts_are_refused)
{
    struct pvmd_start_text t = sample();
    char *text = pvmd_start_text_format(&t);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        ck_assert(!pvmd_start_text_is_whole(text, i) && pvmd_start_text_parse(text, i, &got) != 0);
    for (size_t i = 0; i + 6 < length; i++) {
        char saved = text[i];
        text[i] = '?';
        int rc = parse(text);
        ck_assert_int_ne(rc, 0);
        pvmd_start_text_free(&got);
        text[i] = saved;
    }
    free(text);
    ck_assert_int_eq(parse("dpvm 1\n00\nend\n"), PVMC_EVERSION);
    ck_assert_int_eq(parse("dpvm 6\n0\nend\n"), PVMC_EFORMAT);
    ck_assert_int_eq(parse("hello\nend\n"), PVMC_EFORMAT);
    pvmd_start_text_free(&got);
}
END_TEST

static void refuse(struct pvmd_start_text t)
{
    char *text = pvmd_start_text_format(&t);
    ck_assert_int_eq(parse(text), PVMC_EFORMAT);
    pvmd_start_text_free(&got);
    free(text);
}

START_TEST(impossible_hosts_are_refused)
{
    struct pvmd_start_text t = sample();
    t.index = 0;
    refuse(t);
    t.index = PVMC_HOST_INDEX_MAX + 1;
    refuse(t);
    t.index = t.master_index;
    refuse(t);
    t = sample();
    t.name = "";
    refuse(t);
    t = sample();
    t.speed = 0;
    refuse(t);
}
END_TEST

/* ---- lines ---- */

static struct pvmd_start_line line;

START_TEST(start_lines_come_through)
{
    struct pvmd_start_line l = {.dsig = 0x408c41, .slots = 6, .port = 4711, .arch = "LINUX64", .version = "1.2.3"};
    char text[PVMD_START_LINE_MAX];
    ck_assert_int_eq(pvmw_addresses_parse("10.1.2.3:4711", &l.ssh), 0);
    ck_assert_int_eq(pvmw_addresses_parse("10.1.2.3:4711,[fd00::1]:4711", &l.addresses), 0);
    pvmd_start_line_format(&l, text, sizeof text);
    ck_assert_str_eq(text, "ddpro<6> dpvm<1.2.3> arch<LINUX64> dsig<0x00408c41> slots<6> port<4711> ssh<10.1.2.3:4711> "
                           "ip<10.1.2.3:4711,[fd00::1]:4711>");
    ck_assert_int_eq(pvmd_start_line_parse(text, &line), PVMD_LINE_START);
    ck_assert_str_eq(line.arch, "LINUX64");
    ck_assert_str_eq(line.version, "1.2.3");
    ck_assert_uint_eq(line.dsig, 0x408c41);
    ck_assert_int_eq(line.slots, 6);
    ck_assert_uint_eq(line.port, 4711);
    ck_assert_uint_eq(line.ssh.count, 1);
    ck_assert_uint_eq(line.addresses.count, 2);
    ck_assert_int_eq(pvmd_start_line_parse("[user@hostb ~]$ ddpro<6> arch<X> dsig<1> port<2> ip<>", &line),
                     PVMD_LINE_START);
    ck_assert_int_eq(line.slots, 1); /* not told */
}
END_TEST

START_TEST(the_reference_and_other_versions_are_told_apart)
{
    ck_assert_int_eq(
        pvmd_start_line_parse("ddpro<2316> arch<LINUX64> ip<0a630702:9663> mtu<4080> dsig<4230209>", &line),
        PVMD_LINE_OTHER_VERSION);
    ck_assert_int_eq(line.protocol, 2316);
    ck_assert_str_eq(line.version, "");
    ck_assert_int_eq(pvmd_start_line_parse("ddpro<1>", &line), PVMD_LINE_OTHER_VERSION);
    ck_assert_int_eq(pvmd_start_line_parse("ddpro<1> dpvm<12.3.4-rc1> new<x>", &line), PVMD_LINE_OTHER_VERSION);
    ck_assert_str_eq(line.version, "12.3.4-rc1");
    ck_assert_int_eq(pvmd_start_line_parse("ddpro<1> dpvm<\033[2J>", &line), PVMD_LINE_OTHER_VERSION);
    ck_assert_str_eq(line.version, "");
}
END_TEST

START_TEST(error_lines_come_through)
{
    char text[PVMD_START_LINE_MAX];
    pvmd_error_line_format(-28, "it is there", text, sizeof text);
    ck_assert_int_eq(pvmd_start_line_parse(text, &line), PVMD_LINE_ERROR);
    ck_assert_int_eq(line.code, -28);
    ck_assert_str_eq(line.why, "it is there");
}
END_TEST

START_TEST(all_else_is_noise)
{
    static const char *const noise[] = {"",
                                        "Welcome to hostb",
                                        "ddpro<6>",
                                        "ddpro<6> arch<LINUX64> dsig<1> port<0>",
                                        "ddpro<6> arch<LINUX64> dsig<1> slots<-1> port<2>",
                                        "ddpro<6> arch<LINUX64> dsig<x> port<2>",
                                        "ddpro<6> arch<> dsig<1> port<2>",
                                        "ddpro<-1> arch<A> dsig<1> port<2>",
                                        "ddpro<2 arch<A> dsig<1> port<2>",
                                        "ddpro<6> arch<A> dsig<1> port<70000>",
                                        "dpvm-error<5> no code",
                                        "dpvm-error<x> no code",
                                        "dpvm-error<-28"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        ck_assert_msg(pvmd_start_line_parse(noise[i], &line) == PVMD_LINE_NOISE, "%s", noise[i]);
}
END_TEST

UNIT_MAIN("pvmd_startup", start_texts_come_through, start_texts_can_be_pasted, damaged_start_texts_are_refused,
          impossible_hosts_are_refused, start_lines_come_through, the_reference_and_other_versions_are_told_apart,
          error_lines_come_through, all_else_is_noise)
