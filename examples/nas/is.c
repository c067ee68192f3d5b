/*
 * is - NAS parallel benchmark IS: ranks integer keys ten times.
 *
 * The rank of a key is its place in the sorted sequence. Each task has a share of the keys, and gets the rank of each.
 * All tasks count their keys in buckets and add the counts up; so each knows which range of keys every task shall rank,
 * such that all rank about as many. They send each other the keys, rank what they have received, and send the ranks
 * back: everyone with everyone, twice.
 *
 *       own keys        sorted by owner             ranked by the owner of the range
 *       7 1 9 4    ->   1 | 4 | 7 9            ->   1 . . .   to 0     and the ranks
 *       3 8 2 2    ->   2 2 | 3 | 8            ->   2 2 . .   to 0     the same way back
 *
 * Shows   an exchange among all tasks, in long messages whose lengths are known only when the program runs.
 * Run     ./is --class S --tasks 4 --verify --stats
 * Prints  the time; with --verify how many of NAS's test keys have the right rank, and whether the keys are sorted by
 *         their ranks. Exit status 1 if not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../kernels/options.h"
#include "../kernels/team.h"
#include "random.h"

enum { RANKINGS = 10, TESTS = 5, BUCKETS = 2048, TAG_COUNT = 1, TAG_KEYS, TAG_RANKS };

#define SEED UINT64_C(314159265)

/*
 * NAS's test keys are those at test_index[]. The ranks of the first `low` of them grow by one with each ranking, those
 * of the others fall: test_rank[] is that of an imagined ranking, number zero_low or zero_high.
 */
static const struct problem {
    char class;
    int log2_keys, log2_range;
    bool own_sent; /* what a task has for itself is a message, too, as in the thesis */
    int low, zero_low, zero_high;
    int test_index[TESTS], test_rank[TESTS];
} problems[] = {
    {'S', 16, 11, false, 3, 0, 0, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}},
    {'W', 20, 16, false, 2, 2, 0, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}},
    {'A', 23, 19, false, 3, 1, 1, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264}},
    {'T', 19, 15, true, 0, 0, 0, {0}, {0}},
};

static const struct kernel kernel = {
    .purpose = "NAS IS: ranks integer keys.",
    .classes = "SWAT",
    .class_help = "S (2^16 keys below 2^11), W (2^20, 2^16), A (2^23, 2^19), T (2^19, 2^15: the thesis's messages)",
};

static const struct problem *problem_of(char class)
{
    int k = 0;

    while (problems[k].class != class)
        k++;
    return &problems[k];
}

/* Arrays of size+1 begin with rank 0's; the last element is the end of the last task's. */
struct sorter {
    const struct problem *problem;
    int size, me;
    int first[TEAM_MAX + 1]; /* number of each task's first key */
    int own;                 /* keys of this task */
    int *keys, *ranks;       /* own: in the order of their numbers */
    int *place;              /* own: where each is in `out` */
    int *out;                /* own keys, later ranks, by owner */
    int out_at[TEAM_MAX + 1];
    int bucket[BUCKETS];                   /* keys of all tasks in each */
    int bucket_of[TEAM_MAX + 1];           /* each task's first bucket */
    int *in, in_room, in_at[TEAM_MAX + 1]; /* keys to rank, later their ranks, by sender */
    int *counter, counter_room;            /* one for each key of the range */
};

/* ---- keys ---- */

static int shift_of(const struct problem *problem)
{
    return problem->log2_range - 11; /* of a key, to get its bucket */
}

/* The mean of four random numbers, in NAS's sequence. */
static void make_keys(struct sorter *s)
{
    uint64_t state = random_after(SEED, 4L * s->first[s->me]);

    for (int k = 0; k < s->own; k++) {
        double sum = random_next(&state);
        sum += random_next(&state);
        sum += random_next(&state);
        sum += random_next(&state);
        s->keys[k] = (int)((1 << s->problem->log2_range) / 4 * sum);
    }
}

static void sorter_init(struct sorter *s, const struct problem *problem)
{
    s->problem = problem;
    s->size = team_size();
    s->me = team_rank();
    for (int rank = 0; rank <= s->size; rank++)
        s->first[rank] = (int)(((long)rank << problem->log2_keys) / s->size);
    s->own = s->first[s->me + 1] - s->first[s->me];
    s->keys = team_alloc(4L * s->own, sizeof(int));
    s->ranks = s->keys + s->own;
    s->place = s->ranks + s->own;
    s->out = s->place + s->own;
    make_keys(s);
}

static void sorter_free(struct sorter *s)
{
    free(s->keys);
    free(s->in);
    free(s->counter);
}

/* At least `count` elements; their values are lost. */
static int *with_room(int *array, int *room, int count)
{
    if (array && count <= *room)
        return array;
    free(array);
    *room = count + count / 8;
    return team_alloc(*room, sizeof(int));
}

/* The task whose share has the key of this number. */
static int holder(const struct sorter *s, int number)
{
    int rank = 0;

    while (number >= s->first[rank + 1])
        rank++;
    return rank;
}

