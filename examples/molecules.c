/*
 * molecules - molecular dynamics: p tasks, each with a slab of the box, exchange the atoms near their borders.
 *
 * Atoms with a Lennard-Jones potential move in a periodic box, cut into p slabs along x. In each time step every task
 * moves its atoms, hands over those that have left its slab, sends copies of the atoms within the cut-off of each
 * border (the halo) to its two neighbours, and computes the forces on its own atoms. A halo message has 28 bytes per
 * atom near the border: 1 MB with 136 x 136 atoms across the slabs (-n 136), as on the AN2 network.
 *
 *       |  task 0  |  task 1  |  task 2  |
 *       | .  . . <-> . .   . <-> .  .  . |<-> task 0        each way: atoms that moved over, and the halo
 *
 * Shows   spatial decomposition, long messages between neighbours, messages of varying length, a ring of tasks.
 * Build   cc -O2 -o molecules molecules.c $(pkg-config --cflags --libs pvm3) -lm
 * Run     ./molecules -p 3 -n 14 -s 20
 *         ./molecules -p 8 -l 24 -n 136 -s 1      long halos, few atoms
 * Prints  time, that of the exchanges in a step, energy, the longest halo and the largest difference from a serial run.
 *         Exit code 1 if the difference is above 1e-7 or a task died.
 */
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_START = 1, TAG_LEFTWARD, TAG_RIGHTWARD, TAG_RESULT, TAG_DIED };
enum { TASKS_MAX = 64, SIDE_MAX = 200, STEPS_MAX = 100000 };

#define CUTOFF         2.5
#define SPACING        1.1 /* of the initial lattice */
#define TIME_STEP      0.002
#define DIFFERENCE_MAX 1e-7
#define HALO_BYTES     28 /* of an atom in a message: its number and place */

static struct {
    int p, n, l, steps;
    bool unchecked;
} options = {3, 14, 0, 20, false};

static const struct argp_option option_table[] = {
    {"tasks", 'p', "P", 0, "P tasks (3)", 0},
    {"side", 'n', "N", 0, "N x N x N atoms (14)", 0},
    {"length", 'l', "L", 0, "instead L x N x N, cut along the side of L", 0},
    {"steps", 's', "S", 0, "S time steps (20)", 0},
    {"unchecked", 'u', NULL, 0, "no serial run, which takes as long as all tasks together", 0},
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
        options.p = number(state, text, TASKS_MAX);
        return 0;
    case 'n':
        options.n = number(state, text, SIDE_MAX);
        return 0;
    case 'l':
        options.l = number(state, text, SIDE_MAX);
        return 0;
    case 's':
        options.steps = number(state, text, STEPS_MAX);
        return 0;
    case 'u':
        options.unchecked = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
        break;
    case ARGP_KEY_END:
        options.l = options.l ? options.l : options.n;
        if (options.l * SPACING < options.p * CUTOFF || fmin(options.l, options.n) * SPACING < 2 * CUTOFF)
            argp_error(state,
                       "%d slabs of a box with %d atoms along a side are thinner than the forces reach: more atoms, "
                       "or fewer tasks",
                       options.p, options.l);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {option_table, parse_option, NULL, "Molecular dynamics in slabs.", NULL, NULL, NULL};

struct atom {
    double r[3], v[3], f[3];
    int id;
};

struct atoms {
    struct atom *at;
    int count, room;
};

/* A slab of the box: its own atoms, and copies of the neighbours' atoms within the cut-off. */
struct slab {
    int p, place;
    int left, right;    /* neighbours' tids; 0: we are our own neighbour */
    double length, box; /* sides of the box: in x, and in y and z */
    double from, to;    /* range of our slab in x */
    struct atoms own, halo;
    double energy;
    double exchange_s;      /* in all steps */
    int longest_halo;       /* bytes */
    int *cell_first, *next; /* lists of atoms by cell; halo atoms are numbered after our own */
    int cells[3];
};

static void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "molecules: out of memory\n");
        exit(1);
    }
    return memory;
}

