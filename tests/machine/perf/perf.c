/*
 * perf - pvm-perf measures, compares contents, prints valid JSON, reports errors, and leaves nothing behind: perf
 * PVM-PERF WHAT HOSTS, WHAT being pairs, crowd or ends.
 */
#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"

static const char *tool;

/* ---- running the tool ---- */

enum { WORDS_MAX = 32, OUTPUT_MAX = 1 << 20 };

struct tool_run {
    pid_t pid;
    FILE *out;
};

/* Starts "pvm-perf WORDS": words are separated by blanks. Its stderr goes to the same place as its stdout if asked. */
static struct tool_run start(const char *words, int with_stderr)
{
    char copy[512], *argv[WORDS_MAX] = {(char *)tool};
    int n = 1, ends[2];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest, *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    CHECK(pipe(ends) == 0);
    struct tool_run r = {.pid = fork()};
    if (r.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (with_stderr)
            dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(tool, argv);
        _exit(127);
    }
    close(ends[1]);
    r.out = fdopen(ends[0], "r");
    CHECK(r.pid > 0 && r.out);
    return r;
}

/* Reads all its output; returns its wait status. */
static int finish(struct tool_run *r, char *text)
{
    int status;
    size_t n = fread(text, 1, OUTPUT_MAX - 1, r->out);
    text[n] = '\0';
    fclose(r->out);
    CHECK_EQ(waitpid(r->pid, &status, 0), r->pid);
    return status;
}

static void expect(const char *words, int code, const char *message)
{
    static char text[OUTPUT_MAX];
    struct tool_run r = start(words, 1);
    int status = finish(&r, text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || !strstr(text, message))
        printf("pvm-perf %s: status 0x%x, said \"%s\"\n", words, status, text);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), code);
    CHECK(strstr(text, message) != NULL);
}

static json_t *measure(const char *words)
{
    static char text[OUTPUT_MAX];
    json_error_t error;
    struct tool_run r = start(words, 0);
    int status = finish(&r, text);
    json_t *all = json_loads(text, 0, &error);
    if (status != 0 || !all)
        printf("pvm-perf %s: status 0x%x, said \"%s\"\n", words, status, text);
    CHECK_EQ(status, 0);
    CHECK(all != NULL);
    return all;
}

/* ---- its output ---- */

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        check_failed(__FILE__, __LINE__, "there is no number \"%s\"", key);
    return json_number_value(value);
}

static void check_point(const json_t *point, int verified)
{
    CHECK(number(point, "min_us") > 0);
    CHECK(number(point, "first_us") > 0);
    CHECK(number(point, "median_us") >= number(point, "min_us"));
    CHECK(number(point, "p99_us") >= number(point, "median_us"));
    CHECK(number(point, "samples") >= 1 && number(point, "rounds") >= 1);
    CHECK(verified ? number(point, "verified") > 0 : number(point, "verified") == 0);
}

/* Measures, and checks that there are so many series of so many points. */
static json_t *check_measure(const char *words, size_t series_count, size_t points_count, int verified)
{
    json_t *all = measure(words), *list = json_object_get(all, "series");
    CHECK_EQ(json_array_size(list), series_count);
    for (size_t i = 0; i < series_count; i++) {
        const json_t *points = json_object_get(json_array_get(list, i), "points");
        CHECK_EQ(json_array_size(points), points_count);
        for (size_t j = 0; j < points_count; j++)
            check_point(json_array_get(points, j), verified);
    }
    return all;
}

static void check_only(const char *words, size_t series_count, size_t points_count, int verified)
{
    json_decref(check_measure(words, series_count, points_count, verified));
}

/* Bandwidth, time and size of a ping-pong belong together. */
static void check_figures(const char *words)
{
    json_t *all = check_measure(words, 1, 3, 1), *series = json_array_get(json_object_get(all, "series"), 0);
    const json_t *points = json_object_get(series, "points");
    static const int bytes[] = {16, 64, 256};
    double best = 0;
    for (size_t i = 0; i < 3; i++) {
        const json_t *point = json_array_get(points, i);
        double mbs = number(point, "bytes") / number(point, "median_us");
        CHECK_EQ(number(point, "bytes"), bytes[i]);
        CHECK(number(point, "mbs") > 0.99 * mbs && number(point, "mbs") < 1.01 * mbs);
        best = mbs > best ? mbs : best;
    }
    CHECK(number(series, "r_max_mbs") > 0.99 * best && number(series, "r_max_mbs") < 1.01 * best);
    CHECK_EQ(number(series, "t0_bytes"), 16);
    CHECK(number(series, "t0_us") > 0);
    json_decref(all);
}

