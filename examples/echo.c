/*
 * echo - latency and bandwidth between two tasks, as a table over message sizes.
 *
 * The child sends every message back. A row shows half the round-trip time in microseconds, minimum and median, with
 * packing and unpacking at both ends, and the bandwidth in 10^6 bytes per second. The first round of each size checks
 * that the bytes come back unchanged.
 *
 * Shows   encodings, pvm_psend and pvm_precv, pvm_setopt(PvmRoute), placing a task on a host, measuring.
 * Build   cc -O2 -o echo echo.c $(pkg-config --cflags --libs pvm3)
 * Run     ./echo                          to a task on this host, packed in PvmDataRaw, 1 byte to 1 MiB
 *         ./echo -t otherhost -r direct   to a task on otherhost, over a direct route
 *         ./echo -e psend -m 16777216     up to 16 MiB with pvm_psend and pvm_precv
 *         ./echo -s 0,1,100000            these sizes
 * Prints  the table. Exit code 1 if a message came back changed or the child died.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_SETUP = 1, TAG_DATA, TAG_DIED };
enum { MODE_DEFAULT = PvmDataDefault, MODE_RAW = PvmDataRaw, MODE_INPLACE = PvmDataInPlace, MODE_PSEND };

static struct {
    int mode;
    int route;
    int max_bytes;
    int repeats;
    char *host;
    char *sizes; /* NULL: powers of 4 up to max_bytes */
} options = {MODE_RAW, PvmAllowDirect, 1 << 20, 0, NULL, NULL};

static const struct argp_option option_table[] = {
    {"encoding", 'e', "NAME", 0, "default, raw (default), inplace or psend", 0},
    {"route", 'r', "NAME", 0, "daemon, direct, or allow (default: as the other side asks)", 0},
    {"max", 'm', "BYTES", 0, "largest message (1048576)", 0},
    {"repeats", 'n', "COUNT", 0, "round trips per size; default: 1000, fewer for large messages", 0},
    {"sizes", 's', "LIST", 0, "bytes of the messages, with commas", 0},
    {"to", 't', "HOST", 0, "where the child runs (this host)", 0},
    {0},
};

/* Index of `word` in the NULL-terminated list; ends the program if it is not in the list. */
static int choice(struct argp_state *state, const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    argp_error(state, "\"%s\" is not one of the choices; see --help", word);
    return 0;
}

static int positive(struct argp_state *state, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != '\0' || value < 1 || value > 1 << 30)
        argp_error(state, "\"%s\" is not a number from 1 to %d", text, 1 << 30);
    return (int)value;
}

