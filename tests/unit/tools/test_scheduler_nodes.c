/* test_scheduler_nodes.c - hosts and slots as batch systems write them. */
#include <stdlib.h>
#include <unistd.h>
#include "scheduler/nodes.h"
#include "tests/unit/unit.h"

static struct nodes nodes;

static const char *shown(void)
{
    static char text[400];
    text[0] = '\0';
    for (int i = 0; i < nodes.count; i++)
        sprintf(text + strlen(text), "%s%s=%d", i ? " " : "", nodes.all[i].name, nodes.all[i].slots);
    return text;
}

static const char *file(const char *content, int *line)
{
    char path[] = "/tmp/nodes.XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    nodes_free(&nodes);
    const char *wrong = nodes_read_file(&nodes, path, line);
    unlink(path);
    return wrong;
}

static const char *pairs(const char *text)
{
    nodes_free(&nodes);
    return nodes_read_pairs(&nodes, text);
}

/* Numbers for n1, n2 and n3. */
static const char *numbers(const char *text, int share)
{
    nodes_free(&nodes);
    ck_assert_ptr_null(nodes_read_lines(&nodes, "n1\nn2\nn3\n"));
    return nodes_set_slots(&nodes, text, share);
}

START_TEST(a_line_is_a_slot)
{
    int line;
    ck_assert_ptr_null(file("hosta\nhosta\n\n  hostb.example.org \r\nhosta\n", &line));
    ck_assert_str_eq(shown(), "hosta=3 hostb.example.org=1");
    ck_assert_str_eq(file("", &line), "it names no host");
    ck_assert_str_eq(file("hosta\nhost b\n", &line), "not the name of a host");
    ck_assert_int_eq(line, 2);
    ck_assert_str_eq(file("-oProxyCommand=x\n", &line), "not the name of a host");
    ck_assert_ptr_nonnull(nodes_read_file(&nodes, "/nonexistent/file", &line));
    ck_assert_int_eq(line, 0);
    nodes_free(&nodes);
}
END_TEST

START_TEST(names_and_numbers_alternate)
{
    ck_assert_ptr_null(pairs(" hosta 4  hostb 2 hosta 1"));
    ck_assert_str_eq(shown(), "hosta=5 hostb=2");
    static const char *const wrong[] = {"hosta",         "hosta x",      "hosta 0",           "hosta -1",
                                        "hosta 4 hostb", "hosta 4hostb", "hosta 99999999999", "hosta 4 hostb 2x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(pairs(wrong[i]) != NULL, "\"%s\" passes", wrong[i]);
    ck_assert_str_eq(pairs(""), "it names no host");
    nodes_free(&nodes);
}
END_TEST

START_TEST(numbers_may_be_repeated)
{
    ck_assert_ptr_null(numbers("4(x2),1", 1));
    ck_assert_str_eq(shown(), "n1=4 n2=4 n3=1");
    ck_assert_ptr_null(numbers("4(x3)", 3));
    ck_assert_str_eq(shown(), "n1=1 n2=1 n3=1");
    ck_assert_ptr_null(numbers("8,2,1", 2));
    ck_assert_str_eq(shown(), "n1=4 n2=1 n3=1");
    ck_assert_str_eq(numbers("4(x2)", 1), "fewer numbers than hosts");
    ck_assert_str_eq(numbers("4(x4)", 1), "more numbers than hosts");
    ck_assert_str_eq(numbers("1,1,1,1", 1), "more numbers than hosts");
    static const char *const wrong[] = {"",       "x",      "4(x2",  "4(x0),1", "4(2),1", "4)(x2),1",
                                        "1,,1,1", "1,1,1,", "0,1,1", "-1,1,1",  "1 ,1,1", "99999999999(x3)"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(numbers(wrong[i], 1) != NULL, "\"%s\" passes", wrong[i]);
    nodes_free(&nodes);
}
END_TEST

START_TEST(names_match_without_domain)
{
    ck_assert(node_is("hosta", "HOSTA"));
    ck_assert(node_is("hosta", "hosta.example.org"));
    ck_assert(node_is("hosta.example.org", "hosta"));
    ck_assert(!node_is("hosta.example.org", "hosta.example.com"));
    ck_assert(!node_is("hosta", "hostab"));
    ck_assert(!node_is("", "hosta"));
}
END_TEST

UNIT_MAIN("scheduler_nodes", a_line_is_a_slot, names_and_numbers_alternate, numbers_may_be_repeated,
          names_match_without_domain)
