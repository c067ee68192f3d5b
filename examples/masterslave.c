/*
 * masterslave - a task farm that survives the death of its workers.
 *
 * The master splits a job into pieces, sends each worker one, and the next one after each answer: fast workers do more.
 * pvm_notify tells the master when a worker or its host dies; the dead worker's piece goes back to the heap, and a new
 * worker replaces it. The result is correct as long as a worker can be started. The job: count the primes below N.
 *
 * Shows   dynamic load balance, pvm_notify(PvmTaskExit), restart of lost work.
 * Build   cc -O2 -o masterslave masterslave.c $(pkg-config --cflags --libs pvm3)
 * Run     ./masterslave -w 4                  count with 4 workers
 *         ./masterslave -w 4 --accidents 3    three workers drop dead in the middle of their work
 * Prints  the count and the pieces done by each worker. Exit code 1 if the count is wrong or no worker is left.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <pvm3.h>

enum { TAG_PIECE = 1, TAG_ANSWER, TAG_DIED };
enum { WORKERS_MAX = 256, PIECES_MAX = 4096, RESTARTS_MAX = 100 };

static struct {
    int workers;
    int limit;
    int pieces;
    int accidents;
} options = {4, 1000000, 64, 0};

static const struct argp_option option_table[] = {
    {"workers", 'w', "COUNT", 0, "number of workers (4)", 0},
    {"limit", 'n', "N", 0, "count the primes below N (1000000)", 0},
    {"pieces", 'p', "COUNT", 0, "pieces that the job is cut into (64)", 0},
    {"accidents", 'a', "COUNT", 0, "how many workers die on purpose (0)", 0},
    {0},
};

static int number(struct argp_state *state, const char *text, int min, int max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != '\0' || value < min || value > max)
        argp_error(state, "\"%s\" is not a number from %d to %d", text, min, max);
    return (int)value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'w':
        options.workers = number(state, text, 1, WORKERS_MAX);
        return 0;
    case 'n':
        options.limit = number(state, text, 2, 1000000000);
        return 0;
    case 'p':
        options.pieces = number(state, text, 1, PIECES_MAX);
        return 0;
    case 'a':
        options.accidents = number(state, text, 0, RESTARTS_MAX);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", text);
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {option_table, parse_option, NULL, "A task farm that survives its workers' death.",
                                   NULL,         NULL,         NULL};

static int count_primes(int begin, int end)
{
    int count = 0;

    for (int k = begin < 2 ? 2 : begin; k < end; k++) {
        bool prime = true;
        for (int d = 2; prime && (long)d * d <= k; d++)
            prime = k % d != 0;
        count += prime;
    }
    return count;
}

/* ---- a worker: answers pieces {number, begin, end, accident} until there are no more, or its master dies ---- */

static int master_died(int mid)
{
    (void)mid;
    exit(1);
}

static int work(int master)
{
    int handler = pvm_addmhf(-1, TAG_DIED, -1, master_died);

    pvm_notify(PvmTaskExit, TAG_DIED, 1, &master);
    for (;;) {
        int piece[4], answer[2];
        pvm_recv(master, TAG_PIECE);
        pvm_upkint(piece, 4, 1);
        if (piece[0] < 0)
            break;
        if (piece[3]) {
            count_primes(piece[1], (piece[1] + piece[2]) / 2);
            _exit(1); /* without pvm_exit, like a crash */
        }
        answer[0] = piece[0];
        answer[1] = count_primes(piece[1], piece[2]);
        pvm_initsend(PvmDataDefault);
        pvm_pkint(answer, 2, 1);
        pvm_send(master, TAG_ANSWER);
    }
    pvm_delmhf(handler);
    pvm_exit();
    return 0;
}

/* ---- the master ---- */

static struct worker {
    int tid;    /* 0: none */
    int piece;  /* current piece; -1: none */
    int pieces; /* number of pieces done */
} workers[WORKERS_MAX];

static struct {
    int heap[PIECES_MAX]; /* pieces without a worker */
    int left;             /* number of pieces in the heap */
    int done;             /* number of pieces answered */
    int primes;
    int deaths;
    int restarts;
    int accidents; /* number of deaths still to cause */
} farm;

