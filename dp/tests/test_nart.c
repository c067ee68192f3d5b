/* test_nart.c - the table of nodes: its file, and learned rows. */
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "dp/src/frames/nart.h"
#include "unit.h"

static const uint8_t one[6] = {2, 0, 0, 0, 0, 1}, two[6] = {2, 0, 0, 0, 0, 0xfe};

static int open_text(const char *text, struct dpi_nart **t)
{
    char path[] = "/tmp/test_dp_nart.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    unit_log_start();
    int rc = dpi_nart_open(path, t);
    unlink(path);
    return rc;
}

START_TEST(a_file_is_read)
{
    struct dpi_nart *t;
    uint8_t hardware[6];
    ck_assert_int_eq(open_text("# nodes\n\n1 02:00:00:00:00:01\n  65534\t02:0:0:0:0:FE eth1 # the last one", &t), 0);
    ck_assert_int_eq(dpi_nart_find(t, 1, 0, hardware), 0);
    ck_assert_mem_eq(hardware, one, 6);
    ck_assert_int_eq(dpi_nart_find(t, 65534, INT64_MAX / 2, hardware), 0); /* does not age */
    ck_assert_mem_eq(hardware, two, 6);
    ck_assert_int_eq(dpi_nart_find(t, 2, 0, hardware), PVMC_ENOTFOUND);
    ck_assert_uint_eq(dpi_nart_node_of(t, one, "eth7"), 1);
    ck_assert_uint_eq(dpi_nart_node_of(t, two, "eth1"), 65534);
    ck_assert_uint_eq(dpi_nart_node_of(t, two, "eth0"), 0);
    dpi_nart_learn(t, 1, two, 5);
    ck_assert_int_eq(dpi_nart_find(t, 1, 6, hardware), 0);
    ck_assert_mem_eq(hardware, one, 6); /* the file takes precedence */
    dpi_nart_close(t);
}
END_TEST

START_TEST(wrong_lines_are_named)
{
    static const char *const lines[] = {"0 02:00:00:00:00:01",
                                        "65535 02:00:00:00:00:01",
                                        "-1 02:00:00:00:00:01",
                                        "1x 02:00:00:00:00:01",
                                        "1",
                                        "1 02:00:00:00:00",
                                        "1 02:00:00:00:00:01:02",
                                        "1 02:00:00:00:00:zz",
                                        "1 ff:ff:ff:ff:ff:ff",
                                        "1 02:00:00:00:00:01 eth0 more",
                                        "1 02:00:00:00:00:01 a-name-that-is-too-long"};
    struct dpi_nart *t;
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "7 02:00:00:00:00:07\n%s\n", lines[i]);
        ck_assert_int_eq(open_text(text, &t), PVMC_EFORMAT);
        ck_assert_ptr_nonnull(strstr(unit_log.line, ":2: "));
    }
    ck_assert_int_eq(open_text("1 02:00:00:00:00:01\n1 02:00:00:00:00:02\n", &t), PVMC_EFORMAT);
    char text[400];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq(open_text(text, &t), PVMC_EFORMAT);
    ck_assert_int_eq(dpi_nart_open("/nowhere/nart", &t), PVMC_ENOTFOUND);
}
END_TEST

START_TEST(what_is_learned_ages)
{
    struct dpi_nart *t;
    uint8_t hardware[6];
    ck_assert_int_eq(dpi_nart_open(NULL, &t), 0);
    dpi_nart_learn(t, 5, one, 1000);
    ck_assert_int_eq(dpi_nart_find(t, 5, 1000 + DPI_NART_AGE_US, hardware), 0);
    dpi_nart_learn(t, 5, one, 1000 + DPI_NART_AGE_US);
    ck_assert_int_eq(dpi_nart_find(t, 5, 2000 + DPI_NART_AGE_US, hardware), 0);
    ck_assert_int_eq(dpi_nart_find(t, 5, 1001 + 2ll * DPI_NART_AGE_US, hardware), PVMC_ENOTFOUND);
    dpi_nart_learn(t, 5, one, 0);
    dpi_nart_learn(t, 5, two, 1);
    ck_assert_int_eq(dpi_nart_find(t, 5, 2, hardware), 0);
    ck_assert_mem_eq(hardware, two, 6);
    static const uint8_t everybody[6] = {255, 255, 255, 255, 255, 255};
    dpi_nart_learn(t, 6, everybody, 2);
    ck_assert_int_eq(dpi_nart_find(t, 6, 2, hardware), PVMC_ENOTFOUND);
    dpi_nart_close(t);
}
END_TEST

START_TEST(a_full_table_forgets_the_oldest)
{
    struct dpi_nart *t;
    uint8_t hardware[6];
    ck_assert_int_eq(open_text("9999 02:00:00:00:00:01\n", &t), 0);
    for (uint16_t node = 1; node <= DPI_NART_MAX; node++)
        dpi_nart_learn(t, node, two, node);
    ck_assert_int_eq(dpi_nart_find(t, 1, 0, hardware), PVMC_ENOTFOUND);
    ck_assert_int_eq(dpi_nart_find(t, 2, 0, hardware), 0);
    ck_assert_int_eq(dpi_nart_find(t, DPI_NART_MAX, 0, hardware), 0);
    ck_assert_int_eq(dpi_nart_find(t, 9999, 0, hardware), 0);
    dpi_nart_close(t);
}
END_TEST

UNIT_MAIN("dp_nart", a_file_is_read, wrong_lines_are_named, what_is_learned_ages, a_full_table_forgets_the_oldest)
