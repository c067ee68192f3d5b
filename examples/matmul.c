/*
 * matmul - dense matrix product C = A B on a mesh of p x p tasks, checked against a serial product.
 *
 * The 2-D scheme of the ATM LAN papers: A is cut into p stripes of rows, B into p stripes of columns. The master sends
 * stripe i of A to task (i,0) and stripe j of B to task (0,j). The left column sends its stripes along the rows, the
 * top row sends its stripes down the columns. Task (i,j) then computes block (i,j) of C and sends it to the master.
 *
 *             B0    B1               each task receives 2 n^2/p numbers
 *              |     |               and computes 2 n^3/p^2 operations
 *       A0 - (0,0)-(0,1)
 *              |     |
 *       A1 - (1,0)-(1,1)
 *
 * Shows   a mesh of tasks, pvm_mcast to a row or column, blocks of a matrix in messages, ending all tasks if one dies.
 * Build   cc -O2 -o matmul matmul.c $(pkg-config --cflags --libs pvm3) -lm
 * Run     ./matmul -p 2 -n 128      4 tasks, 128 x 128 numbers; -r 10: ten times
 *         ./matmul --local          as in the papers' tables: the left column and the top row have their stripes
 *                                   already, and only sending them on, computing and collecting C take time
 *         ./matmul --alone          without PVM: the serial product, for comparison
 * Prints  times, speedup and the largest difference. Exit code 1 if the product is wrong or a task died.
 */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_MESH = 1, TAG_A, TAG_B, TAG_C, TAG_START, TAG_DIED };
enum { MESH_MAX = 32, SIZE_MAX_N = 16384, REPEATS_MAX = 100000 };

static struct {
    int p;
    int n;
    int repeats;
    int local; /* the left column and the top row make their stripes themselves */
    int alone;
} options = {2, 256, 1, 0, 0};

static const struct argp_option option_table[] = {
    {"mesh", 'p', "P", 0, "P x P tasks (2)", 0},
    {"size", 'n', "N", 0, "N x N matrices (256)", 0},
    {"repeats", 'r', "R", 0, "R products, one after the other (1)", 0},
    {"local", 'l', NULL, 0, "The left column and the top row have A and B already", 0},
    {"alone", 'a', NULL, 0, "Only the serial product, without PVM", 0},
    {0},
};

static int number(struct argp_state *state, const char *text, int max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != '\0' || value < 1 || value > max)
        argp_error(state, "\"%s\" is not a number from 1 to %d", text, max);
    return (int)value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'p':
        options.p = number(state, text, MESH_MAX);
        return 0;
    case 'n':
        options.n = number(state, text, SIZE_MAX_N);
        return 0;
    case 'r':
        options.repeats = number(state, text, REPEATS_MAX);
        return 0;
    case 'l':
        options.local = 1;
        return 0;
    case 'a':
        options.alone = 1;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
        break;
    case ARGP_KEY_END:
        if (options.p > options.n)
            argp_error(state, "a mesh of %d x %d tasks needs matrices of at least that size", options.p, options.p);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {option_table, parse_option, NULL, "Matrix product on a mesh of tasks.",
                                   NULL,         NULL,         NULL};

/* First row (or column) of stripe k of p; stripes differ by at most one row. */
static int first(int k, int p, int n)
{
    return (int)((long)k * n / p);
}

static double *matrix(int rows, int columns)
{
    double *m = calloc((size_t)rows * columns, sizeof *m);

    if (!m) {
        fprintf(stderr, "matmul: no memory for %d x %d numbers\n", rows, columns);
        exit(1);
    }
    return m;
}

/* The numbers of A and B, which are n x n. */
static double a_at(int n, int row, int column)
{
    return sin((double)row * n + column);
}

static double b_at(int n, int row, int column)
{
    return cos((double)row * n + column);
}

static void fill(double *m, double (*at)(int, int, int), int n, int top, int rows, int left, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            m[(size_t)i * columns + j] = at(n, top + i, left + j);
}

/*
 * c = a b, where a is rows x n, b is n x columns and c is rows x columns, all stored by rows. Each column of b is
 * copied first: in place, its elements would share a few lines of the cache when a row has 2^k bytes. So the plain
 * loops need the same time for each of the products in them, and the speedup of p x p tasks shows what their messages
 * cost.
 */
static void multiply(const double *a, const double *b, double *c, int rows, int n, int columns)
{
    double *column = matrix(n, 1);
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < n; k++)
            column[k] = b[(size_t)k * columns + j];
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[(size_t)i * n + k] * column[k];
            c[(size_t)i * columns + j] = sum;
        }
    }
    free(column);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- a task of the mesh ---- */

struct mesh {
    int p, n, repeats, local;
    int i, j; /* our row and column */
    int tids[MESH_MAX * MESH_MAX];
};

static int parent_died(int mid)
{
    (void)mid;
    exit(1);
}

