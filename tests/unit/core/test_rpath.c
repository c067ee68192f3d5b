/*
 * test_rpath.c - programs that are damaged: the reader of DT_RPATH says no, and touches nothing outside of its memory.
 * The program is this one, of which each test spoils a copy. tests/machine/console/doctor.sh has real ones.
 */
#include "core/place/rpath.h"
#include <elf.h>
#include <unistd.h>
#include "tests/unit/unit.h"

#define HEAD_BYTES 1024 /* with all headers of the file */
#define SPOILED    4000

static char copy[] = "/tmp/dpvm-rpath.XXXXXX";
static unsigned char *bytes;
static size_t size;

static void set_up(void)
{
    FILE *own = fopen("/proc/self/exe", "rb");
    ck_assert_ptr_nonnull(own);
    ck_assert_int_eq(fseek(own, 0, SEEK_END), 0);
    size = (size_t)ftell(own);
    rewind(own);
    bytes = malloc(size);
    ck_assert_uint_eq(fread(bytes, 1, size, own), size);
    fclose(own);
    int fd = mkstemp(copy);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static bool is_foreign(size_t length)
{
    char library[PATH_MAX];
    FILE *file = fopen(copy, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    fclose(file);
    return pvmc_rpath_is_foreign(copy, library);
}

static void tear_down(void)
{
    unlink(copy);
    free(bytes);
}

START_TEST(no_file)
{
    char library[PATH_MAX];
    ck_assert(!pvmc_rpath_is_foreign("/nosuch/program", library));
    ck_assert(!pvmc_rpath_is_foreign("/dev/zero", library));
    ck_assert(!pvmc_rpath_is_foreign("/tmp", library));
}
END_TEST

START_TEST(cut)
{
    set_up();
    for (size_t length = 0; length <= HEAD_BYTES; length++)
        ck_assert(!is_foreign(length));
    tear_down();
}
END_TEST

/* Where the dynamic section lies in the file. */
static size_t dynamic_offset(size_t *length)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *segment = (const void *)(bytes + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC) {
            *length = segment[i].p_filesz;
            return segment[i].p_offset;
        }
    ck_abort_msg("this program has no dynamic section");
    return 0;
}

/* Only the head and the dynamic section are read as numbers; what follows the latter is not written to the copy. */
START_TEST(spoiled)
{
    if (sizeof(void *) != 8)
        return;
    set_up();
    srand(1);
    size_t length, dynamic = dynamic_offset(&length);
    for (int i = 0; i < SPOILED; i++) {
        size_t at = i % 2 ? dynamic + (size_t)rand() % length : (size_t)rand() % HEAD_BYTES;
        unsigned char old = bytes[at];
        bytes[at] = (unsigned char)(i % 3 ? 0xff : rand());
        is_foreign(i % 5 ? HEAD_BYTES : dynamic + length);
        bytes[at] = old;
    }
    tear_down();
}
END_TEST

UNIT_MAIN("rpath", no_file, cut, spoiled)