static struct atom *add(struct atoms *atoms, const struct atom *atom)
{
    if (atoms->count == atoms->room) {
        atoms->room = atoms->room ? 2 * atoms->room : 1024;
        atoms->at = must(realloc(atoms->at, atoms->room * sizeof *atoms->at));
    }
    atoms->at[atoms->count] = *atom;
    return &atoms->at[atoms->count++];
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Sets up the lattice, with velocities that depend on the atom's number; each task keeps the atoms in its slab. */
static void fill(struct slab *s, int l, int n)
{
    for (int id = 0; id < l * n * n; id++) {
        struct atom a = {.id = id};
        a.r[0] = (id / (n * n) + 0.5) * SPACING;
        a.r[1] = (id / n % n + 0.5) * SPACING;
        a.r[2] = (id % n + 0.5) * SPACING;
        for (int k = 0; k < 3; k++)
            a.v[k] = sin(12.9898 * id + 78.233 * k);
        if (a.r[0] >= s->from && a.r[0] < s->to)
            add(&s->own, &a);
    }
}

static void make_slab(struct slab *s, int p, int place, int l, int n)
{
    *s = (struct slab){.p = p, .place = place, .length = l * SPACING, .box = n * SPACING};
    s->from = s->length * place / p;
    s->to = s->length * (place + 1) / p;
    fill(s, l, n);
}

static void free_slab(struct slab *s)
{
    free(s->own.at);
    free(s->halo.at);
    free(s->cell_first);
    free(s->next);
}

/* ---- messages with atoms for a neighbour ---- */

static void send_atoms(int to, int tag, const struct atoms *movers, const struct atoms *halo)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint((int *)&movers->count, 1, 1);
    for (int i = 0; i < movers->count; i++) {
        pvm_pkint(&movers->at[i].id, 1, 1);
        pvm_pkdouble(movers->at[i].r, 3, 1);
        pvm_pkdouble(movers->at[i].v, 3, 1);
    }
    pvm_pkint((int *)&halo->count, 1, 1);
    for (int i = 0; i < halo->count; i++) {
        pvm_pkint(&halo->at[i].id, 1, 1);
        pvm_pkdouble(halo->at[i].r, 3, 1);
    }
    pvm_send(to, tag);
}

static void receive_atoms(struct slab *s, int from, int tag)
{
    struct atom a = {0};
    int count;

    pvm_recv(from, tag);
    pvm_upkint(&count, 1, 1);
    while (count-- > 0) {
        pvm_upkint(&a.id, 1, 1);
        pvm_upkdouble(a.r, 3, 1);
        pvm_upkdouble(a.v, 3, 1);
        add(&s->own, &a);
    }
    pvm_upkint(&count, 1, 1);
    while (count-- > 0) {
        pvm_upkint(&a.id, 1, 1);
        pvm_upkdouble(a.r, 3, 1);
        add(&s->halo, &a);
    }
}

/* ---- a time step ---- */

/* Removes the atoms that have left the slab on one side (-1 left, 1 right), with x wrapped into the box. */
static void take_leavers(struct slab *s, int side, struct atoms *leavers)
{
    leavers->count = 0;
    for (int i = 0; i < s->own.count;) {
        struct atom *a = &s->own.at[i];
        if (side < 0 ? a->r[0] >= s->from : a->r[0] < s->to) {
            i++;
            continue;
        }
        if (a->r[0] < 0)
            a->r[0] += s->length;
        if (a->r[0] >= s->length)
            a->r[0] -= s->length;
        add(leavers, a);
        *a = s->own.at[--s->own.count];
    }
}

/* Copies atoms near one border, shifted by a box length if it is a border of the box. */
static void copy_near(const struct slab *s, const struct atoms *from, int side, struct atoms *near)
{
    double shift = 0;

    if (side < 0 && s->place == 0)
        shift = s->length;
    if (side > 0 && s->place == s->p - 1)
        shift = -s->length;
    for (int i = 0; i < from->count; i++) {
        struct atom a = from->at[i];
        if (side < 0 ? a.r[0] < s->from + CUTOFF : a.r[0] >= s->to - CUTOFF) {
            a.r[0] += shift;
            add(near, &a);
        }
    }
}

static void add_all(struct atoms *to, const struct atoms *from)
{
    for (int i = 0; i < from->count; i++)
        add(to, &from->at[i]);
}

