/* test_visible.c - nothing that controls a terminal passes, and all readable text does. */
#include "core/visible.h"
#include "tests/unit/unit.h"

static void expect(const char *text, size_t length, const char *expected)
{
    char out[256];
    ck_assert_uint_eq(pvmc_visible_bytes(out, sizeof out, text, length), strlen(expected));
    ck_assert_str_eq(out, expected);
}

#define EXPECT(text, expected) expect(text, sizeof text - 1, expected)

START_TEST(what_can_be_read_stays)
{
    EXPECT("", "");
    EXPECT("/home/me/a program (1)~", "/home/me/a program (1)~");
    EXPECT("\xc2\xa0\xc3\xa4\xe2\x82\xac\xed\x9f\xbf\xee\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
           "\xc2\xa0\xc3\xa4\xe2\x82\xac\xed\x9f\xbf\xee\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
    ck_assert_str_eq(PVMC_VISIBLE("x"), "x");
    ck_assert_str_eq(PVMC_VISIBLE(NULL), "");
}
END_TEST

START_TEST(control_characters_are_shown)
{
    EXPECT("\033]0;x\007\033[2J", "\\x1b]0;x\\x07\\x1b[2J");
    EXPECT("a\nb\tc\rd\be\0f\x7f", "a\\x0ab\tc\\x0dd\\x08e\\x00f\\x7f");
    EXPECT("\xc2\x9b"
           "2J \xc2\x80 \xc2\x9f",
           "\\xc2\\x9b2J \\xc2\\x80 \\xc2\\x9f");
}
END_TEST

START_TEST(what_is_no_text_is_shown)
{
    EXPECT("\x9b"
           "2J\x80\xff\xfe",
           "\\x9b2J\\x80\\xff\\xfe");
    EXPECT("\xc0\x9b \xc1\xbf", "\\xc0\\x9b \\xc1\\xbf"); /* overlong */
    EXPECT("\xe0\x82\x9b \xf0\x80\x82\x9b", "\\xe0\\x82\\x9b \\xf0\\x80\\x82\\x9b");
    EXPECT("\xed\xa0\x80", "\\xed\\xa0\\x80");                     /* half of a surrogate pair */
    EXPECT("\xf4\x90\x80\x80 \xf5", "\\xf4\\x90\\x80\\x80 \\xf5"); /* too large */
    EXPECT("\xe2\x82", "\\xe2\\x82");                              /* cut */
    EXPECT("\xe2\x82\x1b[", "\\xe2\\x82\\x1b[");
    EXPECT("\xf0\x9f\x98\x9b"
           "\x9b",
           "\xf0\x9f\x98\x9b\\x9b");
}
END_TEST

/* For each pair of bytes: the output is valid UTF-8, and escaping it again changes nothing. */
START_TEST(no_bytes_drive_a_terminal)
{
    char text[3] = "", out[16];
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            text[0] = (char)first;
            text[1] = (char)second;
            size_t n = pvmc_visible_bytes(out, sizeof out, text, 2);
            for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)out[i];
                ck_assert((c >= ' ' || c == '\t') && c != 0x7f && (c < 0x80 || n == 2));
                ck_assert(c != 0xc2 || (unsigned char)out[i + 1] >= 0xa0);
            }
        }
}
END_TEST

START_TEST(long_texts_are_cut_between_characters)
{
    static const char text[] = "ab\033\xe2\x82\xac";
    static const size_t expected[] = {0, 0, 1, 2, 2, 2, 2, 6, 6, 6, 9};
    char out[16];
    for (size_t size = 1; size < sizeof expected / sizeof expected[0]; size++) {
        memset(out, 'x', sizeof out);
        ck_assert_uint_eq(pvmc_visible_bytes(out, size, text, sizeof text - 1), expected[size]);
        ck_assert_uint_eq(strlen(out), expected[size]);
        ck_assert_int_eq(out[size], 'x');
    }
}
END_TEST

START_TEST(lines_stay_lines)
{
    char *out = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&out, &length);
    pvmc_visible_print(to, "first\n\n\033[2Jthird\n");
    fclose(to);
    ck_assert_str_eq(out, "first\n\n\\x1b[2Jthird\n");
    free(out);
}
END_TEST

UNIT_MAIN("visible", what_can_be_read_stays, control_characters_are_shown, what_is_no_text_is_shown,
          no_bytes_drive_a_terminal, long_texts_are_cut_between_characters, lines_stay_lines)
