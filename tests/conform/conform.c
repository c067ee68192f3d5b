/*
 * conform.c - tests the promises of transport.h on one transport: conform NAME [FAULTS].
 *
 * With FAULTS (a text for PVM_FAULT) the transport is wrapped. Faults that only cause delays do not change the
 * promises; with faults that end connections (drop, cut, nojoin) only the case `faults` runs, which expects that.
 * CONFORM_LOSSY=1 means that the wire below loses frames, CONFORM_SLOW=N that it is N times as slow. CONFORM_RDMA_CM=1:
 * librdmacm is below, on a virtual machine's devices. It keeps them open until the process ends, and forked processes
 * cannot use them. CONFORM_NO_KILL=1: a process that is killed may take others with it, so none is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "transports/fault/fault.h"
#ifdef CONFORM_FAKE_VERBS
#include "tests/unit/transports/fake_verbs.h"
#endif
#include "side.h"
#include "suites.h"

static void plain(void)
{
    use_whole = false;
}

static void whole(void)
{
    use_whole = true;
}

/* Every test runs twice: with the callback for whole messages, and without. */
static void add(Suite *s, TCase *(*part)(void))
{
    for (int i = 0; i < 2; i++) {
        TCase *tc = part();
        tcase_add_checked_fixture(tc, i ? whole : plain, NULL);
        tcase_add_checked_fixture(tc, both_open, both_close);
        tcase_set_timeout(tc, wire_slowness > 1 ? 75 * wire_slowness : 180);
        suite_add_tcase(s, tc);
    }
}

static Suite *suite(void)
{
    Suite *s = suite_create(ops->name);
    if (faults_end) {
        add(s, faults_case);
        return s;
    }
    add(s, rules_case);
    add(s, memory_case);
    add(s, meeting_case);
    if (!one_process)
        add(s, processes_case);
    return s;
}

/* Whether the names include every built transport of the table; `wrapped`: every one that faults can wrap. */
static int covers(char **names, int count, bool wrapped)
{
    int missing = 0;
    for (const struct pvmt_transport_row *row = pvmt_transport_table; row->name; row++) {
        bool found = !row->ops || (wrapped && !row->ops->offer);
        for (int i = 0; i < count; i++)
            found |= !strcmp(names[i], row->name);
        if (!found)
            missing++, printf("transport %s is not in tests/transports.cmake\n", row->name);
    }
    return missing ? 1 : 0;
}

/* The build conform-verbs has a fake device. */
static void prepare(void)
{
#ifdef CONFORM_FAKE_VERBS
    const char *kind = getenv("DPVM_FAKE_DEVICE");
    fake_verbs_reset();
    fake_device.soft = kind && !strcmp(kind, "soft");
    fake_device.no_shared = kind && !strcmp(kind, "plain");
    pvmt_verbs_replace(&fake_verbs);
    one_process = true;
#endif
}

/* Whether this user can use a transport: the exit code; prints the reason if not. */
static int usable(const char *name)
{
    char why[512] = "";
    const struct pvmt_transport_ops *asked = pvmt_transport_find(name);
    int rc = asked ? asked->available(why, sizeof why) : PVMC_ENOTFOUND;
    puts(rc ? why : "usable");
    return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--usable"))
        return usable(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "--covers"))
        return covers(argv + 2, argc - 2, false);
    if (argc > 2 && !strcmp(argv[1], "--covers-wrapped"))
        return covers(argv + 2, argc - 2, true);
    one_process = argc >= 2 && !strcmp(argv[1], "loop");
    prepare();
    ops = argc >= 2 ? pvmt_transport_find(argv[1]) : NULL;
    if (!ops || argc > 3) {
        fprintf(stderr, "usage: conform TRANSPORT [FAULTS]\n");
        return 2;
    }
    wire_loses = getenv("CONFORM_LOSSY") != NULL;
    if (getenv("CONFORM_SLOW"))
        wire_slowness = atoi(getenv("CONFORM_SLOW"));
    devices_stay = getenv("CONFORM_RDMA_CM") != NULL;
    kills_spread = getenv("CONFORM_NO_KILL") != NULL;
    setenv("PVM_FAULT", argc > 2 ? argv[2] : "", 1);
    faults_end = argc > 2 && (strstr(argv[2], "drop") || strstr(argv[2], "cut") || strstr(argv[2], "nojoin"));
    const struct pvmt_transport_ops *inner = ops;
    ops = pvmt_fault_wrap(inner);
    if ((argc > 2) != (ops != inner)) {
        fprintf(stderr, "conform: %s cannot be wrapped with faults \"%s\"\n", argv[1], argc > 2 ? argv[2] : "");
        return 2;
    }
    if (pvmc_mem_use_arenas())
        printf("no arenas: messages by reference are not tried\n");
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
