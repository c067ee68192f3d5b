/*
 * output - the children's output reaches the collector line by line, complete, and before pvm_exit returns: output
 * [HOSTS].
 */
#include "tests/machine/runner/check.h"

enum { TASKS = 4, LINES = 300, LONG_LINE = 20000 };

static void writer(int argc, char **argv)
{
    (void)argc, (void)argv;
    int me = pvm_mytid();
    for (int i = 0; i < LINES; i++)
        fprintf(i % 2 ? stdout : stderr, "line %d of %x\n", i, me);
    for (int i = 0; i < LONG_LINE; i++)
        putchar('a' + i % 26);
    printf("\nno newline at the end");
}

static void silent(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_mytid();
    int collector = pvm_getopt(PvmOutputTid);
    CHECK_EQ(collector, pvm_parent());
    CHECK_EQ(pvm_setopt(PvmOutputTid, 0), collector); /* as the group library does around its own spawn */
    CHECK_EQ(pvm_setopt(PvmOutputTid, collector), 0);
    CHECK_EQ(pvm_getopt(PvmOutputTid), collector);
}

/* Expected output of one task, its lines in order; other tasks' lines may come in between. */
struct expected {
    int tid, lines, long_bytes, begin, end, tail;
};

static void check_line(struct expected *e, const char *text)
{
    int number, tid;
    CHECK(!e->end);
    if (strcmp(text, "BEGIN") == 0) {
        CHECK(!e->begin && e->lines == 0);
        e->begin = 1;
    } else if (strcmp(text, "EOF") == 0) {
        e->end = 1;
    } else if (strcmp(text, "no newline at the end") == 0) {
        e->tail = 1;
    } else if (sscanf(text, "line %d of %x", &number, (unsigned *)&tid) == 2) {
        CHECK_EQ(number, e->lines++);
        CHECK_EQ(tid, e->tid);
    } else { /* the long line may arrive in several pieces */
        for (; *text; text++)
            CHECK_EQ(*text, 'a' + e->long_bytes++ % 26);
    }
}

static void check_collected(FILE *file, struct expected *all, int n)
{
    static char line[LONG_LINE + 100];
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        int tid, at = 0, i = 0;
        line[strcspn(line, "\n")] = '\0';
        CHECK_EQ(sscanf(line, "[t%x] %n", (unsigned *)&tid, &at), 1);
        while (i < n && all[i].tid != tid)
            i++;
        CHECK(i < n);
        check_line(&all[i], line + at);
    }
    for (int i = 0; i < n; i++) {
        CHECK(all[i].begin && all[i].end);
        if (i == TASKS)
            continue; /* the silent one */
        CHECK_EQ(all[i].lines, LINES);
        CHECK_EQ(all[i].long_bytes, LONG_LINE);
        CHECK(all[i].tail);
    }
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    FILE *file = tmpfile();
    CHECK(file != NULL);
    CHECK_EQ(pvm_catchout(file), 0);
    struct expected all[TASKS + 1] = {0};
    for (int i = 0; i < TASKS; i++)
        check_spawn("writer", NULL, check_host_name(i % hosts), 1, &all[i].tid);
    check_spawn("silent", NULL, NULL, 1, &all[TASKS].tid);
    CHECK_EQ(pvm_exit(), 0); /* waits for the rest of the output */
    check_collected(file, all, TASKS + 1);
    fclose(file);
}

static const struct check_role roles[] = {{"writer", writer}, {"silent", silent}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
