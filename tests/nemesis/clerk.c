/*
 * clerk.c - a task that puts, reads and takes mailbox entries of few names, as all other clerks do. The names change
 * every second, so that the history of each name is short; an old name's entries are taken away.
 */
#include "load.h"
#include "tests/machine/runner/check.h"

enum { NAMES = 2, PERIOD_S = 1, OLD = 3, FLAGS = PvmMboxPersistent | PvmMboxOverWritable, PAUSE_MS = 15 };

static unsigned state;
static int serial;

/* The daemon is gone: the outcome of this call is unknown. The rest of the task's calls fail likewise. */
static void check_alive_after(int code)
{
    if (code != PvmSysErr)
        return;
    pvm_exit();
    exit(0);
}

static void put(const char *name, const char *op, int flags)
{
    int value[] = {pvm_mytid(), serial++};
    int mid = pvm_mkbuf(PvmDataDefault), old = pvm_setsbuf(mid);
    CHECK_EQ(pvm_pkint(value, 2, 1), 0);
    pvm_setsbuf(old);
    journal_invoke("%s %s %x.%d", op, name, (unsigned)value[0], value[1]);
    int code = pvm_putinfo((char *)name, mid, flags);
    check_alive_after(code);
    if (code < 0)
        check_failed(__FILE__, __LINE__, "pvm_putinfo(%s) is %d", name, code);
    journal_return("%d", code);
    CHECK_EQ(pvm_freebuf(mid), 0);
}

/* Reads one entry; false if there is none. */
static int get(const char *name, const char *op, int flags)
{
    int value[2];
    journal_invoke("%s %s", op, name);
    int mid = pvm_recvinfo((char *)name, 0, flags);
    check_alive_after(mid);
    if (mid < 0) {
        if (mid != PvmNotFound)
            check_failed(__FILE__, __LINE__, "pvm_recvinfo(%s) is %d", name, mid);
        journal_return("none");
        return 0;
    }
    CHECK_EQ(pvm_upkint(value, 2, 1), 0);
    journal_return("%x.%d", (unsigned)value[0], value[1]);
    return 1;
}

static void del(const char *name)
{
    journal_invoke("del %s", name);
    int code = pvm_delinfo((char *)name, 0, 0);
    check_alive_after(code);
    if (code < 0 && code != PvmNotFound)
        check_failed(__FILE__, __LINE__, "pvm_delinfo(%s) is %d", name, code);
    journal_return(code < 0 ? "none" : "0");
}

static void name_of(char name[32], long period, unsigned which)
{
    snprintf(name, 32, "nemesis.%ld.%u", period, which);
}

static void some_call(const char *name)
{
    switch (check_random(&state) % 8) {
    case 0:
    case 1:
        put(name, "put", FLAGS);
        break;
    case 2:
        put(name, "add", FLAGS | PvmMboxMultiInstance);
        break;
    case 3:
    case 4:
        get(name, "get", PvmMboxDefault);
        break;
    case 5:
        get(name, "first", PvmMboxFirstAvail);
        break;
    case 6:
        get(name, "take", PvmMboxFirstAvail | PvmMboxReadAndDelete);
        break;
    default:
        del(name);
    }
}

void clerk(int argc, char **argv)
{
    char name[32];
    CHECK_EQ(argc, 2);
    journal_open(argv[1], "mailbox");
    pvm_setopt(PvmAutoErr, 0);
    state = (unsigned)pvm_mytid() * 2654435761u;
    for (long last = 0; pvm_probe(-1, TAG_FINISH) == 0;) {
        long period = (long)(check_now() / PERIOD_S);
        for (unsigned i = 0; last && last < period && i < NAMES; i++) {
            name_of(name, period - OLD, i);
            while (get(name, "take", PvmMboxFirstAvail | PvmMboxReadAndDelete))
                continue;
        }
        last = period;
        name_of(name, period, check_random(&state) % NAMES);
        some_call(name);
        journal_beat();
        check_sleep_ms((int)(check_random(&state) % PAUSE_MS));
    }
}