/* NAS changes two keys before each ranking, so that the ranks of all change. */
static void set_key(struct sorter *s, int number, int key)
{
    if (holder(s, number) == s->me)
        s->keys[number - s->first[s->me]] = key;
}

/* ---- who ranks what ---- */

/* Splits the buckets so that each task has about as many keys. */
static void split_buckets(struct sorter *s)
{
    long keys = 1L << s->problem->log2_keys, below = 0;
    int rank = 1;

    for (int b = 0; b < BUCKETS; b++) {
        while (rank < s->size && below + s->bucket[b] / 2 >= keys * rank / s->size)
            s->bucket_of[rank++] = b;
        below += s->bucket[b];
    }
    while (rank <= s->size)
        s->bucket_of[rank++] = BUCKETS;
}

/* Counts the keys in buckets, own ones for out_at, those of all tasks for the split. */
static void count_buckets(struct sorter *s)
{
    int own[BUCKETS] = {0}, shift = shift_of(s->problem);

    for (int k = 0; k < s->own; k++)
        own[s->keys[k] >> shift]++;
    memcpy(s->bucket, own, sizeof own);
    team_sum(TEAM_INT, s->bucket, BUCKETS);
    split_buckets(s);
    for (int rank = 0; rank < s->size; rank++) {
        s->out_at[rank + 1] = s->out_at[rank];
        for (int b = s->bucket_of[rank]; b < s->bucket_of[rank + 1]; b++)
            s->out_at[rank + 1] += own[b];
    }
}

static void sort_by_owner(struct sorter *s)
{
    unsigned char owner[BUCKETS];
    int next[TEAM_MAX], shift = shift_of(s->problem);

    memcpy(next, s->out_at, s->size * sizeof *next);
    for (int rank = 0; rank < s->size; rank++)
        memset(owner + s->bucket_of[rank], rank, s->bucket_of[rank + 1] - s->bucket_of[rank]);
    for (int k = 0; k < s->own; k++) {
        s->place[k] = next[owner[s->keys[k] >> shift]]++;
        s->out[s->place[k]] = s->keys[k];
    }
}

/* ---- the exchange ---- */

/* The same as team_all_to_all(), but what a task has for itself is a message, too. */
static void send_to_all(const struct sorter *s, int tag, const int *from, const int *from_at, int *to, const int *to_at)
{
    for (int step = 0; step < s->size; step++) {
        int rank = (s->me + step) % s->size;
        team_send(rank, tag, TEAM_INT, from + from_at[rank], from_at[rank + 1] - from_at[rank]);
    }
    for (int step = 0; step < s->size; step++) {
        int rank = (s->me - step + s->size) % s->size;
        team_receive(rank, tag, TEAM_INT, to + to_at[rank], to_at[rank + 1] - to_at[rank]);
    }
}

/* Sends each task its part of `from`, which at[] divides, and receives the parts of `to` from all. */
static void exchange(const struct sorter *s, int tag, const int *from, const int *from_at, int *to, const int *to_at)
{
    int outgoing[TEAM_MAX], incoming[TEAM_MAX];

    if (s->problem->own_sent) {
        send_to_all(s, tag, from, from_at, to, to_at);
        return;
    }
    for (int rank = 0; rank < s->size; rank++) {
        outgoing[rank] = from_at[rank + 1] - from_at[rank];
        incoming[rank] = to_at[rank + 1] - to_at[rank];
    }
    team_all_to_all(TEAM_INT, from, outgoing, from_at, to, incoming, to_at);
}

/* The tasks tell each other how many keys follow: in_at. */
static void exchange_counts(struct sorter *s)
{
    int outgoing[TEAM_MAX], incoming[TEAM_MAX], each[TEAM_MAX + 1];

    for (int rank = 0; rank <= s->size; rank++)
        each[rank] = rank;
    for (int rank = 0; rank < s->size; rank++)
        outgoing[rank] = s->out_at[rank + 1] - s->out_at[rank];
    exchange(s, TAG_COUNT, outgoing, each, incoming, each);
    for (int rank = 0; rank < s->size; rank++)
        s->in_at[rank + 1] = s->in_at[rank] + incoming[rank];
}

/* ---- ranks ---- */

static int keys_below(const struct sorter *s, int bucket)
{
    int below = 0;

    for (int b = 0; b < bucket; b++)
        below += s->bucket[b];
    return below;
}

/* counter[key - base] becomes the number of keys, of all tasks, that are smaller: of each key in our range. */
static int count_smaller(struct sorter *s)
{
    int shift = shift_of(s->problem), base = s->bucket_of[s->me] << shift;
    int range = (s->bucket_of[s->me + 1] << shift) - base, below = keys_below(s, s->bucket_of[s->me]);

    s->counter = with_room(s->counter, &s->counter_room, range + 1);
    memset(s->counter, 0, (range + 1) * sizeof(int));
    for (int k = 0; k < s->in_at[s->size]; k++)
        s->counter[s->in[k] - base]++;
    for (int key = 0; key < range; key++) {
        int count = s->counter[key];
        s->counter[key] = below;
        below += count;
    }
    return base;
}