/* First exchanges the atoms that moved over, so that each task's own atoms are complete, and then their halos. */
static void exchange(struct slab *s, struct atoms *to_left, struct atoms *to_right)
{
    static const struct atoms none;

    take_leavers(s, -1, to_left);
    take_leavers(s, 1, to_right);
    if (!s->left) {
        add_all(&s->own, to_left);
        add_all(&s->own, to_right);
    } else {
        send_atoms(s->left, TAG_LEFTWARD, to_left, &none);
        send_atoms(s->right, TAG_RIGHTWARD, to_right, &none);
        receive_atoms(s, s->right, TAG_LEFTWARD);
        receive_atoms(s, s->left, TAG_RIGHTWARD);
    }
    s->halo.count = to_left->count = to_right->count = 0;
    copy_near(s, &s->own, -1, to_left);
    copy_near(s, &s->own, 1, to_right);
    if (!s->left) {
        add_all(&s->halo, to_left);
        add_all(&s->halo, to_right);
    } else {
        send_atoms(s->left, TAG_LEFTWARD, &none, to_left);
        send_atoms(s->right, TAG_RIGHTWARD, &none, to_right);
        receive_atoms(s, s->right, TAG_LEFTWARD);
        receive_atoms(s, s->left, TAG_RIGHTWARD);
    }
    s->longest_halo = (int)fmax(s->longest_halo, HALO_BYTES * fmax(to_left->count, to_right->count));
}

static const struct atom *atom_at(const struct slab *s, int i)
{
    return i < s->own.count ? &s->own.at[i] : &s->halo.at[i - s->own.count];
}

static int wrapped(int i, int n)
{
    return (i % n + n) % n;
}

/* Cells are at least as wide as the cut-off; along x they start one cut-off before our slab. */
static int cell_of(const struct slab *s, const double r[3], int dx, int dy, int dz)
{
    double width = s->to - s->from + 2 * CUTOFF;
    int x = (int)floor((r[0] - s->from + CUTOFF) / width * s->cells[0]) + dx;
    int y = wrapped((int)floor(r[1] / s->box * s->cells[1]) + dy, s->cells[1]);
    int z = wrapped((int)floor(r[2] / s->box * s->cells[2]) + dz, s->cells[2]);

    if (x < 0 || x >= s->cells[0])
        return -1;
    return (x * s->cells[1] + y) * s->cells[2] + z;
}

static void sort_into_cells(struct slab *s)
{
    int total = s->own.count + s->halo.count, cells;

    s->cells[0] = (int)((s->to - s->from + 2 * CUTOFF) / CUTOFF);
    s->cells[1] = s->cells[2] = (int)(s->box / CUTOFF);
    cells = s->cells[0] * s->cells[1] * s->cells[2];
    s->cell_first = must(realloc(s->cell_first, cells * sizeof *s->cell_first));
    s->next = must(realloc(s->next, (total + 1) * sizeof *s->next));
    memset(s->cell_first, -1, cells * sizeof *s->cell_first);
    for (int i = total - 1; i >= 0; i--) {
        int cell = cell_of(s, atom_at(s, i)->r, 0, 0, 0);
        if (cell < 0)
            continue; /* a halo atom at the edge, out of range */
        s->next[i] = s->cell_first[cell];
        s->cell_first[cell] = i;
    }
}

/* Adds the force of b on a, and half of the pair's energy; the task that owns b counts the other half. */
static void attract(struct slab *s, struct atom *a, const struct atom *b)
{
    double d[3], r2 = 0, r6, f;

    for (int k = 0; k < 3; k++) {
        d[k] = a->r[k] - b->r[k];
        if (k > 0)
            d[k] -= s->box * round(d[k] / s->box);
        r2 += d[k] * d[k];
    }
    if (r2 >= CUTOFF * CUTOFF || r2 == 0)
        return;
    r6 = 1 / (r2 * r2 * r2);
    f = 24 * (2 * r6 * r6 - r6) / r2;
    s->energy += 2 * (r6 * r6 - r6);
    for (int k = 0; k < 3; k++)
        a->f[k] += f * d[k];
}

