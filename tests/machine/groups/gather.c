/*
 * gather - gather and scatter of all types, any number of members, any root, small and large parts, groups with holes;
 * a round trip returns the same data: gather [HOSTS].
 */
#include "team.h"

enum { MEMBERS_MAX = 17, LARGE = 50001, GUARD = 8 };

static int members, instance;
static const struct {
    int type;
    size_t bytes;
} types[] = {
    {PVM_BYTE, 1},
    {PVM_SHORT, sizeof(short)},
    {PVM_INT, sizeof(int)},
    {PVM_FLOAT, sizeof(float)},
    {PVM_CPLX, 8},
    {PVM_DOUBLE, sizeof(double)},
    {PVM_DCPLX, 16},
    {PVM_LONG, sizeof(long)},
    {PVM_USHORT, 2},
    {PVM_UINT, sizeof(unsigned)},
    {PVM_ULONG, sizeof(unsigned long)},
};

/* Scatters the root's data, gathers it again, and compares; memory behind the data must not change. */
static void there_and_back(int type, size_t bytes, int n, int root)
{
    size_t part = bytes * (size_t)n, whole = part * (size_t)members;
    char *all = malloc(whole + GUARD), *back = malloc(whole + GUARD), *own = malloc(part + GUARD);
    unsigned seed = (unsigned)(type * 100 + n * 10 + root);

    CHECK(all && back && own);
    check_fill(all, whole, seed);
    memset(back, 'b', whole + GUARD);
    memset(own, 'o', part + GUARD);
    CHECK_EQ(pvm_scatter(own, instance == root ? all : NULL, n, type, 7, "g", root), 0);
    CHECK(memcmp(own, all + part * (size_t)instance, part) == 0);
    CHECK(memcmp(own + part, "oooooooo", GUARD) == 0);
    CHECK_EQ(pvm_gather(instance == root ? back : NULL, own, n, type, 8, "g", root), 0);
    if (instance == root)
        CHECK(memcmp(back, all, whole) == 0);
    CHECK(memcmp(back + whole, "bbbbbbbb", GUARD) == 0);
    CHECK(instance == root || back[0] == 'b');
    free(all);
    free(back);
    free(own);
}

static void check_errors(void)
{
    int data[2] = {0}, result[2 * MEMBERS_MAX];
    CHECK_EQ(pvm_gather(result, data, 1, PVM_INT, 1, "", 0), PvmNullGroup);
    CHECK_EQ(pvm_scatter(result, data, 1, PVM_INT, 1, NULL, 0), PvmNullGroup);
    CHECK_EQ(pvm_gather(result, data, 1, PVM_INT, 1, "none", 0), PvmNoGroup);
    CHECK_EQ(pvm_scatter(result, data, 1, PVM_INT, 1, "none", 0), PvmNoGroup);
    CHECK_EQ(pvm_gather(result, data, 0, PVM_INT, 1, "g", 0), PvmBadParam);
    CHECK_EQ(pvm_scatter(result, data, -1, PVM_INT, 1, "g", 0), PvmBadParam);
    CHECK_EQ(pvm_gather(result, data, 1, PVM_STR, 1, "g", 0), PvmBadParam);
    CHECK_EQ(pvm_scatter(result, data, 1, 12, 1, "g", 0), PvmBadParam);
    CHECK_EQ(pvm_gather(result, data, 1, PVM_INT, -1, "g", 0), PvmBadParam);
    CHECK_EQ(pvm_gather(result, data, 1, PVM_INT, 1, "g", members), PvmNoInst);
    CHECK_EQ(pvm_scatter(result, data, 1, PVM_INT, 1, "g", -1), PvmNoInst);
    CHECK_EQ(pvm_scatter(NULL, data, 1, PVM_INT, 1, "g", 0), PvmBadParam);
}

static void member(int argc, char **argv)
{
    int argument = team_argument(argc, argv);
    members = argument / 2;
    instance = team_join_kind("g", members, argument % 2);
    pvm_setopt(PvmAutoErr, 0);
    for (int root = 0; root<members; root += members> 4 ? members / 3 : 1) {
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            there_and_back(types[i].type, types[i].bytes, 1, root);
            there_and_back(types[i].type, types[i].bytes, 13, root);
        }
        there_and_back(PVM_BYTE, 1, 8191, root); /* below and above the size that is sent straight to its receiver */
        there_and_back(PVM_BYTE, 1, 8192, root);
        there_and_back(PVM_INT, 4, LARGE, root);
    }
    CHECK_EQ(pvm_barrier("g", members), 0);
    check_errors();
    CHECK_EQ(pvm_barrier("g", members), 0);
    CHECK_EQ(pvm_lvgroup("g"), 0);
    team_done();
}

/* Instances 0, 2 and 4 of 5 stay: their parts are adjacent. */
static void gap(int argc, char **argv)
{
    (void)argc, (void)argv;
    int own = team_join("gap", 5), all[3], sum = own;
    if (own % 2) {
        CHECK_EQ(pvm_lvgroup("gap"), 0);
        team_done();
        return;
    }
    while (pvm_gsize("gap") != 3)
        check_sleep_ms(1);
    CHECK_EQ(pvm_barrier("gap", 3), 0);
    CHECK_EQ(pvm_gather(all, &own, 1, PVM_INT, 1, "gap", 2), 0);
    if (own == 2)
        CHECK(all[0] == 0 && all[1] == 2 && all[2] == 4);
    int part = -1;
    CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "gap", 2), 0);
    CHECK_EQ(part, own);
    CHECK_EQ(pvm_reduce(PvmSum, &sum, 1, PVM_INT, 1, "gap", 4), 0);
    CHECK_EQ(sum, own == 4 ? 6 : own);
    CHECK_EQ(pvm_barrier("gap", 3), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 3, 8, 9, MEMBERS_MAX};
    int hosts = team_hosts(argc, argv);
    struct team t;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int frozen = 0; frozen <= 1; frozen++) {
            team_start(&t, "member", 2 * sizes[i] + frozen, sizes[i], hosts);
            team_finish(&t);
        }
    team_start(&t, "gap", 0, 5, hosts);
    team_finish(&t);
}

static const struct check_role roles[] = {{"member", member}, {"gap", gap}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