/* A requested transport is used, and the tool says so. */
static void check_link(const char *words, const char *transport)
{
    json_t *all = check_measure(words, 1, 1, 1), *link;
    link = json_object_get(json_array_get(json_object_get(all, "series"), 0), "link");
    CHECK_TEXT(json_string_value(json_object_get(link, "routes")), transport);
    CHECK(number(link, strcmp(transport, "daemon") == 0 ? "daemon_frames" : "direct_frames") > 10);
    json_decref(all);
}

/* ---- what is tested ---- */

static char hosts[256]; /* "-H ..." for all hosts but the first, or "" */

static const char *with_hosts(const char *words)
{
    static char text[512];
    snprintf(text, sizeof text, "%s %s", words, hosts);
    return text;
}

static void test_pairs(void)
{
    check_figures(with_hosts("lat -j -r 5 -s 16..256*4"));
    check_only(with_hosts("lat -j -r 5 -s 0,1,7,1000,100000 -e all"), 4, 5, 1);
    check_only(with_hosts("lat -j -r 3 -s 8,70000 -e all --verify=all"), 4, 2, 1);
    check_only(with_hosts("lat -j -r 3 -s 8 --verify=none"), 1, 1, 0);
    check_only(with_hosts("lat -j -r 3 -s 8,5000 -t daemon,auto"), 2, 2, 1);
    check_link(with_hosts("lat -j -r 20 -s 8 -t daemon"), "daemon");
    check_link(with_hosts("lat -j -r 20 -s 8 -t tcp"), "tcp");
    check_only(with_hosts("bw -j -r 2 -s 8,300k -e raw,psend --verify=all"), 2, 2, 1);
    check_only(with_hosts("bibw -j -r 2 -s 8,300k -e default,inplace --verify=all"), 2, 2, 1);
    check_only(with_hosts("rate -j -r 2 -e raw,psend"), 2, 1, 1);
    check_only(with_hosts("match -j -r 2 -q 0,500"), 1, 2, 1);
}

/* Any number of tasks works, and the first rounds are told from the later ones. */
static void check_many(const char *words)
{
    json_t *all = check_measure(words, 1, 1, strncmp(words, "barrier", 7) != 0);
    const json_t *series = json_array_get(json_object_get(all, "series"), 0);
    const json_t *point = json_array_get(json_object_get(series, "points"), 0);
    CHECK_EQ(number(point, "tasks"), 33);
    CHECK(number(point, "warmup_us") > 0);
    json_decref(all);
}

static void test_crowd(void)
{
    check_many(with_hosts("barrier -j -r 3 -n 33"));
    check_many(with_hosts("alltoall -j -r 3 -n 33 -s 8 --verify=all"));
    check_many(with_hosts("ring -j -r 3 -n 33 -s 1000 --verify=all"));
    check_only(with_hosts("mcast -j -r 3 -n 1,3 -s 8,70000 --verify=all"), 1, 4, 1);
    check_only(with_hosts("ring -j -r 3 -n 2,5 -s 8,70000 -e raw,psend"), 2, 4, 1);
    check_only(with_hosts("alltoall -j -r 3 -n 3 -s 8,70000 --verify=all"), 1, 2, 1);
    check_only(with_hosts("barrier -j -r 3 -n 2,4"), 1, 2, 0);
    check_only(with_hosts("spawn -j -r 2 -w 0 -n 1,4"), 1, 2, 0);
}

/* Tasks of the machine besides this one and the group server. */
static int other_tasks(int *tid)
{
    struct pvmtaskinfo *tasks;
    int n, others = 0;
    CHECK_EQ(pvm_tasks(0, &n, &tasks), 0);
    for (int i = 0; i < n; i++)
        if (tasks[i].ti_tid != pvm_mytid() && !strstr(tasks[i].ti_a_out, "pvmgs")) {
            *tid = tasks[i].ti_tid; /* the last one is the youngest */
            others++;
        }
    return others;
}

static void wait_for_tasks(int wanted, int *tid)
{
    for (double end = check_now() + check_limit_s(); other_tasks(tid) != wanted; check_sleep_ms(20))
        CHECK(check_now() < end);
}

