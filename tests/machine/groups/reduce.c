/*
 * reduce - all operators on all types, any number of members, any root, odd lengths, user-defined functions; the result
 * equals that of a serial loop, bit for bit each time: reduce [HOSTS].
 */
#include <complex.h>
#include "team.h"

enum { MEMBERS_MAX = 17, LENGTH = 7, LARGE = 100003, OTHER = 64 };

static int members, instance;

/* The i-th value of a member: small enough for products of all members in every type, with distinct moduli. */
static int value_of(int who, int i)
{
    return 1 + (who * 5 + i * 3) % 3 + (i % 4 == 0 ? who : 0);
}

/* The result of the operator on two ints. */
static long combine(char op, long a, long b)
{
    return op == '+' ? a + b : op == '*' ? a * b : op == '>' ? (a > b ? a : b) : (a < b ? a : b);
}

static void (*operator_of(char op))(int *, void *, void *, int *, int *)
{
    return op == '+' ? PvmSum : op == '*' ? PvmProduct : op == '>' ? PvmMax : PvmMin;
}

static long expected(char op, int i)
{
    long result = value_of(0, i);
    for (int who = 1; who < members; who++)
        result = combine(op, result, value_of(who, i));
    return result;
}

/* One type, operator and root. Products overflow in small types in the same way on both sides. */
#define REDUCE(T, type, op, root)                                                                                      \
    do {                                                                                                               \
        T data[LENGTH + 1];                                                                                            \
        for (int i = 0; i < LENGTH; i++)                                                                               \
            data[i] = (T)value_of(instance, i);                                                                        \
        data[LENGTH] = OTHER;                                                                                          \
        CHECK_EQ(pvm_reduce(operator_of(op), data, LENGTH, type, 3, "r", root), 0);                                    \
        for (int i = 0; i < LENGTH; i++)                                                                               \
            CHECK(data[i] == (T)(instance == (root) ? expected(op, i) : value_of(instance, i)));                       \
        CHECK(data[LENGTH] == OTHER);                                                                                  \
    } while (0)

static void reduce_all_types(char op, int root)
{
    if (op == '>' || op == '<')
        REDUCE(char, PVM_BYTE, op, root);
    REDUCE(short, PVM_SHORT, op, root);
    REDUCE(int, PVM_INT, op, root);
    REDUCE(long, PVM_LONG, op, root);
    REDUCE(unsigned short, PVM_USHORT, op, root);
    REDUCE(unsigned, PVM_UINT, op, root);
    REDUCE(unsigned long, PVM_ULONG, op, root);
    REDUCE(double, PVM_DOUBLE, op, root);
    if (op != '*') /* a float cannot hold a product of so many exactly */
        REDUCE(float, PVM_FLOAT, op, root);
}

/* Complex numbers: sums and products of both parts; maximum and minimum by modulus. */
static void reduce_complex(int root)
{
    float complex f[2] = {instance + 1 - 2 * I, -(instance + 1) * I};
    double complex d[2] = {instance + 1 - 2 * I, 1 + I}, product = 1;

    CHECK_EQ(pvm_reduce(PvmSum, f, 2, PVM_CPLX, 3, "r", root), 0);
    CHECK(instance != root || f[0] == (float)(members * (members + 1) / 2) - 2.0f * members * I);
    f[1] = -(instance + 1) * I;
    CHECK_EQ(pvm_reduce(PvmMax, f + 1, 1, PVM_CPLX, 3, "r", root), 0);
    CHECK(instance != root || f[1] == -(float)members * I);
    f[1] = -(instance + 1) * I;
    CHECK_EQ(pvm_reduce(PvmMin, f + 1, 1, PVM_CPLX, 3, "r", root), 0);
    CHECK(instance != root || f[1] == -1.0f * I);
    CHECK_EQ(pvm_reduce(PvmProduct, d + 1, 1, PVM_DCPLX, 3, "r", root), 0);
    for (int i = 0; i < members; i++)
        product *= 1 + I;
    CHECK(instance != root || d[1] == product);
    CHECK_EQ(pvm_reduce(PvmMax, d, 1, PVM_DCPLX, 3, "r", root), 0);
    CHECK(instance != root || d[0] == members - 2 * I);
}

/* ---- user-defined functions ---- */

static void greatest_with_place(int *type, void *x, void *y, int *n, int *info)
{
    double *a = x, *b = y;
    int half = *n / 2;

    *info = *type == PVM_DOUBLE ? PvmOk : PvmBadParam;
    for (int i = 0; i < half; i++)
        if (b[i] > a[i]) {
            a[i] = b[i];
            a[i + half] = b[i + half];
        }
}

