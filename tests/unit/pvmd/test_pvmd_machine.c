/* test_pvmd_machine.c - the memory of the machine's secret is neither swapped, dumped nor inherited. */
#include "pvmd/net/machine.h"
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/unit.h"

static const struct pvmd_machine machine = {.id = {1}, .secret = {2}};

/* The flags in /proc/self/smaps of the mapping that contains p. */
static void read_flags(const void *p, char *flags, size_t size)
{
    char line[512];
    unsigned long begin, end;
    bool is_ours = false;
    FILE *f = fopen("/proc/self/smaps", "re");
    ck_assert_ptr_nonnull(f);
    flags[0] = '\0';
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_ours = begin <= (uintptr_t)p && (uintptr_t)p < end;
        else if (is_ours && !strncmp(line, "VmFlags:", 8))
            snprintf(flags, size, "%s", line + 8);
    }
    fclose(f);
}

START_TEST(the_secret_is_locked_and_not_dumped)
{
    char flags[512];
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    read_flags(pvmd_secrets, flags, sizeof flags);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* mlock() has no effect there */
    ck_assert_msg(strstr(flags, " lo ") != NULL, "not locked:%s", flags);
#endif
    ck_assert_msg(strstr(flags, " dd ") != NULL, "in core dumps:%s", flags);
    ck_assert_msg(strstr(flags, " wf ") != NULL, "inherited:%s", flags);
}
END_TEST

START_TEST(children_do_not_inherit_it)
{
    static const struct pvmd_secrets none;
    int status;
    ck_assert_int_eq(pvmd_machine_new(), 0);
    ck_assert_mem_ne(pvmd_secrets, &none, sizeof none);
    pid_t pid = fork();
    if (pid == 0)
        _exit(memcmp(pvmd_secrets, &none, sizeof none) != 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* A key has a place, and goes from it without a trace. */
START_TEST(other_keys_are_found_by_id)
{
    static const struct pvmd_machine token = {.id = {3}, .secret = {4}};
    static const struct pvmd_key nothing;
    static const uint8_t zeros[PVMD_MACHINE_ID_BYTES];
    int place;
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    ck_assert_ptr_null(pvmd_machine_key(token.id, &place));
    ck_assert_ptr_null(pvmd_machine_key(zeros, &place));
    ck_assert_int_eq(pvmd_machine_set_other(PVMD_PLACE_TOKENS + 5, &token), 0);
    const struct pvmd_key *key = pvmd_machine_key(token.id, &place);
    ck_assert_int_eq(place, PVMD_PLACE_TOKENS + 5);
    ck_assert_mem_eq(key->machine.secret, token.secret, sizeof token.secret);
    ck_assert_mem_ne(key->door.key, pvmd_secrets->own.door.key, sizeof key->door.key);
    ck_assert_ptr_eq(pvmd_machine_key(machine.id, &place), &pvmd_secrets->own);
    ck_assert_int_eq(place, -1);
    ck_assert_int_eq(pvmd_machine_set_other(PVMD_PLACE_TOKENS + 5, NULL), 0);
    ck_assert_ptr_null(pvmd_machine_key(token.id, &place));
    ck_assert_mem_eq(key, &nothing, sizeof nothing);
}
END_TEST

UNIT_MAIN("pvmd_machine", the_secret_is_locked_and_not_dumped, children_do_not_inherit_it, other_keys_are_found_by_id)
