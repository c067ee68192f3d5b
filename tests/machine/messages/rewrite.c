/*
 * rewrite - a task keeps writing to a message that it has sent by reference: what the receiver unpacks ends where it
 * must, and stays within its buffer.
 *
 * The sender does not use the library's internals: it finds the message in the memory that the process shares.
 */
#include <dirent.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "tests/machine/runner/check.h"

enum {
    TAG_READY = 1,
    TAG_DATA,
    TAG_NEXT,
    TAG_ROUTE,
    STRING_BYTES = 100000,
    STRINGS = 10,
    ENOUGH = 300, /* strings that were accepted, and that were refused */
    PAGE_BYTES = 4096,
};

static char mark[] = "message 00000000 to rewrite"; /* its number: freed memory still holds earlier ones */

/* ---- the sender ---- */

static uint8_t *strings[STRINGS]; /* the places of the strings in the message, as they are mapped here */
static uint8_t *mapped;
static size_t mapped_bytes;

/* The message has them at equal distances; copies of its beginning, from when it was smaller, have fewer. */
static void find_strings(uint8_t *data, size_t bytes)
{
    int n = 0;
    for (uint8_t *at = data; n < STRINGS && (at = memmem(at, bytes - (size_t)(at - data), mark, strlen(mark))); at++) {
        if (n > 1 && at - strings[n - 1] != strings[1] - strings[0])
            n = 0;
        strings[n++] = at;
    }
    if (n < STRINGS)
        strings[0] = NULL;
}

/* Skips holes, because reading would fill them. */
static void search_file(int fd)
{
    off_t begin = 0, end;
    while (!strings[0] && (begin = lseek(fd, begin, SEEK_DATA)) >= 0 && (end = lseek(fd, begin, SEEK_HOLE)) > begin) {
        mapped_bytes = (size_t)(end - begin);
        mapped = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, begin);
        CHECK(mapped != MAP_FAILED);
        find_strings(mapped, mapped_bytes);
        if (!strings[0])
            munmap(mapped, mapped_bytes);
        begin = end;
    }
}

/* False: the message is not in shared memory. */
static int find_message(void)
{
    DIR *folder = opendir("/proc/self/fd");
    strings[0] = NULL;
    for (struct dirent *e; !strings[0] && (e = readdir(folder));) {
        char target[64] = "";
        if (readlinkat(dirfd(folder), e->d_name, target, sizeof target - 1) > 0 && !strncmp(target, "/memfd:", 7))
            search_file(atoi(e->d_name));
    }
    closedir(folder);
    return strings[0] != NULL;
}

static void write_byte(uint8_t *at, uint8_t value)
{
    *(volatile uint8_t *)at = value;
}

/* Removes the strings' terminators and restores them, and now and then stores a length that is too large. */
static void rewrite(unsigned turn)
{
    for (int i = 0; i < STRINGS; i++) {
        write_byte(strings[i] + STRING_BYTES - 1, turn % 2 ? 'x' : 0);
        write_byte(strings[i] - 1, turn % 1024 == 1023 && i == STRINGS - 1 ? 0x7f : 0);
    }
}

static void sender(int argc, char **argv)
{
    (void)argc, (void)argv;
    static char text[STRING_BYTES];
    memset(text, 'a', sizeof text - 1);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ROUTE, -1, NULL), 0);
    for (int i = 0; i < 2; i++) /* the second opens the link */
        check_send_int(pvm_parent(), TAG_READY, i);
    check_receive(-1, TAG_ROUTE); /* what goes by the daemon is copied, and may stay without its terminators */
    for (unsigned number = 0; check_receive_int(pvm_parent(), TAG_NEXT); number++) {
        snprintf(mark, sizeof mark, "message %08u to rewrite", number % 100000000);
        memcpy(text, mark, strlen(mark));
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        for (int i = 0; i < STRINGS; i++)
            CHECK_EQ(pvm_pkstr(text), 0);
        CHECK_EQ(pvm_send(pvm_parent(), TAG_DATA), 0);
        int found = find_message();
        for (unsigned turn = 0; found && pvm_probe(pvm_parent(), TAG_NEXT) <= 0; turn += 100)
            for (unsigned i = 0; i < 100; i++)
                rewrite(turn + i);
        if (found)
            munmap(mapped, mapped_bytes);
    }
}

/* ---- the receiver ---- */

static long taken, refused;

/* The last `bytes` bytes before an inaccessible page. */
static char *room_before_nothing(size_t bytes)
{
    size_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    char *room = mmap(NULL, pages + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(room != MAP_FAILED && !mprotect(room + pages, PAGE_BYTES, PROT_NONE));
    return room + pages - bytes;
}

/* A string without a terminator may have one at the next read. */
static int take_string(char *room, int formatted)
{
    int rc;
    do {
        memset(room, 'x', STRING_BYTES);
        rc = formatted ? pvm_unpackf("%s", room) : pvm_upkstr(room);
        refused += rc < 0;
        CHECK(rc >= 0 || rc == PvmBadMsg || rc == PvmNoData);
    } while (rc == PvmBadMsg);
    if (rc < 0)
        return 0;
    CHECK_EQ(strnlen(room, STRING_BYTES), STRING_BYTES - 1);
    taken++;
    return 1;
}

static void master(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tid;
    char *room = room_before_nothing(STRING_BYTES);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    pvm_setopt(PvmAutoErr, 0);
    check_spawn("sender", NULL, NULL, 1, &tid);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(check_receive_int(tid, TAG_READY), i);
    for (int round = 0; taken < ENOUGH || refused < ENOUGH; round++) {
        check_send_int(tid, TAG_NEXT, 1);
        check_receive(tid, TAG_DATA);
        for (int i = 0; i < STRINGS && take_string(room, round % 2); i++)
            ;
    }
    check_send_int(tid, TAG_NEXT, 0);
    printf("%ld strings taken, %ld refused\n", taken, refused);
}

int main(int argc, char **argv)
{
    static const struct check_role roles[] = {{"sender", sender}, {0}};
    return check_main(argc, argv, master, roles);
}
