/*
 * sections_group.c - the group library.
 */
#include "probe.h"

static int me;

static void begin(void)
{
    probe_quiet();
    me = pvm_mytid();
}

static void no_group(void)
{
    int value = 1;

    begin();
    CALL(pvm_joingroup(NULL));
    CALL(pvm_joingroup(""));
    CALL(pvm_gsize("nosuch"));
    CALL(pvm_gsize(""));
    CALL(pvm_gsize(NULL));
    CALL(pvm_gettid("nosuch", 0));
    CALL(pvm_gettid("", 0));
    CALL(pvm_gettid(NULL, 0));
    CALL(pvm_getinst("nosuch", me));
    CALL(pvm_getinst("", me));
    CALL(pvm_getinst(NULL, me));
    CALL(pvm_lvgroup("nosuch"));
    CALL(pvm_lvgroup(""));
    CALL(pvm_lvgroup(NULL));
    CALL(pvm_barrier("nosuch", 1));
    CALL(pvm_barrier("", 1));
    CALL(pvm_barrier(NULL, 1));
    pvm_initsend(PvmDataDefault);
    CALL(pvm_bcast("nosuch", 1));
    CALL(pvm_bcast("", 1));
    CALL(pvm_bcast(NULL, 1));
    CALL(pvm_freezegroup("", 1));
    CALL(pvm_reduce(PvmSum, &value, 1, PVM_INT, 1, "nosuch", 0));
    CALL(pvm_gather(&value, &value, 1, PVM_INT, 1, "nosuch", 0));
    CALL(pvm_scatter(&value, &value, 1, PVM_INT, 1, "nosuch", 0));
}

static void alone(void)
{
    int value = 5, result = 0;

    begin();
    CALL(pvm_joingroup("g"));
    CALL(pvm_joingroup("g"));
    CALL(pvm_joingroup("h"));
    CALL(pvm_gsize("g"));
    CALL(pvm_gettid("g", 0) == me);
    CALL(pvm_gettid("g", 1));
    CALL(pvm_gettid("g", -1));
    CALL(pvm_getinst("g", me));
    CALL(pvm_getinst("g", me + 1000));
    CALL(pvm_getinst("g", 0));
    CALL(pvm_barrier("g", 1));
    CALL(pvm_barrier("g", -1));
    pvm_initsend(PvmDataDefault);
    CALL(pvm_bcast("g", 1));
    CALL(pvm_bcast("g", -1));
    CALL(pvm_reduce(PvmSum, &value, 1, PVM_INT, 1, "g", 0));
    FACT("%d", value);
    CALL(pvm_gather(&result, &value, 1, PVM_INT, 2, "g", 0));
    FACT("%d", result);
    result = 0;
    CALL(pvm_scatter(&result, &value, 1, PVM_INT, 3, "g", 0));
    FACT("%d", result);
    CALL(pvm_reduce(PvmSum, &value, -1, PVM_INT, 1, "g", 0));
    CALL(pvm_reduce(PvmSum, &value, 1, 99, 1, "g", 0));
    CALL(pvm_reduce(PvmSum, &value, 1, PVM_STR, 1, "g", 0));
    CALL(pvm_reduce(PvmMax, &value, 0, PVM_INT, 1, "g", 0));
    CALL(pvm_getopt(PvmResvTids));
    CALL(pvm_getcontext());
    CALL(pvm_lvgroup("g"));
    CALL(pvm_lvgroup("g"));
    CALL(pvm_gsize("g"));
    CALL(pvm_joingroup("g"));
    CALL(pvm_lvgroup("h"));
    CALL(pvm_exit());
    begin();
    CALL(pvm_gsize("g"));
    CALL(pvm_gsize("h"));
}

static void no_root(void)
{
    int value = 5;

    begin();
    pvm_joingroup("g");
    CALL(pvm_reduce(PvmSum, &value, 1, PVM_INT, 1, "g", 7));
    CALL(pvm_gather(&value, &value, 1, PVM_INT, 1, "g", 7));
    CALL(pvm_scatter(&value, &value, 1, PVM_INT, 1, "g", 7));
    CALL(pvm_reduce(PvmSum, &value, 1, PVM_INT, 1, "g", -1));
}

