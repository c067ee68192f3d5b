/* suite.h - main() of the tests of the three handshakes. */
#ifndef IMPOSTOR_SUITE_H
#define IMPOSTOR_SUITE_H

#include <check.h>
#include <stdlib.h>
#include "impostor.h"

/* A test that runs for _i from 0 to times - 1, each time in a process of its own; NULL ends the list. */
struct impostor_test {
    const TTest *test;
    int times;
};

/* Each kind of impostor as the calling side; as the called side, with each kind of proof: see called_as(). */
#define IMPOSTORS_THAT_CALL       IMPOSTOR_KINDS
#define IMPOSTORS_THAT_ARE_CALLED (IMPOSTOR_KINDS * IMPOSTOR_PROOFS)

static inline struct impostor called_as(int i)
{
    return (struct impostor){.kind = i % IMPOSTOR_KINDS, .proof = i / IMPOSTOR_KINDS};
}

static inline int impostor_suite(const char *name, const struct impostor_test *tests)
{
    Suite *suite = suite_create(name);
    TCase *all = tcase_create(name);
    tcase_set_timeout(all, 120);
    for (; tests->test; tests++)
        tcase_add_loop_test(all, tests->test, 0, tests->times);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