/* With fewer than three cells, the neighbours in both directions are the same cell, which is visited once. */
static void visit_neighbours(struct slab *s, int i)
{
    struct atom *a = &s->own.at[i];
    int reach = s->cells[1] > 2 ? 1 : 0, high = s->cells[1] > 1 ? 1 : 0;

    for (int dx = -1; dx <= 1; dx++)
        for (int dy = -reach; dy <= high; dy++)
            for (int dz = -reach; dz <= high; dz++) {
                int cell = cell_of(s, a->r, dx, dy, dz);
                for (int j = cell < 0 ? -1 : s->cell_first[cell]; j >= 0; j = s->next[j])
                    if (j != i)
                        attract(s, a, atom_at(s, j));
            }
}

static void compute_forces(struct slab *s)
{
    s->energy = 0;
    sort_into_cells(s);
    for (int i = 0; i < s->own.count; i++) {
        memset(s->own.at[i].f, 0, sizeof s->own.at[i].f);
        visit_neighbours(s, i);
    }
}

static void kick(struct slab *s)
{
    for (int i = 0; i < s->own.count; i++)
        for (int k = 0; k < 3; k++)
            s->own.at[i].v[k] += TIME_STEP / 2 * s->own.at[i].f[k];
}

static void drift(struct slab *s)
{
    for (int i = 0; i < s->own.count; i++) {
        struct atom *a = &s->own.at[i];
        for (int k = 0; k < 3; k++)
            a->r[k] += TIME_STEP * a->v[k];
        for (int k = 1; k < 3; k++)
            a->r[k] -= s->box * floor(a->r[k] / s->box);
    }
}

/* Velocity Verlet integration. Returns the total energy of the last step. */
static void simulate(struct slab *s, int steps)
{
    struct atoms to_left = {0}, to_right = {0};

    exchange(s, &to_left, &to_right);
    compute_forces(s);
    for (int step = 0; step < steps; step++) {
        double start_s;
        kick(s);
        drift(s);
        start_s = now_s();
        exchange(s, &to_left, &to_right);
        s->exchange_s += now_s() - start_s;
        compute_forces(s);
        kick(s);
    }
    for (int i = 0; i < s->own.count; i++)
        for (int k = 0; k < 3; k++)
            s->energy += s->own.at[i].v[k] * s->own.at[i].v[k] / 2;
    free(to_left.at);
    free(to_right.at);
}

/* ---- a task ---- */

static int parent_died(int mid)
{
    (void)mid;
    exit(1);
}

static void send_result(const struct slab *s, int parent)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble((double *)&s->energy, 1, 1);
    pvm_pkdouble((double *)&s->exchange_s, 1, 1);
    pvm_pkint((int *)&s->longest_halo, 1, 1);
    pvm_pkint((int *)&s->own.count, 1, 1);
    for (int i = 0; i < s->own.count; i++) {
        pvm_pkint(&s->own.at[i].id, 1, 1);
        pvm_pkdouble(s->own.at[i].r, 3, 1);
    }
    pvm_send(parent, TAG_RESULT);
}

static int work(int parent)
{
    static int tids[TASKS_MAX];
    int handler = pvm_addmhf(-1, TAG_DIED, -1, parent_died), p, l, n, steps, place = 0;
    struct slab s;

    pvm_notify(PvmTaskExit, TAG_DIED, 1, &parent);
    pvm_recv(parent, TAG_START);
    pvm_upkint(&p, 1, 1);
    pvm_upkint(&l, 1, 1);
    pvm_upkint(&n, 1, 1);
    pvm_upkint(&steps, 1, 1);
    pvm_upkint(tids, p, 1);
    while (tids[place] != pvm_mytid())
        place++;
    make_slab(&s, p, place, l, n);
    if (p > 1) {
        s.left = tids[(place + p - 1) % p];
        s.right = tids[(place + 1) % p];
    }
    simulate(&s, steps);
    pvm_delmhf(handler);
    send_result(&s, parent);
    pvm_exit();
    free_slab(&s);
    return 0;
}

/* ---- the master ---- */

static void end_all(const int *tids, int count)
{
    for (int k = 0; k < count; k++)
        if (tids[k] > 0)
            pvm_kill(tids[k]);
}

