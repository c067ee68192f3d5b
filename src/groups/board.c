#include "board.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME       "pvm-board"
#define HEAD_BYTES 4096
#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW)

/*
 * `state` is one word, so that a barrier ends, and a board closes, in one step. Its parts: number of the barrier under
 * way, CLOSED, OPEN, number of members that have arrived.
 */
#define CLOSED     (UINT64_C(1) << 31)
#define OPEN       (UINT64_C(1) << 30)
#define ARRIVED    (OPEN - 1)
#define NUMBER_BIT 32

/* `begun` is one word for the same reason. Its parts: CALLS_CLOSED; the number after that of the last call begun. */
#define CALLS_CLOSED (UINT64_C(1) << 63)

struct pvmg_board_memory {
    uint64_t key[2];
    pthread_mutex_t server; /* robust, and held by the server: tells if it has ended */
    uint32_t size;
    uint32_t found;       /* members that have found the board */
    uint32_t has_rung[2]; /* the bell is readable */
    _Alignas(64) uint64_t state;
    _Alignas(64) uint32_t sleepers;
    _Alignas(64) uint64_t begun;
    int first_call, calls_limit; /* those set aside; limit 0: none */
};

/* The ints of a ticket. */
enum ticket { PID, MEMORY, BELLS, INODES = BELLS + 2, KEY = INODES + 2 };

_Static_assert(KEY + 2 * sizeof(uint64_t) / sizeof(int) == PVMG_TICKET_INTS, "a ticket holds a key");
_Static_assert(sizeof(struct pvmg_board_memory) <= HEAD_BYTES, "the slots begin at a page");

static uint64_t state_of(const struct pvmg_board *b)
{
    return __atomic_load_n(&b->memory->state, __ATOMIC_SEQ_CST);
}

static bool replace(struct pvmg_board *b, uint64_t *state, uint64_t by)
{
    return __atomic_compare_exchange_n(&b->memory->state, state, by, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static struct pvmg_board *allocate(bool ours)
{
    struct pvmg_board *b = calloc(1, sizeof(*b));
    if (b)
        *b = (struct pvmg_board){.bells = {-1, -1}, .fd = -1, .ours = ours};
    return b;
}

/* Maps the memory; fd stays the caller's. */
static bool map(struct pvmg_board *b, int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    b->memory = memory;
    b->bytes = bytes;
    return true;
}

static size_t memory_bytes(int size)
{
    return HEAD_BYTES + pvmg_slots_bytes(size);
}

static void *slots_memory(const struct pvmg_board *b)
{
    return (char *)b->memory + HEAD_BYTES;
}

/* ---- the server ---- */

static bool make_mutex(struct pvmg_board_memory *m)
{
    pthread_mutexattr_t how;
    bool made = !pthread_mutexattr_init(&how) && !pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) &&
                !pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) && !pthread_mutex_init(&m->server, &how);
    pthread_mutexattr_destroy(&how);
    return made && !pthread_mutex_lock(&m->server);
}

static bool make_memory(struct pvmg_board *b, int fd, const int *tids, int size)
{
    size_t bytes = memory_bytes(size);
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
        return false; /* ftruncate() beyond the limit raises a signal */
    if (ftruncate(fd, (off_t)bytes) || fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) || !map(b, fd, bytes))
        return false;
    b->memory->size = (uint32_t)size;
    pvmg_slots_prepare(slots_memory(b), tids, size);
    return getrandom(b->memory->key, sizeof(b->memory->key), 0) == sizeof(b->memory->key) && make_mutex(b->memory);
}

void pvmg_board_set_aside(struct pvmg_board *b, int first, int limit)
{
    if (!b->memory->calls_limit)
        b->memory->first_call = first;
    __atomic_store_n(&b->memory->calls_limit, limit, __ATOMIC_RELEASE);
}

/* Both ends of a new pipe in one descriptor, as members get it; -1: none. */
static int make_bell(int *inode)
{
    char path[64];
    struct stat st;
    int ends[2], bell = -1;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    if (!fstat(ends[0], &st))
        bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
    *inode = (int)st.st_ino;
    return bell;
}

