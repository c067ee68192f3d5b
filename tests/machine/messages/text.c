/* text - strings, packf and unpackf, messages inside messages, and the result of unpacking too much. */
#include "tests/machine/runner/check.h"

enum { TAG_IN = 1, TAG_OUT };

/* Sends the current buffer to ourselves: the test is about packing, not about the route. */
static int through_daemon(void)
{
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_IN), 0);
    return check_receive(pvm_mytid(), TAG_IN);
}

static void check_strings(int encoding)
{
    static char longest[100001], got[100001];
    memset(longest, 'x', sizeof longest - 1);
    char empty[8] = "?", text[32] = "";
    CHECK(pvm_initsend(encoding) > 0);
    CHECK_EQ(pvm_pkstr(""), 0);
    CHECK_EQ(pvm_pkstr("a\nb\tc \303\244"), 0);
    CHECK_EQ(pvm_pkstr(longest), 0);
    through_daemon();
    CHECK_EQ(pvm_upkstr(empty), 0);
    CHECK_TEXT(empty, "");
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_TEXT(text, "a\nb\tc \303\244");
    CHECK_EQ(pvm_upkstr(got), 0);
    CHECK(strcmp(got, longest) == 0);
    CHECK_EQ(pvm_upkstr(text), PvmNoData);
}

static void check_packf(void)
{
    int d, many[4] = {1, 2, 3, 4}, few[4] = {0};
    short h;
    long ld;
    unsigned u;
    float f;
    double lf, pair[2] = {1.5, -2.5}, pair_seen[2];
    char c, word[16];
    CHECK(pvm_packf("%+%d%hd%ld%ud%f%lf%c%s%*d%2.2d%lx", PvmDataRaw, -7, 8, 1L << 40, 9u, 0.5, 1e300, 'q', "word", 4,
                    many, many, pair) >= 0);
    through_daemon();
    CHECK(pvm_unpackf("%d%hd%ld%ud%f%lf%c%s%*d", &d, &h, &ld, &u, &f, &lf, &c, word, 4, few) >= 0);
    CHECK(d == -7 && h == 8 && ld == 1L << 40 && u == 9 && f == 0.5f && lf == 1e300 && c == 'q');
    CHECK_TEXT(word, "word");
    CHECK(memcmp(few, many, sizeof many) == 0);
    memset(few, 0, sizeof few);
    CHECK(pvm_unpackf("%2.2d%lx", few, pair_seen) >= 0);
    CHECK(few[0] == 1 && few[1] == 0 && few[2] == 3);
    CHECK(pair_seen[0] == 1.5 && pair_seen[1] == -2.5);
    CHECK_EQ(pvm_packf("%q", 1), PvmBadParam);
}

/* A message packed into another keeps its tag, and is unpacked as a message of its own. */
static void check_nested(int encoding)
{
    int value = 5, inner = pvm_mkbuf(encoding);
    CHECK(inner > 0);
    int old = pvm_setsbuf(inner);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_setsbuf(old), inner); /* otherwise pvm_initsend() would free it */
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkstr("before"), 0);
    CHECK_EQ(pvm_pkmesg(inner), 0);
    CHECK_EQ(pvm_pkstr("after"), 0);
    if (encoding == PvmDataDefault)
        CHECK_EQ(pvm_pkmesgbody(inner), 0);
    CHECK_EQ(pvm_freebuf(inner), 0);
    int outer = through_daemon(), got = 0;
    char text[16];
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_TEXT(text, "before");
    int mid = pvm_upkmesg();
    CHECK(mid > 0);
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK_TEXT(text, "after");
    if (encoding == PvmDataDefault) {
        CHECK_EQ(pvm_upkint(&got, 1, 1), 0);
        CHECK_EQ(got, value);
    }
    CHECK_EQ(pvm_setrbuf(mid), outer);
    CHECK_EQ(pvm_upkint(&got, 1, 1), 0);
    CHECK_EQ(got, value);
    CHECK_EQ(pvm_setrbuf(outer), mid);
    CHECK_EQ(pvm_freebuf(mid), 0);
}

static void check_end_of_data(void)
{
    int three[3] = {1, 2, 3};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(three, 2, 1), 0);
    through_daemon();
    CHECK_EQ(pvm_upkint(three, 3, 1), PvmNoData);
    CHECK_EQ(pvm_upkint(three, 0, 1), 0);
    CHECK_EQ(pvm_upkint(three, -1, 1), PvmBadParam);
    CHECK_EQ(pvm_upkint(three, 1, 1), PvmNoData);
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    check_strings(PvmDataDefault);
    check_strings(PvmDataRaw);
    check_packf();
    check_nested(PvmDataDefault);
    check_nested(PvmDataRaw);
    check_end_of_data();
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, NULL);
}