static int start_tasks(int *tids)
{
    char path[4096] = "";
    int p = options.p, started;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    started = pvm_spawn(path, NULL, PvmTaskDefault, "", p, tids);
    if (started != p) {
        fprintf(stderr, "molecules: %d of %d tasks started: %s\n", started < 0 ? 0 : started, p,
                pvm_errlist[started < 0 ? -started : -tids[p - 1]]);
        end_all(tids, started);
        return -1;
    }
    pvm_notify(PvmTaskExit, TAG_DIED, p, tids);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&p, 1, 1);
    pvm_pkint(&options.l, 1, 1);
    pvm_pkint(&options.n, 1, 1);
    pvm_pkint(&options.steps, 1, 1);
    pvm_pkint(tids, p, 1);
    pvm_mcast(tids, p, TAG_START);
    return 0;
}

struct result {
    double energy, exchange_s; /* of the task that took longest */
    int longest_halo, atoms;
    double (*r)[3]; /* by atom number */
};

static void take_result(struct result *result, int total)
{
    double energy, exchange_s, r[3];
    int halo, count, id;

    pvm_upkdouble(&energy, 1, 1);
    pvm_upkdouble(&exchange_s, 1, 1);
    pvm_upkint(&halo, 1, 1);
    pvm_upkint(&count, 1, 1);
    result->energy += energy;
    result->exchange_s = fmax(result->exchange_s, exchange_s);
    result->longest_halo = halo > result->longest_halo ? halo : result->longest_halo;
    while (count-- > 0) {
        pvm_upkint(&id, 1, 1);
        pvm_upkdouble(r, 3, 1);
        if (id < 0 || id >= total)
            continue;
        memcpy(result->r[id], r, sizeof r);
        result->atoms++;
    }
}

/* 0, or -1 if a task died before its result arrived. */
static int collect(struct result *result, int total)
{
    int results = 0, exits = 0;

    while (results < options.p) {
        int tag, mid = pvm_recv(-1, -1);
        pvm_bufinfo(mid, NULL, &tag, NULL);
        if (tag == TAG_DIED) {
            if (++exits > results)
                return -1;
            continue;
        }
        take_result(result, total);
        results++;
    }
    return 0;
}

/* Repeats the run serially: the largest distance between an atom's positions in both runs. */
static double difference_to_serial(const struct result *result, double *energy)
{
    struct slab s;
    double largest = 0;

    make_slab(&s, 1, 0, options.l, options.n);
    simulate(&s, options.steps);
    *energy = s.energy;
    for (int i = 0; i < s.own.count; i++)
        for (int k = 0; k < 3; k++) {
            double d = fabs(s.own.at[i].r[k] - result->r[s.own.at[i].id][k]);
            d = fmin(d, fabs(d - (k ? s.box : s.length)));
            if (!(d <= largest)) /* also for a NaN */
                largest = d;
        }
    free_slab(&s);
    return largest;
}

/* Returns whether the atoms are where they should be. */
static bool print_result(const struct result *result, double tasks_s, int total)
{
    double serial_energy, difference;
    bool correct = result->atoms == total;

    printf("%d atoms in %d slabs, %d steps: %.4f s, exchanges %.6f s a step, energy %.6f, halos up to %d bytes, ",
           total, options.p, options.steps, tasks_s, result->exchange_s / options.steps, result->energy,
           result->longest_halo);
    if (options.unchecked) {
        printf("%s\n", correct ? "not checked" : "WRONG");
        return correct;
    }
    difference = difference_to_serial(result, &serial_energy);
    correct = correct && difference <= DIFFERENCE_MAX;
    printf("alone %.6f, largest difference %.2g: %s\n", serial_energy, difference, correct ? "correct" : "WRONG");
    return correct;
}

static int run_master(void)
{
    int tids[TASKS_MAX], total = options.l * options.n * options.n;
    struct result result = {.r = must(calloc(total, sizeof *result.r))};
    double start_s;
    bool correct;

    if (start_tasks(tids) < 0)
        return 1;
    start_s = now_s();
    if (collect(&result, total) < 0) {
        fprintf(stderr, "molecules: a task died\n");
        end_all(tids, options.p);
        return 1;
    }
    correct = print_result(&result, now_s() - start_s, total);
    free(result.r);
    return correct ? 0 : 1;
}

int main(int argc, char **argv)
{
    int parent, status;

    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    if (pvm_mytid() < 0)
        return 1;
    parent = pvm_parent();
    if (parent > 0)
        return work(parent);
    status = run_master();
    pvm_exit();
    return status;
}