static void learn_mesh(struct mesh *mesh, int parent)
{
    int me = pvm_mytid(), place = 0;

    pvm_recv(parent, TAG_MESH);
    pvm_upkint(&mesh->p, 1, 1);
    pvm_upkint(&mesh->n, 1, 1);
    pvm_upkint(&mesh->repeats, 1, 1);
    pvm_upkint(&mesh->local, 1, 1);
    pvm_upkint(mesh->tids, mesh->p * mesh->p, 1);
    while (mesh->tids[place] != me)
        place++;
    mesh->i = place / mesh->p;
    mesh->j = place % mesh->p;
}

/* Receives `count` numbers from `from`, if any; the head of a row or column forwards them to the `others` tasks. */
static void take_stripe(double *stripe, int count, int from, int tag, int *others, int n_others)
{
    if (from) {
        pvm_recv(from, tag);
        pvm_upkdouble(stripe, count, 1);
    }
    if (n_others > 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(stripe, count, 1);
        pvm_mcast(others, n_others, tag);
    }
}

static void send_block(struct mesh *m, int parent, double *c, int count)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&m->i, 1, 1);
    pvm_pkint(&m->j, 1, 1);
    pvm_pkdouble(c, count, 1);
    pvm_send(parent, TAG_C);
}

/* All tasks begin a product together: with --local nothing else would tell them that the master is ready. */
static void await_start(struct mesh *m, int parent)
{
    if (m->local)
        pvm_recv(parent, TAG_START);
}

static int work(int parent)
{
    static struct mesh m;
    int row[MESH_MAX], column[MESH_MAX], rows, columns, handler, source;
    double *a, *b, *c;

    handler = pvm_addmhf(-1, TAG_DIED, -1, parent_died);
    pvm_notify(PvmTaskExit, TAG_DIED, 1, &parent);
    learn_mesh(&m, parent);
    for (int k = 0; k < m.p; k++) {
        row[k] = m.tids[m.i * m.p + k];
        column[k] = m.tids[k * m.p + m.j];
    }
    rows = first(m.i + 1, m.p, m.n) - first(m.i, m.p, m.n);
    columns = first(m.j + 1, m.p, m.n) - first(m.j, m.p, m.n);
    a = matrix(rows, m.n);
    b = matrix(m.n, columns);
    c = matrix(rows, columns);
    source = m.local ? 0 : parent;
    if (m.local && m.j == 0)
        fill(a, a_at, m.n, first(m.i, m.p, m.n), rows, 0, m.n);
    if (m.local && m.i == 0)
        fill(b, b_at, m.n, 0, m.n, first(m.j, m.p, m.n), columns);

    for (int k = 0; k < m.repeats; k++) {
        await_start(&m, parent);
        take_stripe(a, rows * m.n, m.j == 0 ? source : row[0], TAG_A, row + 1, m.j == 0 ? m.p - 1 : 0);
        take_stripe(b, m.n * columns, m.i == 0 ? source : column[0], TAG_B, column + 1, m.i == 0 ? m.p - 1 : 0);
        multiply(a, b, c, rows, m.n, columns);
        if (k == m.repeats - 1)
            pvm_delmhf(handler);
        send_block(&m, parent, c, rows * columns);
    }
    pvm_exit();
    free(a);
    free(b);
    free(c);
    return 0;
}

/* ---- the master ---- */

static void end_all(const int *tids, int count)
{
    for (int k = 0; k < count; k++)
        if (tids[k] > 0)
            pvm_kill(tids[k]);
}

static int start_mesh(int *tids)
{
    char path[4096] = "";
    int count = options.p * options.p, started;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    started = pvm_spawn(path, NULL, PvmTaskDefault, "", count, tids);
    if (started == count)
        return 0;
    fprintf(stderr, "matmul: %d of %d tasks started: %s\n", started < 0 ? 0 : started, count,
            pvm_errlist[started < 0 ? -started : -tids[count - 1]]);
    end_all(tids, started);
    return -1;
}

static void tell_mesh(int *tids)
{
    int count = options.p * options.p;

    pvm_initsend(PvmDataDefault);
    pvm_pkint(&options.p, 1, 1);
    pvm_pkint(&options.n, 1, 1);
    pvm_pkint(&options.repeats, 1, 1);
    pvm_pkint(&options.local, 1, 1);
    pvm_pkint(tids, count, 1);
    pvm_mcast(tids, count, TAG_MESH);
}

static void deal_stripes(int *tids, double *a, double *b)
{
    int p = options.p, n = options.n;

    for (int k = 0; k < p; k++) {
        int begin = first(k, p, n), width = first(k + 1, p, n) - begin;
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(a + (size_t)begin * n, width * n, 1);
        pvm_send(tids[k * p], TAG_A);
        pvm_initsend(PvmDataDefault);
        for (int row = 0; row < n; row++)
            pvm_pkdouble(b + (size_t)row * n + begin, width, 1);
        pvm_send(tids[k], TAG_B);
    }
}