static void no_function(void)
{
    int value = 5;

    begin();
    pvm_joingroup("g");
    CALL(pvm_reduce(NULL, &value, 1, PVM_INT, 1, "g", 0));
}

/* Four members: us and three children in role "member" (roles.c), which make the same calls. */
static void four(void)
{
    static void (*const functions[])(int *, void *, void *, int *, int *) = {PvmMax, PvmMin, PvmSum, PvmProduct};
    int data[2] = {0, 0}, source[8] = {0, 1, 2, 3, 4, 5, 6, 7}, part[2], all[8] = {0}, instances = 0;

    begin();
    CALL(pvm_joingroup("g"));
    probe_children("member", NULL, 3);
    CALL(pvm_barrier("g", 4));
    CALL(pvm_gsize("g"));
    for (int i = 0; i < 3; i++)
        instances += pvm_getinst("g", probe_child[i]);
    FACT("sum of the children's instances %d", instances);
    CALL(pvm_gettid("g", 4));
    CALL(pvm_reduce(PvmSum, data, 2, PVM_INT, 5, "g", 0));
    FACT("%d %d", data[0], data[1]);
    CALL(pvm_scatter(part, source, 2, PVM_INT, 6, "g", 0));
    FACT("%d %d", part[0], part[1]);
    CALL(pvm_gather(all, part, 2, PVM_INT, 7, "g", 0));
    FACT("%d %d %d %d %d %d %d %d", all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(data, 1, 1);
    CALL(pvm_bcast("g", 8));
    CALL(pvm_nrecv(-1, 8));
    for (int i = 0; i < 4; i++) {
        double values[2] = {1, 0};
        CALL(pvm_reduce(functions[i], values, 2, PVM_DOUBLE, 10 + i, "g", 0));
        FACT("%g %g", values[0], values[1] + 0.0);
    }
    CALL(pvm_freezegroup("g", 4));
    CALL(pvm_gsize("g"));
    CALL(pvm_gettid("g", 0) == me);
    CALL(pvm_barrier("g", 4));
    CALL(pvm_barrier("g", -1));
    CALL(pvm_joingroup("g"));
    probe_wait_ms(200);
    CALL(pvm_gsize("g"));
    CALL(pvm_lvgroup("g"));
    CALL(pvm_lvgroup("g"));
    CALL(pvm_gsize("g"));
    CALL(pvm_joingroup("g"));
}

static void frozen_twice(void)
{
    begin();
    CALL(pvm_joingroup("g"));
    CALL(pvm_freezegroup("g", 1));
    CALL(pvm_freezegroup("g", 1));
    CALL(pvm_joingroup("g"));
    CALL(pvm_lvgroup("g"));
}

static void barrier_counts(void)
{
    begin();
    CALL(pvm_joingroup("g"));
    CALL(pvm_barrier("g", 0));
    CALL(pvm_barrier("g", 1));
}

static void barrier_stranger(void)
{
    begin();
    probe_children("join", NULL, 1);
    pvm_recv(probe_child[0], 1);
    CALL(pvm_gsize("g"));
    CALL(pvm_barrier("g", 1));
    pvm_initsend(PvmDataDefault);
    CALL(pvm_bcast("g", 8));
    CALL(pvm_lvgroup("g"));
    CALL(pvm_reduce(PvmSum, &(int){1}, 1, PVM_INT, 1, "g", 0));
    pvm_recv(probe_child[0], 8);
    pvm_sendsig(probe_child[0], SIGKILL); /* a member dies without pvm_lvgroup() */
    probe_wait_ms(300);
    CALL(pvm_gsize("g"));
}

/* The answers of lookups with keys that no member has. */
static void look_up_strange_keys(void)
{
    static const int keys[] = {-1, -2, -31, 0, INT_MIN, INT_MAX, 1};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        FACT("key %d", keys[i]);
        CALL(pvm_getinst("g", keys[i]));
        CALL(pvm_gettid("g", keys[i] > 0 ? 99 : keys[i] ? keys[i] : 98));
    }
}

/* Adds a member of "g", which only waits. */
static int one_more(void)
{
    probe_children("join", NULL, 1);
    pvm_recv(probe_child[0], 1);
    return probe_child[0];
}