/* Sizes are numbers of bytes; 0 is one. */
static char *check_sizes(struct argp_state *state, char *text)
{
    for (const char *at = text; *at;) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0') || value < 0 || value > 1 << 30)
            argp_error(state, "\"%s\": give numbers of bytes with commas, such as 0,1,1024", text);
        at = *end ? end + 1 : end;
    }
    return text;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const modes[] = {"default", "raw", "inplace", "psend", NULL};
    static const char *const routes[] = {"daemon", "allow", "direct", NULL};

    switch (key) {
    case 'e':
        options.mode = MODE_DEFAULT + choice(state, text, modes);
        return 0;
    case 'r':
        options.route = PvmDontRoute + choice(state, text, routes);
        return 0;
    case 'm':
        options.max_bytes = positive(state, text);
        return 0;
    case 'n':
        options.repeats = positive(state, text);
        return 0;
    case 's':
        options.sizes = check_sizes(state, text);
        return 0;
    case 't':
        options.host = text;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {option_table, parse_option, NULL, "Latency and bandwidth between two tasks.",
                                   NULL,         NULL,         NULL};

/* Whole numbers: a difference of two does not depend on when the computer was started. */
static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int put(int tid, int mode, char *data, int bytes)
{
    if (mode == MODE_PSEND)
        return pvm_psend(tid, TAG_DATA, data, bytes, PVM_BYTE);
    pvm_initsend(mode);
    pvm_pkbyte(data, bytes, 1);
    return pvm_send(tid, TAG_DATA);
}

static int get(int tid, int mode, char *data, int bytes)
{
    if (mode == MODE_PSEND)
        return pvm_precv(tid, TAG_DATA, data, bytes, PVM_BYTE, NULL, NULL, NULL);
    if (pvm_recv(tid, TAG_DATA) < 0)
        return -1;
    return pvm_upkbyte(data, bytes, 1);
}

/* A message handler: it is called from within any PVM call that waits. */
static int other_died(int mid)
{
    (void)mid;
    fprintf(stderr, "echo: the other task died\n");
    exit(1);
}

/* Ends this program when `tid` ends, until pvm_delmhf() is called with the result. */
static int end_with(int tid)
{
    int handler = pvm_addmhf(-1, TAG_DIED, -1, other_died);

    pvm_notify(PvmTaskExit, TAG_DIED, 1, &tid);
    return handler;
}

/* The child: for each setup message from the parent sends `rounds` messages back; rounds 0 ends it. */
static int serve(int parent)
{
    int setup[4]; /* mode, route, bytes, rounds */
    int handler = end_with(parent);

    for (;;) {
        char *data;
        pvm_recv(parent, TAG_SETUP);
        pvm_upkint(setup, 4, 1);
        if (setup[3] == 0)
            break;
        pvm_setopt(PvmRoute, setup[1]);
        data = malloc(setup[2] + 1); /* messages may be empty */
        if (!data)
            break;
        for (int i = 0; i < setup[3]; i++) {
            get(parent, setup[0], data, setup[2]);
            put(parent, setup[0], data, setup[2]);
        }
        free(data);
    }
    pvm_delmhf(handler);
    pvm_exit();
    return 0;
}

static void announce(int child, int bytes, int rounds)
{
    int setup[4] = {options.mode, options.route, bytes, rounds};

    pvm_initsend(PvmDataDefault);
    pvm_pkint(setup, 4, 1);
    pvm_send(child, TAG_SETUP);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Measures and prints one row of the table: 0, or -1 if the bytes came back changed. */
static int measure(int child, int bytes)
{
    int rounds = options.repeats ? options.repeats : bytes <= 65536 ? 1000 : bytes <= 1 << 20 ? 100 : 20;
    double *times_us = malloc(rounds * sizeof *times_us), median_us;
    long long start_ns;
    char *data = malloc(bytes + 1), *back = malloc(bytes + 1);
    int changed;

    if (!times_us || !data || !back) {
        fprintf(stderr, "echo: no memory for messages of %d bytes\n", bytes);
        exit(1);
    }
    for (int i = 0; i < bytes; i++)
        data[i] = (char)(i * 31 + bytes);
    announce(child, bytes, rounds + 1);
    put(child, options.mode, data, bytes);
    get(child, options.mode, back, bytes);
    changed = memcmp(data, back, bytes) != 0;
    for (int i = 0; i < rounds; i++) {
        start_ns = now_ns();
        put(child, options.mode, data, bytes);
        get(child, options.mode, back, bytes);
        times_us[i] = (now_ns() - start_ns) / 2e3;
    }
    qsort(times_us, rounds, sizeof *times_us, by_value);
    median_us = times_us[rounds / 2];
    printf("%10d %12.2f %12.2f %12.2f %s\n", bytes, times_us[0], median_us, bytes / median_us,
           changed ? "CHANGED" : "");
    free(times_us);
    free(data);
    free(back);
    return changed ? -1 : 0;
}

/* Measures all sizes: 0, or -1 if bytes came back changed. */
static int measure_all(int child)
{
    char *rest = options.sizes, *size;
    int status = 0;

    printf("%10s %12s %12s %12s\n", "bytes", "minimum us", "median us", "10^6 byte/s");
    while (rest && (size = strsep(&rest, ",")))
        status |= measure(child, atoi(size));
    for (int bytes = 1; !options.sizes && bytes <= options.max_bytes && bytes > 0; bytes *= 4)
        status |= measure(child, bytes);
    return status;
}

static int spawn_child(int *child)
{
    char path[4096] = "";

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    if (pvm_spawn(path, NULL, PvmTaskHost, options.host ? options.host : ".", 1, child) == 1)
        return 0;
    fprintf(stderr, "echo: cannot start %s on %s: %s\n", path, options.host ? options.host : "this host",
            pvm_errlist[-*child]);
    return -1;
}

int main(int argc, char **argv)
{
    int child, parent, handler, status;

    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (pvm_mytid() < 0)
        return 1;
    parent = pvm_parent();
    if (parent > 0)
        return serve(parent);
    if (spawn_child(&child) < 0) {
        pvm_exit();
        return 1;
    }
    handler = end_with(child);
    pvm_setopt(PvmRoute, options.route);
    status = measure_all(child);
    pvm_delmhf(handler);
    announce(child, 0, 0);
    pvm_recv(-1, TAG_DIED); /* the child has left, so our exit does not look like a crash to it */
    pvm_exit();
    return status ? 1 : 0;
}