/* Replaces the keys of `in` by their ranks; of equal keys the first has the lowest. */
static void rank_incoming(struct sorter *s, int base)
{
    for (int k = 0; k < s->in_at[s->size]; k++)
        s->in[k] = s->counter[s->in[k] - base]++;
}

/* How many of NAS's test keys, which are in our range, have the right number of smaller keys. */
static int test_keys(const struct sorter *s, int base, const int *tests, int ranking)
{
    const struct problem *p = s->problem;
    int right = 0, end = s->bucket_of[s->me + 1] << shift_of(p);

    for (int k = 0; k < TESTS; k++) {
        int expected = p->test_rank[k] + (k < p->low ? ranking - p->zero_low : p->zero_high - ranking);
        if (tests[k] >= base && tests[k] < end && s->counter[tests[k] - base] == expected)
            right++;
    }
    return right;
}

/* All tasks learn the test keys. */
static void find_tests(const struct sorter *s, int *tests)
{
    for (int k = 0; k < TESTS; k++) {
        int number = s->problem->test_index[k];
        tests[k] = holder(s, number) == s->me ? s->keys[number - s->first[s->me]] : 0;
    }
    team_sum(TEAM_INT, tests, TESTS);
}

/* Ranks all keys. Returns how many test keys of our range are right. */
static int rank_keys(struct sorter *s, int ranking)
{
    int tests[TESTS], base, right;

    set_key(s, ranking, ranking);
    set_key(s, ranking + RANKINGS, (1 << s->problem->log2_range) - ranking);
    find_tests(s, tests);
    count_buckets(s);
    sort_by_owner(s);
    exchange_counts(s);
    s->in = with_room(s->in, &s->in_room, s->in_at[s->size]);
    exchange(s, TAG_KEYS, s->out, s->out_at, s->in, s->in_at);
    base = count_smaller(s);
    right = test_keys(s, base, tests, ranking);
    rank_incoming(s, base);
    exchange(s, TAG_RANKS, s->in, s->in_at, s->out, s->out_at);
    for (int k = 0; k < s->own; k++)
        s->ranks[k] = s->out[s->place[k]];
    return right;
}

/* ---- the full check ---- */

/*
 * Whether the ranks are those of a sorted sequence: each rank of 0 to keys-1 is there once, and keys grow with their
 * ranks. The first task gathers all keys and ranks.
 */
static bool is_sorted(struct sorter *s)
{
    int keys = 1 << s->problem->log2_keys, *all_keys = team_alloc(keys, sizeof(int)),
        *all_ranks = team_alloc(keys, sizeof(int)), *sorted = team_alloc(keys, sizeof(int));
    bool right = true;

    memcpy(all_keys + s->first[s->me], s->keys, s->own * sizeof(int));
    memcpy(all_ranks + s->first[s->me], s->ranks, s->own * sizeof(int));
    team_share(TEAM_INT, all_keys, s->first);
    team_share(TEAM_INT, all_ranks, s->first);
    for (int k = 0; k < keys && right; k++) {
        right = all_ranks[k] >= 0 && all_ranks[k] < keys && sorted[all_ranks[k]] == 0;
        if (right)
            sorted[all_ranks[k]] = all_keys[k] + 1;
    }
    for (int k = 1; k < keys && right; k++)
        right = sorted[k - 1] <= sorted[k];
    free(all_keys);
    free(all_ranks);
    free(sorted);
    return right;
}

/* Prints the result. Returns whether it is right. */
static bool check(struct sorter *s, int right_tests, bool verify, double time_s)
{
    int tests = s->problem->low ? TESTS * RANKINGS : 0;
    bool right = true;

    team_sum(TEAM_INT, &right_tests, 1);
    if (verify)
        right = is_sorted(s) && (tests == 0 || right_tests == tests);
    if (s->me == 0)
        printf("is class %c: %d tasks, %.4f s, %d of %d test ranks%s\n", s->problem->class, s->size, time_s,
               tests ? right_tests : 0, tests,
               !verify ? ""
               : right ? ": correct"
                       : ": WRONG");
    return right;
}

int main(int argc, char **argv)
{
    struct options options = options_parse(argc, argv, &kernel);
    static struct sorter sorter;
    int right_tests = 0;
    double time_s;
    bool right;

    team_start(argc, argv, options.tasks);
    sorter_init(&sorter, problem_of(options.class));
    team_warm_up();
    if (options.class != 'T')
        rank_keys(&sorter, 1);
    team_clock_start();
    for (int ranking = 1; ranking <= RANKINGS; ranking++)
        right_tests += rank_keys(&sorter, ranking);
    time_s = team_clock_stop();
    right = check(&sorter, right_tests, options.verify, time_s);
    if (options.stats)
        team_report();
    sorter_free(&sorter);
    return team_end(!right);
}
