/* test_pvmd_environment.c - the environment of a started process, and $NAME in paths. */
#include "pvmd/spawn/environment.h"
#include "core/message/dsig.h"
#include "pvmd/base/self.h"
#include "tests/unit/unit.h"

struct pvmd_daemon pvmd = {.socket_path = "/tmp/pvmtmp.0"};

static const char *get(const struct pvmd_environment *e, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < e->count; i++)
        if (!strncmp(e->variables[i], name, strlen(name)) && e->variables[i][strlen(name)] == '=') {
            ck_assert_msg(!found, "%s is there twice", name);
            found = e->variables[i] + strlen(name) + 1;
        }
    return found ? found : "(none)";
}

START_TEST(orders_go_over_ours_and_tasks_find_their_daemon)
{
    char *given[] = {"ONE=order", "PVMSOCK=/forged", "NOVALUE", "THREE=a=b", NULL};
    struct pvmd_order order = {.environment = given, .environment_count = 4, .context = 0x40001, .trace_mask = ""};
    struct pvmd_environment e;
    setenv("ONE", "daemon", 1);
    setenv("ONETWO", "daemon", 1);
    ck_assert_int_eq(pvmd_environment_make(&order, &e), 0);
    ck_assert_str_eq(get(&e, "ONE"), "order");
    ck_assert_str_eq(get(&e, "ONETWO"), "daemon");
    ck_assert_str_eq(get(&e, "THREE"), "a=b");
    ck_assert_str_eq(get(&e, "PVMSOCK"), "/tmp/pvmtmp.0");
    ck_assert_str_eq(get(&e, "PVMCTX"), "0x40001");
    ck_assert_uint_eq(strlen(get(&e, "PVMTMASK")), 35);
    ck_assert_str_eq(get(&e, "PVMEPID"), "(none)");
    ck_assert_int_eq(pvmd_environment_set(&e, "PVMEPID=1"), 0);
    ck_assert_int_eq(pvmd_environment_set(&e, "PVMEPID=2"), 0);
    ck_assert_str_eq(get(&e, "PVMEPID"), "2");
    ck_assert_ptr_null(e.variables[e.count]);
    pvmd_environment_free(&e);
}
END_TEST

START_TEST(names_are_replaced)
{
    char arch[100];
    snprintf(arch, sizeof arch, "/h/bin/%s:x", pvmc_arch_own());
    const char *cases[][2] = {{"", ""},
                              {"plain", "plain"},
                              {"$HOME", "/h"},
                              {"$HOME/bin/$PVM_ARCH:x", arch},
                              {"${HOME}bin", "/hbin"},
                              {"$HOMEbin", ""},
                              {"a$UNSET_OF_TEST/b", "a/b"},
                              {"$", "$"},
                              {"$/x", "$/x"},
                              {"a$$HOME", "a$/h"},
                              {"${HOME", "/h"}};
    setenv("HOME", "/h", 1);
    unsetenv("PVM_ARCH");
    unsetenv("UNSET_OF_TEST");
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = pvmd_environment_expand(cases[i][0]);
        ck_assert_str_eq(text, cases[i][1]);
        free(text);
    }
}
END_TEST

START_TEST(root_and_home_have_values_when_not_set)
{
    unsetenv("HOME");
    unsetenv("PVM_ROOT");
    char *text = pvmd_environment_expand("$HOME");
    ck_assert_int_eq(text[0], '/');
    free(text);
    text = pvmd_environment_expand("$PVM_ROOT");
    ck_assert_int_eq(text[0], '/');
    free(text);
}
END_TEST

UNIT_MAIN("pvmd_environment", orders_go_over_ours_and_tasks_find_their_daemon, names_are_replaced,
          root_and_home_have_values_when_not_set)