static struct worker *worker_of(int tid)
{
    for (int i = 0; i < options.workers; i++)
        if (workers[i].tid == tid)
            return &workers[i];
    return NULL;
}

static void give_piece(struct worker *w)
{
    int piece[4] = {-1, 0, 0, 0};

    w->piece = -1;
    if (farm.left > 0) {
        w->piece = piece[0] = farm.heap[--farm.left];
        piece[1] = (int)((long)piece[0] * options.limit / options.pieces);
        piece[2] = (int)((long)(piece[0] + 1) * options.limit / options.pieces);
        piece[3] = farm.accidents > 0;
        farm.accidents -= piece[3];
    } else if (farm.done < options.pieces) {
        return; /* keep it: another worker may still die */
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(piece, 4, 1);
    pvm_send(w->tid, TAG_PIECE);
}

static void start_worker(struct worker *w)
{
    char path[4096] = "";
    int tid;

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return;
    if (pvm_spawn(path, NULL, PvmTaskDefault, "", 1, &tid) != 1) {
        fprintf(stderr, "masterslave: cannot start a worker: %s\n", pvm_errlist[-tid]);
        return;
    }
    w->tid = tid;
    pvm_notify(PvmTaskExit, TAG_DIED, 1, &tid);
    give_piece(w);
}

static void take_answer(int tid)
{
    struct worker *w = worker_of(tid);
    int answer[2]; /* piece, primes */

    pvm_upkint(answer, 2, 1);
    if (!w || w->piece != answer[0])
        return;
    farm.done++;
    farm.primes += answer[1];
    w->pieces++;
    give_piece(w);
}

/* Puts the dead worker's piece back on the heap. Idle workers take pieces first; if any are left, a new worker starts.
 */
static void bury(void)
{
    struct worker *w;
    int tid;

    pvm_upkint(&tid, 1, 1);
    w = worker_of(tid);
    if (!w)
        return;
    farm.deaths++;
    if (w->piece >= 0)
        farm.heap[farm.left++] = w->piece;
    w->tid = 0;
    for (int i = 0; i < options.workers && farm.left > 0; i++)
        if (workers[i].tid > 0 && workers[i].piece < 0)
            give_piece(&workers[i]);
    if (farm.left > 0 && farm.restarts++ < RESTARTS_MAX)
        start_worker(w);
}

static int alive(void)
{
    int count = 0;

    for (int i = 0; i < options.workers; i++)
        count += workers[i].tid > 0;
    return count;
}

/* Whether every piece has been answered. */
static bool run_farm(void)
{
    farm.accidents = options.accidents;
    for (farm.left = 0; farm.left < options.pieces; farm.left++)
        farm.heap[farm.left] = farm.left;
    for (int i = 0; i < options.workers; i++)
        start_worker(&workers[i]);

    while (farm.done < options.pieces && alive() > 0) {
        int tag, tid, mid = pvm_recv(-1, -1);
        pvm_bufinfo(mid, NULL, &tag, &tid);
        if (tag == TAG_ANSWER)
            take_answer(tid);
        else if (tag == TAG_DIED)
            bury();
    }
    return farm.done == options.pieces;
}

/* Ends the idle workers; the one that gave the last answer has already been told. */
static void dismiss(void)
{
    for (int i = 0; i < options.workers; i++)
        if (workers[i].tid > 0 && workers[i].piece < 0)
            give_piece(&workers[i]);
}

static int run_master(void)
{
    int expected;

    if (!run_farm()) {
        fprintf(stderr, "masterslave: no worker is left and none can be started\n");
        return 1;
    }
    dismiss();
    expected = count_primes(0, options.limit);
    printf("%d primes below %d, with %d workers, %d died: %s\n", farm.primes, options.limit, options.workers,
           farm.deaths, farm.primes == expected && farm.deaths >= options.accidents ? "correct" : "WRONG");
    printf("pieces per worker:");
    for (int i = 0; i < options.workers; i++)
        printf(" %d", workers[i].pieces);
    printf("\n");
    return farm.primes == expected && farm.deaths >= options.accidents ? 0 : 1;
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