/* Receives the blocks into c: 0, or -1 if a task died before its block arrived. */
static int collect_blocks(double *c)
{
    int p = options.p, n = options.n, missing = p * p, exits = 0;

    while (missing > 0) {
        int i, j, tag, mid = pvm_recv(-1, -1);
        pvm_bufinfo(mid, NULL, &tag, NULL);
        if (tag == TAG_DIED) {
            if (++exits > p * p - missing)
                return -1;
            continue;
        }
        pvm_upkint(&i, 1, 1);
        pvm_upkint(&j, 1, 1);
        for (int row = first(i, p, n); row < first(i + 1, p, n); row++)
            pvm_upkdouble(c + (size_t)row * n + first(j, p, n), first(j + 1, p, n) - first(j, p, n), 1);
        missing--;
    }
    return 0;
}

static double largest_difference(const double *x, const double *y, size_t count)
{
    double largest = 0;

    for (size_t k = 0; k < count; k++) {
        double difference = fabs(x[k] - y[k]);
        if (!(difference <= largest)) /* also for a NaN */
            largest = difference;
    }
    return largest;
}

static void begin_product(int *tids, double *a, double *b)
{
    if (!options.local) {
        deal_stripes(tids, a, b);
        return;
    }
    pvm_initsend(PvmDataDefault);
    pvm_mcast(tids, options.p * options.p, TAG_START);
}

static double shorter(double a_s, double b_s)
{
    return a_s == 0 || b_s < a_s ? b_s : a_s;
}

/* Computes c = a b on the mesh. The mean time in seconds, or -1. Other programs on the computers make some times
 * longer, so the shortest is of interest, too. */
static double multiply_on_mesh(double *a, double *b, double *c, double *shortest_s)
{
    int tids[MESH_MAX * MESH_MAX], count = options.p * options.p;
    double start_s, one_s;

    if (start_mesh(tids) < 0)
        return -1;
    pvm_notify(PvmTaskExit, TAG_DIED, count, tids);
    start_s = now_s();
    tell_mesh(tids);
    for (int k = 0; k < options.repeats; k++) {
        one_s = now_s();
        begin_product(tids, a, b);
        if (collect_blocks(c) < 0) {
            fprintf(stderr, "matmul: a task died before its block was done\n");
            end_all(tids, count);
            return -1;
        }
        *shortest_s = shorter(*shortest_s, now_s() - one_s);
    }
    return (now_s() - start_s) / options.repeats;
}

/* The same by one task, as often as the mesh does it. */
static double multiply_alone(const double *a, const double *b, double *c, double *shortest_s)
{
    int n = options.n;
    double start_s = now_s(), one_s;

    for (int k = 0; k < options.repeats; k++) {
        one_s = now_s();
        multiply(a, b, c, n, n, n);
        *shortest_s = shorter(*shortest_s, now_s() - one_s);
    }
    return (now_s() - start_s) / options.repeats;
}

/* Computes the product serially and prints the comparison. Returns the exit code. */
static int check(const double *a, const double *b, const double *c, double mesh_s, double shortest_s)
{
    int n = options.n;
    double *serial = matrix(n, n), alone_s = 0, serial_s = multiply_alone(a, b, serial, &alone_s), difference;

    difference = largest_difference(c, serial, (size_t)n * n);
    free(serial);
    printf("%d x %d on %d x %d tasks: %.4f s, serial %.4f s, speedup %.2f, largest difference %g: %s\n", n, n,
           options.p, options.p, mesh_s, serial_s, serial_s / mesh_s, difference,
           difference <= 1e-12 * n ? "correct" : "WRONG");
    if (options.repeats > 1)
        printf("the shortest of %d: %.4f s, serial %.4f s, speedup %.2f\n", options.repeats, shortest_s, alone_s,
               alone_s / shortest_s);
    return difference <= 1e-12 * n ? 0 : 1;
}

static int run_master(void)
{
    int n = options.n, status = 1;
    double *a = matrix(n, n), *b = matrix(n, n), *c = matrix(n, n), mesh_s, shortest_s = 0;

    fill(a, a_at, n, 0, n, 0, n);
    fill(b, b_at, n, 0, n, 0, n);
    mesh_s = multiply_on_mesh(a, b, c, &shortest_s);
    if (mesh_s >= 0)
        status = check(a, b, c, mesh_s, shortest_s);
    free(a);
    free(b);
    free(c);
    return status;
}

static int run_alone(void)
{
    int n = options.n;
    double *a = matrix(n, n), *b = matrix(n, n), *c = matrix(n, n), shortest_s = 0;

    fill(a, a_at, n, 0, n, 0, n);
    fill(b, b_at, n, 0, n, 0, n);
    printf("%d x %d alone: %.6f s\n", n, n, multiply_alone(a, b, c, &shortest_s));
    free(a);
    free(b);
    free(c);
    return 0;
}

int main(int argc, char **argv)
{
    int parent, status;

    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (options.alone)
        return run_alone();
    if (pvm_mytid() < 0)
        return 1;
    parent = pvm_parent();
    if (parent > 0)
        return work(parent);
    status = run_master();
    pvm_exit();
    return status;
}
