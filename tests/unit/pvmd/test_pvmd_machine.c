/* test_pvmd_machine.c - the memory of the machine's secret is neither swapped, dumped nor inherited. */
#include "pvmd/net/machine.h"
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/error.h"
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

START_TEST(the_second_key_becomes_our_own)
{
    static const struct pvmd_machine next = {.id = {3}, .secret = {4}};
    int place;
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    ck_assert_int_eq(pvmd_machine_set_other(PVMD_PLACE_SECOND, &next), 0);
    pvmd_machine_swap();
    ck_assert_ptr_eq(pvmd_machine_key(next.id, &place), &pvmd_secrets->own);
    ck_assert_ptr_eq(pvmd_machine_key(machine.id, &place), &pvmd_secrets->others[PVMD_PLACE_SECOND]);
}
END_TEST

START_TEST(a_wrapped_secret_opens_with_ours_only)
{
    static const struct pvmd_machine next = {.id = {3}, .secret = {4, 5, 6}};
    struct pvmd_machine got = {.id = {3}};
    uint8_t wrapped[PVMD_WRAPPED_BYTES];
    ck_assert_int_eq(pvmd_machine_join(&machine), 0);
    ck_assert_int_eq(pvmd_machine_wrap(&next, wrapped), 0);
    ck_assert_ptr_null(memmem(wrapped, sizeof wrapped, next.secret, 8));
    ck_assert_int_eq(pvmd_machine_unwrap(wrapped, &got), 0);
    ck_assert_mem_eq(&got, &next, sizeof next);
    wrapped[7] ^= 1;
    ck_assert_int_eq(pvmd_machine_unwrap(wrapped, &got), PVMC_EDENIED);
    wrapped[7] ^= 1;
    ck_assert_int_eq(pvmd_machine_join(&next), 0);
    ck_assert_int_eq(pvmd_machine_unwrap(wrapped, &got), PVMC_EDENIED);
}
END_TEST

UNIT_MAIN("pvmd_machine", the_secret_is_locked_and_not_dumped, children_do_not_inherit_it, other_keys_are_found_by_id,
          the_second_key_becomes_our_own, a_wrapped_secret_opens_with_ours_only)
