/*
 * fuzz_pvmgs.c - the group server: arbitrary requests of tasks, and tasks that end at any time.
 *
 * Its main() runs with the messages of the input in place of pvm_recv(). Input: records { operation, task, length,
 * bytes }. An even operation becomes a valid request (the bytes select the group and two numbers), an odd one has the
 * bytes as its body. If the first byte is MAILBOX, records of groups {length, ints} of an earlier server come first, up
 * to a length of 0.
 */
#include <stdio.h>
#include <time.h>
#include "core/reserve.h"
#include "groups/proto.h"
#include "message.h"
#include "pvm3.h"

enum { TASKS = 6, FIRST_TASK = 0x40001, MANY = 0x7fffffff, MAILBOX = 0xee, ENTRIES_MAX = 4, WATCHED_MAX = 256 };

static struct fuzz_input input;
static int mid;

static struct fuzz_input entries[ENTRIES_MAX];
static char entry_names[ENTRIES_MAX][16];
static struct pvmmboxinfo classes[ENTRIES_MAX];
static int entry_count;

/* Tasks of which the server wants to know the end: they end with the input. */
static int watched[WATCHED_MAX], watched_count;

int pvmgs_main(int argc, char **argv);

/* ---- the next message ---- */

static void put(uint8_t **at, int value)
{
    memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

/* Interesting numbers: small ones, and the largest. */
static int number(struct fuzz_input *in)
{
    uint8_t byte = fuzz_byte(in);
    return byte == 255 ? MANY : byte - 2;
}

static size_t sound_request(struct fuzz_input *in, uint8_t body[64])
{
    static const char *const names[] = {"a", "b", "group", ""};
    static int serial;
    uint8_t *at = body;
    const char *name = names[fuzz_byte(in) % 4];
    put(&at, ++serial);
    put(&at, PVMG_GROUP_ANSWER);
    put(&at, (int)strlen(name));
    memcpy(at, name, strlen(name));
    at += strlen(name);
    put(&at, number(in));
    put(&at, number(in));
    put(&at, number(in));
    return (size_t)(at - body);
}

static int next_request(void)
{
    static const int tags[] = {PVMG_GROUP_JOIN,   PVMG_GROUP_JOIN,   PVMG_GROUP_LEAVE,        PVMG_GROUP_LIST,
                               PVMG_GROUP_LIST,   PVMG_GROUP_LIST,   PVMG_GROUP_BARRIER,      PVMG_GROUP_BARRIER,
                               PVMG_GROUP_FREEZE, PVMG_GROUP_WATCH,  PVMG_GROUP_DUMP,         PVMG_GROUP_LEGACY_LIST,
                               PVMG_GROUP_GONE,   PVMG_GROUP_ANSWER, PVMG_GROUP_LEGACY_PRINT, 77};
    uint8_t operation = fuzz_byte(&input), task = fuzz_byte(&input), body[64];
    size_t length = fuzz_byte(&input);
    int tag = tags[operation / 2 % 16], from = FIRST_TASK + task % TASKS;
    if (length > input.left)
        length = input.left;
    struct fuzz_input in = {input.data, length};
    input.data += length;
    input.left -= length;
    if (tag == PVMG_GROUP_GONE)
        return fuzz_receive((int)PVMC_TID_DAEMON, tag, (uint8_t *)&from, sizeof from);
    if (operation % 2)
        return fuzz_receive(from, tag, in.data, in.left);
    return fuzz_receive(from, tag, body, sound_request(&in, body));
}

/* At the end of the input all tasks end: the server must then have forgotten everything. */
static int next_message(void)
{
    if (input.left)
        return mid = next_request();
    if (!watched_count)
        return mid = PvmSysErr;
    int tid = watched[--watched_count];
    return mid = fuzz_receive((int)PVMC_TID_DAEMON, PVMG_GROUP_GONE, (uint8_t *)&tid, sizeof tid);
}

/* ---- the linker's replacements for libpvm's functions ---- */

int __wrap_pvm_recv(int tid, int tag);
int __wrap_pvm_trecv(int tid, int tag, struct timeval *limit);
int __wrap_pvm_send(int tid, int tag);
int __wrap_pvm_mcast(int *tids, int count, int tag);
int __wrap_pvm_notify(int what, int tag, int count, int *tids);
int __wrap_pvm_putinfo(char *name, int buffer, int flags);
int __wrap_pvm_delinfo(char *name, int index, int flags);
int __wrap_pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **info);
int __wrap_pvm_recvinfo(char *name, int index, int flags);
int __wrap_pvm_mytid(void);
int __wrap_pvm_parent(void);
int __wrap_pvm_exit(void);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_pvm_recv(int tid, int tag)
{
    (void)tid, (void)tag;
    return next_message();
}