static void instances(void)
{
    int members[3];

    begin();
    CALL(pvm_getinst("g", -1));
    CALL(pvm_gettid("g", -1));
    CALL(pvm_getinst("", -1));
    CALL(pvm_getinst(NULL, -1));
    CALL(pvm_getinst("a name that is longer than thirty-one characters", -1));
    CALL(pvm_joingroup("g"));
    look_up_strange_keys();
    for (int i = 0; i < 3; i++)
        members[i] = one_more();
    CALL(pvm_getinst("g", -1));
    CALL(pvm_lvgroup("g"));
    look_up_strange_keys(); /* 0 is free */
    CALL(pvm_joingroup("g"));
    CALL(pvm_getinst("g", -1));
    pvm_sendsig(members[1], SIGKILL);
    probe_wait_ms(300);
    look_up_strange_keys(); /* 2 is free */
    pvm_sendsig(members[0], SIGKILL);
    probe_wait_ms(300);
    CALL(pvm_getinst("g", -1)); /* 1 and 2 */
    CALL(pvm_gsize("g"));
    pvm_sendsig(members[2], SIGKILL);
    probe_wait_ms(300);
    CALL(pvm_getinst("g", -1));
    CALL(pvm_joingroup("h"));
    CALL(pvm_getinst("h", -1));
    CALL(pvm_lvgroup("h"));
    CALL(pvm_getinst("h", -1));
    CALL(pvm_freezegroup("g", 1));
    look_up_strange_keys();
    CALL(pvm_getinst("g", me));
}

/* A frozen group that has lost a member: queries by a member and by another task. */
static void instances_frozen(void)
{
    begin();
    probe_children("freeze", NULL, 2);
    pvm_recv(-1, 1);
    pvm_recv(-1, 1);
    CALL(pvm_gsize("g"));
    CALL(pvm_getinst("g", -1));
    CALL(pvm_getinst("g", 1));
    CALL(pvm_gettid("g", -1));
    pvm_sendsig(probe_child[pvm_getinst("g", probe_child[0]) == 0 ? 0 : 1], SIGKILL);
    probe_wait_ms(300);
    CALL(pvm_getinst("g", -1));
    CALL(pvm_gsize("g"));
}

/* The functions themselves: types, and refused arguments. */
static void functions(void)
{
    int x[2] = {1, -5}, y[2] = {3, -7}, n = 2, info = -1;
    double z[4] = {1, 2, 3, 4}, w[4] = {5, 6, 7, 8};

    PvmMax(&(int){PVM_INT}, x, y, &n, &info);
    FACT("max %d %d, %d", x[0], x[1], info);
    PvmMin(&(int){PVM_INT}, x, y, &n, &info);
    FACT("min %d %d, %d", x[0], x[1], info);
    PvmSum(&(int){PVM_INT}, x, y, &n, &info);
    FACT("sum %d %d, %d", x[0], x[1], info);
    PvmProduct(&(int){PVM_INT}, x, y, &n, &info);
    FACT("product %d %d, %d", x[0], x[1], info);
    PvmSum(&(int){PVM_DCPLX}, z, w, &n, &info);
    FACT("complex sum %g %g %g %g, %d", z[0], z[1], z[2], z[3], info);
    PvmProduct(&(int){PVM_DCPLX}, z, w, &n, &info);
    FACT("complex product %g %g %g %g, %d", z[0], z[1], z[2], z[3], info);
    PvmMax(&(int){PVM_DCPLX}, z, w, &n, &info);
    FACT("complex max %g %g %g %g, %d", z[0], z[1], z[2], z[3], info);
    PvmMin(&(int){PVM_DCPLX}, z, w, &n, &info);
    FACT("complex min %g %g %g %g, %d", z[0], z[1], z[2], z[3], info);
    PvmSum(&(int){99}, x, y, &n, &info);
    FACT("sum of type 99: %d", info);
    PvmMax(&(int){PVM_STR}, x, y, &n, &info);
    FACT("max of strings: %d", info);
}

const struct probe_section probe_group_table[] = {
    {"group-none", no_group},
    {"group-alone", alone},
    {"group-no-root", no_root},
    {"group-no-function", no_function},
    {"group-four", four},
    {"group-frozen-twice", frozen_twice},
    {"group-barrier-counts", barrier_counts},
    {"group-stranger", barrier_stranger},
    {"group-instances", instances},
    {"group-instances-frozen", instances_frozen},
    {"group-functions", functions},
    {NULL, NULL},
};