static void refuse(int *type, void *x, void *y, int *n, int *info)
{
    (void)type, (void)x, (void)y, (void)n;
    *info = PvmOverflow;
}

static void reduce_own(int root)
{
    double data[4] = {instance % 5, -instance, instance, instance};
    CHECK_EQ(pvm_reduce(greatest_with_place, data, 4, PVM_DOUBLE, 3, "r", root), 0);
    if (instance == root) {
        CHECK(data[0] == (members > 4 ? 4 : members - 1));
        CHECK(data[1] == 0);
        CHECK((int)data[2] % 5 == (int)data[0]);
        CHECK(data[3] == 0);
    } else {
        CHECK(data[0] == instance % 5 && data[1] == -instance && data[2] == instance && data[3] == instance);
    }

    int fail = pvm_reduce(refuse, data, 4, PVM_DOUBLE, 3, "r", root);
    CHECK_EQ(fail, instance == root && members > 1 ? PvmOverflow : 0);
    char bytes[2] = {1, 2};
    fail = pvm_reduce(PvmSum, bytes, 2, PVM_BYTE, 3, "r", root);
    CHECK_EQ(fail, instance == root && members > 1 ? PvmBadParam : 0);
    CHECK(bytes[0] == 1 && bytes[1] == 2);
}

/* ---- identical bits, whichever member is first ---- */

static void reduce_repeatedly(void)
{
    unsigned random = (unsigned)instance * 77 + 1;
    double first = 0;

    for (int round = 0; round < 30; round++) {
        double x = 1.0 / (instance + 3);
        check_sleep_ms((int)(check_random(&random) % 7));
        CHECK_EQ(pvm_reduce(PvmSum, &x, 1, PVM_DOUBLE, 4, "r", 0), 0);
        if (round == 0)
            first = x;
        CHECK(memcmp(&x, &first, sizeof x) == 0);
        if (round % 4 == 0)
            CHECK_EQ(pvm_barrier("r", members), 0);
    }
}

static void reduce_large(int root)
{
    static int data[LARGE];
    for (int i = 0; i < LARGE; i++)
        data[i] = i + instance;
    CHECK_EQ(pvm_reduce(PvmSum, data, LARGE, PVM_INT, 5, "r", root), 0);
    if (instance == root)
        for (int i = 0; i < LARGE; i++)
            CHECK_EQ(data[i], members * i + members * (members - 1) / 2);
}

static void check_errors(void)
{
    int data[2];
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_INT, 1, NULL, 0), PvmNullGroup);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_INT, 1, "none", 0), PvmNoGroup);
    CHECK_EQ(pvm_reduce(PvmSum, data, 0, PVM_INT, 1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, data, -1, PVM_INT, 1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_STR, 1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, 12, 1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_INT, -1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_INT, 1, "r", members), PvmNoInst);
    CHECK_EQ(pvm_reduce(PvmSum, data, 1, PVM_INT, 1, "r", -1), PvmNoInst);
    CHECK_EQ(pvm_reduce(NULL, data, 1, PVM_INT, 1, "r", 0), PvmBadParam);
    CHECK_EQ(pvm_reduce(PvmSum, NULL, 1, PVM_INT, 1, "r", 0), PvmBadParam);
}

static void member(int argc, char **argv)
{
    int argument = team_argument(argc, argv);
    members = argument / 2;
    instance = team_join_kind("r", members, argument % 2);
    pvm_setopt(PvmAutoErr, 0);
    for (int root = 0; root<members; root += members> 4 ? members / 3 : 1) {
        for (const char *op = "+*<>"; *op; op++)
            reduce_all_types(*op, root);
        reduce_complex(root);
        reduce_own(root);
    }
    reduce_repeatedly();
    reduce_large(members - 1);
    CHECK_EQ(pvm_barrier("r", members), 0);
    check_errors();
    CHECK_EQ(pvm_barrier("r", members), 0);
    CHECK_EQ(pvm_lvgroup("r"), 0);
    team_done();
}

static void master(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 3, 8, 9, MEMBERS_MAX};
    int hosts = team_hosts(argc, argv);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int frozen = 0; frozen <= 1; frozen++) {
            struct team t;
            team_start(&t, "member", 2 * sizes[i] + frozen, sizes[i], hosts);
            team_finish(&t);
        }
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