/*
 * A specific tag asks for earlier notices of ends: there are none. Every other time there is no message either, so that
 * the server does what it has put off.
 */
int __wrap_pvm_trecv(int tid, int tag, struct timeval *limit)
{
    static unsigned turns;
    (void)tid, (void)limit;
    return tag == -1 && turns++ % 2 ? next_message() : 0;
}

int __wrap_pvm_send(int tid, int tag)
{
    (void)tid, (void)tag;
    return 0;
}

int __wrap_pvm_mcast(int *tids, int count, int tag)
{
    static volatile int sink;
    (void)tag;
    for (int i = 0; i < count; i++)
        sink = sink ^ tids[i];
    return 0;
}

int __wrap_pvm_notify(int what, int tag, int count, int *tids)
{
    (void)what, (void)tag, (void)count;
    if (watched_count == WATCHED_MAX)
        return PvmOutOfRes;
    watched[watched_count++] = *tids;
    return 0;
}

int __wrap_pvm_putinfo(char *name, int buffer, int flags)
{
    (void)name, (void)buffer, (void)flags;
    return 0;
}

int __wrap_pvm_delinfo(char *name, int index, int flags)
{
    (void)name, (void)index, (void)flags;
    return 0;
}

int __wrap_pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **info)
{
    (void)pattern;
    *count = entry_count;
    *info = classes;
    return 0;
}

/* A record: its length in ints precedes them, as the server writes it. */
int __wrap_pvm_recvinfo(char *name, int index, int flags)
{
    uint8_t body[sizeof(int) + 256];
    (void)index, (void)flags;
    for (int i = 0; i < entry_count && i < ENTRIES_MAX; i++) {
        int n = (int)(entries[i].left / sizeof(int));
        if (strcmp(entry_names[i], name))
            continue;
        memcpy(body, &n, sizeof n);
        memcpy(body + sizeof n, entries[i].data, entries[i].left);
        return fuzz_receive(FIRST_TASK, 0, body, sizeof n + entries[i].left);
    }
    return PvmNotFound;
}

int __wrap_pvm_mytid(void)
{
    return FIRST_TASK + TASKS;
}

int __wrap_pvm_parent(void)
{
    return PvmNoParent;
}

int __wrap_pvm_exit(void)
{
    return 0;
}

/* The server's memory reserve is not needed here. */
void pvmc_reserve_start(void)
{
}

/* Each call advances the clock by a tenth of a second. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    static long tenths;
    (void)clock;
    tenths++;
    *now = (struct timespec){.tv_sec = tenths / 10, .tv_nsec = tenths % 10 * 100000000};
    return 0;
}

/* Entry i is the record of the group with id i + 1. */
static void read_mailbox(void)
{
    entry_count = 0;
    if (!input.left || input.data[0] != MAILBOX)
        return;
    fuzz_byte(&input);
    for (size_t length; entry_count < ENTRIES_MAX && (length = fuzz_byte(&input)) > 0; entry_count++) {
        if (length > input.left)
            length = input.left;
        entries[entry_count] = (struct fuzz_input){input.data, length};
        snprintf(entry_names[entry_count], sizeof entry_names[0], "%s%d", PVMG_GROUP_RECORD_CLASS, entry_count + 1);
        classes[entry_count].mi_name = entry_names[entry_count];
        input.data += length;
        input.left -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = (struct fuzz_input){data, size};
    watched_count = 0;
    read_mailbox();
    pvmgs_main(1, (char *[]){"pvmgs", NULL});
    fuzz_receive_end();
    pvm_freebuf(pvm_setsbuf(0));
    return 0;
}
