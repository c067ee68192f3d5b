/*
 * rejoin - a daemon that the master gives up while it joins ends, and makes room for the next one: rejoin [ROUNDS]
 *
 * PVM_FAULT makes the master fail to read from new connections now and then. Its slave may be linked by then.
 */
#include "tests/machine/runner/check.h"

static const double ROOM_LIMIT_S = 3;

static int add_host(void)
{
    char *name = (char *)check_host_name(1);
    int status = 0, added = pvm_addhosts(&name, 1, &status);
    return added == 1 ? PvmOk : status;
}

/* Adds the host, and returns how often that failed. */
static int add_again_and_again(void)
{
    int failures = 0, code;
    double dup_since_s = 0;
    while ((code = add_host()) != PvmOk) {
        failures++;
        if (code != PvmDupHost)
            dup_since_s = 0;
        else if (!dup_since_s)
            dup_since_s = check_now();
        else if (check_now() > dup_since_s + ROOM_LIMIT_S * check_slowness())
            check_failed(__FILE__, __LINE__, "a daemon that does not belong to the machine stays for %.1f s",
                         check_now() - dup_since_s);
        check_sleep_ms(10);
    }
    return failures;
}

static void master(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40, failures = 0;
    char *name = (char *)check_host_name(1);
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0, status; i < rounds; i++) {
        failures += add_again_and_again();
        pvm_delhosts(&name, 1, &status);
    }
    printf("%d rounds, %d calls of pvm_addhosts failed\n", rounds, failures);
    CHECK(failures > 0);
}

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, NULL);
}