struct pvmg_board *pvmg_board_make(const int *tids, int size, int ticket[PVMG_TICKET_INTS])
{
    struct pvmg_board *b = allocate(true);
    bool made =
        b && (b->fd = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING)) >= 0 && make_memory(b, b->fd, tids, size);

    for (int i = 0; i < 2 && made; i++) {
        b->bells[i] = make_bell(&ticket[INODES + i]);
        ticket[BELLS + i] = b->bells[i];
        made = b->bells[i] >= 0;
    }
    if (!made) {
        pvmg_board_free(b);
        return NULL;
    }
    ticket[PID] = (int)getpid();
    ticket[MEMORY] = b->fd;
    memcpy(&ticket[KEY], b->memory->key, sizeof(b->memory->key));
    return b;
}

/* ---- members ---- */

/*
 * Opens a descriptor of the server's, but nothing else: in another PID namespace the number may be that of a stranger,
 * where it could be a device.
 */
static int open_theirs(int pid, int fd, const char *is)
{
    char path[64], found[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    ssize_t n = readlink(path, found, sizeof(found));
    if (n != (ssize_t)strlen(is) || memcmp(found, is, (size_t)n) != 0)
        return -1;
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static bool map_theirs(struct pvmg_board *b, int fd)
{
    struct stat st;

    return fd >= 0 && (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS && !fstat(fd, &st) && st.st_size >= HEAD_BYTES &&
           map(b, fd, (size_t)st.st_size);
}

static bool find_memory(struct pvmg_board *b, const int *ticket, int tid)
{
    int fd = open_theirs(ticket[PID], ticket[MEMORY], "/memfd:" NAME " (deleted)");
    bool found = map_theirs(b, fd) && memcmp(b->memory->key, &ticket[KEY], sizeof(b->memory->key)) == 0;

    if (fd >= 0)
        close(fd);
    int size = found ? (int)__atomic_load_n(&b->memory->size, __ATOMIC_RELAXED) : 0;
    return size > 0 && b->bytes == memory_bytes(size) && pvmg_slots_open(&b->slots, slots_memory(b), size, tid);
}

static bool find_bell(struct pvmg_board *b, int i, const int *ticket)
{
    char is[64];

    snprintf(is, sizeof(is), "pipe:[%u]", (unsigned)ticket[INODES + i]);
    b->bells[i] = open_theirs(ticket[PID], ticket[BELLS + i], is);
    return b->bells[i] >= 0;
}

struct pvmg_board *pvmg_board_find(const int ticket[PVMG_TICKET_INTS], int tid)
{
    struct pvmg_board *b = allocate(false);

    if (b && find_memory(b, ticket, tid) && find_bell(b, 0, ticket) && find_bell(b, 1, ticket)) {
        __atomic_fetch_add(&b->memory->found, 1, __ATOMIC_SEQ_CST);
        return b;
    }
    pvmg_board_free(b);
    return NULL;
}

bool pvmg_board_is_found(const struct pvmg_board *b)
{
    return __atomic_load_n(&b->memory->found, __ATOMIC_SEQ_CST) == b->memory->size;
}

/*
 * Closes the board if the server has ended: the kernel then gives back the mutex that it held, before anybody hears of
 * the end.
 */
static void close_without_server(struct pvmg_board *b)
{
    int code = pthread_mutex_trylock(&b->memory->server);

    if (code == EBUSY)
        return;
    pvmg_board_close(b); /* before another one can find the mutex in use */
    if (code == 0 || code == EOWNERDEAD)
        pthread_mutex_unlock(&b->memory->server);
}

static void ring(struct pvmg_board *b, unsigned bell)
{
    __atomic_store_n(&b->memory->has_rung[bell], 1, __ATOMIC_RELAXED);
    ssize_t n = write(b->bells[bell], "", 1);
    (void)n; /* if it is full, it is readable */
}

/* Before barrier `number` ends: all have left the one before, whose bell is to ring for the next. */
static void hush(struct pvmg_board *b, unsigned bell)
{
    char byte[16];

    if (!__atomic_exchange_n(&b->memory->has_rung[bell], 0, __ATOMIC_RELAXED))
        return;
    while (read(b->bells[bell], byte, sizeof(byte)) == sizeof(byte))
        ;
}

/* The last one has arrived. False: the board was closed before. */
static bool end_barrier(struct pvmg_board *b, uint64_t state)
{
    uint32_t number = (uint32_t)(state >> NUMBER_BIT);

    hush(b, (number + 1) % 2);
    if (!replace(b, &state, (uint64_t)(number + 1) << NUMBER_BIT | OPEN))
        return false;
    if (__atomic_load_n(&b->memory->sleepers, __ATOMIC_SEQ_CST))
        ring(b, number % 2);
    return true;
}

bool pvmg_board_arrive(struct pvmg_board *b, uint32_t *number)
{
    close_without_server(b);
    uint64_t state = state_of(b);
    do
        if (state & CLOSED || !(state & OPEN))
            return false;
    while (!replace(b, &state, state + 1));
    *number = (uint32_t)(state >> NUMBER_BIT);
    return (state & ARRIVED) + 1 < b->memory->size || end_barrier(b, state + 1);
}

bool pvmg_board_has_ended(const struct pvmg_board *b, uint32_t number)
{
    return (uint32_t)(state_of(b) >> NUMBER_BIT) != number;
}

unsigned pvmg_board_arrived(const struct pvmg_board *b)
{
    return (unsigned)(state_of(b) & ARRIVED);
}

void pvmg_board_sleep(struct pvmg_board *b, bool on)
{
    __atomic_fetch_add(&b->memory->sleepers, on ? 1u : -1u, __ATOMIC_SEQ_CST);
}

int pvmg_board_size(const struct pvmg_board *b)
{
    return (int)b->memory->size;
}

static int calls_limit(const struct pvmg_board *b)
{
    return __atomic_load_n(&b->memory->calls_limit, __ATOMIC_ACQUIRE);
}

/* The number after that of the last call begun. */
static int end_of(uint64_t begun)
{
    return (int)(begun & INT_MAX);
}

bool pvmg_board_is_theirs(const struct pvmg_board *b, int number)
{
    int limit = calls_limit(b);

    return !pvmg_board_is_closed(b) && limit && number >= b->memory->first_call && number <= limit;
}

bool pvmg_board_begin_call(struct pvmg_board *b, int number)
{
    int limit = calls_limit(b);

    if (number >= limit || number < b->memory->first_call)
        return false;
    uint64_t begun = __atomic_load_n(&b->memory->begun, __ATOMIC_SEQ_CST);
    if (number < end_of(begun))
        return true; /* only the first one has to know whether there is a server */
    close_without_server(b);
    begun = __atomic_load_n(&b->memory->begun, __ATOMIC_SEQ_CST);
    do {
        if (number < end_of(begun))
            return true;
        if (begun & CALLS_CLOSED)
            return false;
    } while (!__atomic_compare_exchange_n(&b->memory->begun, &begun, (uint64_t)number + 1, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return true;
}

bool pvmg_board_vouches(struct pvmg_board *b)
{
    close_without_server(b);
    return !pvmg_board_is_closed(b);
}

/* ---- both ---- */

void pvmg_board_open(struct pvmg_board *b)
{
    uint64_t state = 0;

    if (pvmg_board_is_found(b))
        replace(b, &state, OPEN);
}

int pvmg_board_calls(const struct pvmg_board *b, int *first, int *end)
{
    *first = b->memory->first_call;
    *end = end_of(__atomic_load_n(&b->memory->begun, __ATOMIC_SEQ_CST));
    return calls_limit(b);
}

bool pvmg_board_is_open(const struct pvmg_board *b)
{
    return (state_of(b) & (OPEN | CLOSED)) == OPEN;
}

bool pvmg_board_is_closed(const struct pvmg_board *b)
{
    return state_of(b) & CLOSED;
}

bool pvmg_board_is_in_use(const struct pvmg_board *b)
{
    return state_of(b) & (OPEN | CLOSED);
}

void pvmg_board_close(struct pvmg_board *b)
{
    if (!b)
        return;
    __atomic_fetch_or(&b->memory->begun, CALLS_CLOSED,
                      __ATOMIC_SEQ_CST); /* first: who finds it closed begins no call */
    if (__atomic_fetch_or(&b->memory->state, CLOSED, __ATOMIC_SEQ_CST) & CLOSED)
        return;
    ring(b, 0);
    ring(b, 1);
}

void pvmg_board_free(struct pvmg_board *b)
{
    if (!b)
        return;
    if (b->ours && b->memory)
        pthread_mutex_unlock(&b->memory->server); /* the robust list must not name memory that is gone */
    pvmg_slots_close(&b->slots);
    if (b->memory)
        munmap(b->memory, b->bytes);
    for (int i = 0; i < 2; i++)
        if (b->bells[i] >= 0)
            close(b->bells[i]);
    if (b->fd >= 0)
        close(b->fd);
    free(b);
}