/* Interrupts it; it must end by itself with `status`, and its tasks, too. */
static void test_interrupted(int signal, int kill_member, const char *message)
{
    static char text[OUTPUT_MAX];
    int tid;
    struct tool_run r = start("lat -d 600 -s 8", 1);
    wait_for_tasks(3, &tid);
    check_sleep_ms(200);
    if (kill_member)
        CHECK(kill(check_pid_of(tid), SIGKILL) == 0);
    else
        CHECK(kill(r.pid, signal) == 0);
    int status = finish(&r, text);
    if (kill_member ? WIFSIGNALED(status) : !WIFSIGNALED(status))
        printf("pvm-perf ended with status 0x%x, said \"%s\"\n", status, text);
    if (kill_member)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    else
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    if (!strstr(text, message))
        printf("pvm-perf said \"%s\"\n", text);
    CHECK(strstr(text, message) != NULL);
    wait_for_tasks(0, &tid);
}

/* However many samples come, it measures for as long as it was told. */
static void test_duration(void)
{
    double start = check_now();
    expect("lat -d 3 -s 8", 0, "");
    CHECK(check_now() - start >= 3);
}

/* Times of a part in a text. */
static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* One curve for each column, and each point in its curve. */
static void test_picture(void)
{
    static char text[OUTPUT_MAX];
    char words[512], path[256];
    snprintf(path, sizeof path, "%s/curves.svg", getenv("PVM_TMP"));
    snprintf(words, sizeof words, "lat -s 4..64 -d 0.01 -t daemon,shm --svg %s", path);
    expect(words, 0, "");
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    CHECK(strstr(text, "</svg>") != NULL);
    CHECK_EQ(count(text, "<g id=\"gnuplot_plot_"), 2);
    CHECK_EQ(count(text, "<title>daemon raw</title>"), 1);
    CHECK_EQ(count(text, "<title>shm raw</title>"), 1);
    CHECK_EQ(count(text, "<use xlink:href='#gpPt6' transform"), 5 + 1); /* and one in the key */
    CHECK_EQ(count(text, "<use xlink:href='#gpPt4' transform"), 5 + 1);
    expect("lat --svg /no/such/folder/file.svg", 1, "cannot write /no/such/folder/file.svg");
}

static void test_ends(void)
{
    test_duration();
    test_picture();
    expect("", 2, "which TEST");
    expect("fast", 2, "no such test");
    expect("lat bw", 2, "one TEST at a time");
    expect("lat -s 8..4", 2, "not a list of numbers");
    expect("lat -s 2G", 2, "not a list of numbers");
    expect("lat -s 1..10+0", 2, "not a list of numbers");
    expect("lat -e fast", 2, "not one of default, raw, inplace, psend");
    expect("lat -r 0", 2, "not a number from 1");
    expect("lat -d never", 2, "not a time in seconds");
    expect("lat --verify=some", 2, "not one of none, sample, all");
    expect("spawn -s 8", 2, "has no --sizes");
    expect("mcast -e psend", 2, "pvm_mcast sends a packed buffer");
    expect("ring -n 1", 2, "at least 2");
    expect("barrier -n 1", 2, "at least 2");
    expect("barrier -n many", 2, "not a list of numbers from 1 to 4095");
    expect("barrier -n 4096", 2, "not a list of numbers from 1 to 4095");
    expect("barrier -s 8", 2, "has no --sizes");
    expect("lat -H no.such.host", 1, "host no.such.host is not part of the virtual machine");
    test_interrupted(SIGINT, 0, "");
    test_interrupted(SIGTERM, 0, "");
    test_interrupted(SIGKILL, 0, "");
    test_interrupted(0, 1, "has ended unexpectedly");
    setenv("PVM_VMID", "nobody", 1);
    expect("lat", 1, "no daemon runs here");
    unsetenv("PVM_VMID");
}

static void master(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: perf PVM-PERF pairs|crowd|ends HOSTS\n");
        exit(2);
    }
    tool = argv[1];
    int count = atoi(argv[3]);
    check_hosts(count);
    for (int i = 1; i < count; i++)
        snprintf(hosts + strlen(hosts), sizeof hosts - strlen(hosts), "%s%s", i > 1 ? "," : "-H ", check_host_name(i));
    if (strcmp(argv[2], "pairs") == 0)
        test_pairs();
    else if (strcmp(argv[2], "crowd") == 0)
        test_crowd();
    else
        test_ends();
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, (const struct check_role[]){{NULL, NULL}});
}
