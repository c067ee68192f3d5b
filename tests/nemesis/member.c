/* member.c - a task that meets the other members of a group in one barrier after the other until it is killed. */
#include "load.h"
#include "tests/machine/runner/check.h"

enum { PAUSE_MS = 20 };

void member(int argc, char **argv)
{
    static char group[] = "nemesis";
    CHECK_EQ(argc, 3);
    int count = atoi(argv[2]);
    journal_open(argv[1], "barrier");
    pvm_setopt(PvmAutoErr, 0);
    int code = pvm_joingroup(group);
    while (code >= 0 || code == PvmNoTask) {
        journal_invoke("barrier %d", count);
        code = pvm_barrier(group, count);
        journal_return("%d", code);
        journal_beat();
        check_sleep_ms(PAUSE_MS);
    }
    if (code != PvmSysErr) /* the daemon is gone: only then may a call fail */
        check_failed(__FILE__, __LINE__, "a call of the group failed with %d", code);
}
