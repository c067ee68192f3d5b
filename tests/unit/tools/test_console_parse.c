/* test_console_parse.c - how the console splits scripts into commands and commands into words. */
#include "console/line.h"
#include "tests/unit/unit.h"

enum { WORDS_MAX = 8 };

struct split {
    const char *line;
    const char *words[WORDS_MAX]; /* up to NULL */
};

static void check_split(const struct split *row)
{
    struct words words;
    char why[64];
    int n = 0;

    ck_assert_msg(words_split(row->line, &words, why, sizeof why) == 0, "<%s>: %s", row->line, why);
    for (; row->words[n] != NULL; n++) {
        ck_assert_msg(n < words.count, "<%s> has only %d words", row->line, words.count);
        ck_assert_str_eq(words.word[n], row->words[n]);
    }
    ck_assert_msg(words.count == n, "<%s> has %d words, not %d", row->line, words.count, n);
    ck_assert_ptr_null(words.word[n]);
    words_free(&words);
}

/* Each is split as in the console of PVM 3.4.6. */
START_TEST(lines_are_split_as_ever)
{
    static const struct split rows[] = {
        {"", {NULL}},
        {" \t ", {NULL}},
        {"# comment", {NULL}},
        {"echo a b   c # not", {"echo", "a", "b", "c"}},
        {"echo 'a  b' \"c  d\" e\\ f \\# g", {"echo", "a  b", "c  d", "e f", "#", "g"}},
        {"echo $HOME \"$HOME\"", {"echo", "$HOME", "$HOME"}},
        {"echo a#b #c", {"echo", "a#b"}},
        {"echo \"\" x", {"echo", "", "x"}},
        {"echo \\n", {"echo", "n"}},
        {"echo a'b'c d\"e f\"g", {"echo", "abc", "de fg"}},
        {"echo \"a\\nb\\\\c\"", {"echo", "a\\nb\\\\c"}},
        {"echo \"a 'b'\" 'say \"x\"' 'x \\y'", {"echo", "a 'b'", "say \"x\"", "x \\y"}},
        {"echo tab\tsep", {"echo", "tab", "sep"}},
        {"e\\cho hi", {"echo", "hi"}},
        {" echo lead", {"echo", "lead"}},
        {"id; version", {"id;", "version"}},
        {"''", {""}},
        {"a\r", {"a"}},
        {"add 'h2 lo=me sp=2000'", {"add", "h2 lo=me sp=2000"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_split(&rows[i]);
}
END_TEST

START_TEST(what_is_open_is_refused)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"echo \"x", "unmatched \""},     {"echo 'x", "unmatched '"},       {"echo a\\", "unmatched \\"},
        {"echo a'b'\"c", "unmatched \""}, {"a \"b\\\"c\"", "unmatched \""}, /* no escapes within quotes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct words words;
        char why[64] = "";
        ck_assert_int_eq(words_split(rows[i].line, &words, why, sizeof why), -1);
        ck_assert_str_eq(why, rows[i].why);
    }
}
END_TEST

START_TEST(limits)
{
    static char line[LINE_MAX_BYTES + 2];
    struct words words;
    char why[64];

    memset(line, 'x', LINE_MAX_BYTES);
    ck_assert_int_eq(words_split(line, &words, why, sizeof why), 0);
    ck_assert_uint_eq(strlen(words.word[0]), LINE_MAX_BYTES);
    words_free(&words);
    line[LINE_MAX_BYTES] = 'x';
    ck_assert_int_eq(words_split(line, &words, why, sizeof why), -1);
    ck_assert_str_eq(why, "command too long");

    memset(line, 0, sizeof line);
    for (int i = 0; i < LINE_MAX_WORDS; i++)
        memcpy(line + 2 * i, "a ", 2);
    ck_assert_int_eq(words_split(line, &words, why, sizeof why), 0);
    ck_assert_int_eq(words.count, LINE_MAX_WORDS);
    words_free(&words);
    line[2 * LINE_MAX_WORDS] = 'a';
    ck_assert_int_eq(words_split(line, &words, why, sizeof why), -1);
    ck_assert_str_eq(why, "command too long");
}
END_TEST

START_TEST(quoted_words_come_back)
{
    static const char letters[] = "ab \t\\\"#;$\r\n'";
    unsigned seed = 1;

    for (int round = 0; round < 20000; round++) {
        char texts[WORDS_MAX][8], line[WORDS_MAX * 16], *p = line, why[64];
        int count = round % WORDS_MAX;
        struct words words;
        for (int i = 0; i < count; i++) {
            size_t length = (seed = seed * 1103515245 + 12345) >> 16 & 7;
            for (size_t k = 0; k < length; k++)
                texts[i][k] = letters[((seed = seed * 1103515245 + 12345) >> 16) % (sizeof letters - 2)]; /* no ' */
            texts[i][length] = '\0';
            p += sprintf(p, "'%s' ", texts[i]);
        }
        *p = '\0';
        ck_assert_int_eq(words_split(line, &words, why, sizeof why), 0);
        ck_assert_int_eq(words.count, count);
        for (int i = 0; i < count; i++)
            ck_assert_str_eq(words.word[i], texts[i]);
        words_free(&words);
    }
}
END_TEST

/* Any input gives words or a reason; sanitizers and Valgrind check the rest. */
START_TEST(anything_can_be_split)
{
    static const char letters[] = "a'\"\\# \t;\n";
    unsigned seed = 7;

    for (int round = 0; round < 50000; round++) {
        char line[24], why[64] = "";
        struct words words;
        size_t length = (size_t)round % (sizeof line - 1);
        for (size_t i = 0; i < length; i++)
            line[i] = letters[((seed = seed * 1103515245 + 12345) >> 16) % (sizeof letters - 1)];
        line[length] = '\0';
        if (words_split(line, &words, why, sizeof why) == 0) {
            ck_assert_int_le(words.count, (int)(length + 1) / 2);
            words_free(&words);
        } else {
            ck_assert(strncmp(why, "unmatched ", 10) == 0);
        }
        const char *script = line, *start;
        long taken, total = 0;
        while ((taken = script_next(&script, &start)) >= 0) {
            ck_assert(start >= line && start + taken <= line + length && script > start);
            total += taken;
        }
        ck_assert_int_le(total, (long)length);
    }
}
END_TEST

START_TEST(scripts_are_cut_at_semicolons_and_newlines)
{
    static const char script[] = "add h2; conf\n\necho 'a;b' \"c\nd\" e\\;f # not; this\nid;";
    static const char *const commands[] = {"add h2", " conf", "", "echo 'a;b' \"c\nd\" e\\;f # not; this", "id"};
    const char *rest = script, *start;

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        long length = script_next(&rest, &start);
        ck_assert_int_eq(length, (long)strlen(commands[i]));
        ck_assert(strncmp(start, commands[i], (size_t)length) == 0);
    }
    ck_assert_int_eq(script_next(&rest, &start), -1);
}
END_TEST

START_TEST(words_are_joined_with_blanks)
{
    char *words[] = {(char *)"a", (char *)"", (char *)"b  c"};
    char *text = words_join(3, words);
    ck_assert_str_eq(text, "a  b  c");
    free(text);
    text = words_join(0, words);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

UNIT_MAIN("console_parse", lines_are_split_as_ever, what_is_open_is_refused, limits, quoted_words_come_back,
          anything_can_be_split, scripts_are_cut_at_semicolons_and_newlines, words_are_joined_with_blanks)
