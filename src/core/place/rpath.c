/* rpath.c - see rpath.h. */
#include "rpath.h"
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "library.h"

#define SEGMENTS_MAX 64   /* of a program */
#define ENTRIES_MAX  1024 /* of its dynamic section */
#define LIBRARIES    "libgpvm3.so.3"
#define ORIGIN       "$ORIGIN"

struct program {
    int fd;
    const char *path;
    ElfW(Phdr) segments[SEGMENTS_MAX];
    int segment_count;
    ElfW(Dyn) entries[ENTRIES_MAX];
    int entry_count;
    off_t strings; /* offset of the string table in the file */
};

static bool read_at(const struct program *p, void *to, size_t length, off_t offset)
{
    return pread(p->fd, to, length, offset) == (ssize_t)length;
}

/* A program for this processor's word length, whose byte order is ours. */
static bool read_segments(struct program *p)
{
    ElfW(Ehdr) header;
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (!read_at(p, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
        header.e_ident[EI_CLASS] != class || header.e_ident[EI_DATA] != order ||
        header.e_phentsize != sizeof p->segments[0] || header.e_phnum > SEGMENTS_MAX || header.e_phoff > INT_MAX)
        return false;
    p->segment_count = header.e_phnum;
    return read_at(p, p->segments, header.e_phnum * sizeof p->segments[0], (off_t)header.e_phoff);
}

static bool read_entries(struct program *p)
{
    for (int i = 0; i < p->segment_count; i++) {
        const ElfW(Phdr) *s = &p->segments[i];
        size_t count = s->p_filesz / sizeof p->entries[0];
        if (s->p_type != PT_DYNAMIC)
            continue;
        p->entry_count = count < ENTRIES_MAX ? (int)count : ENTRIES_MAX;
        return read_at(p, p->entries, (size_t)p->entry_count * sizeof p->entries[0], (off_t)s->p_offset);
    }
    return false;
}

/* The first entry with this tag, or NULL. */
static const ElfW(Dyn) * find(const struct program *p, ElfW(Sxword) tag)
{
    for (int i = 0; i < p->entry_count && p->entries[i].d_tag != DT_NULL; i++)
        if (p->entries[i].d_tag == tag)
            return &p->entries[i];
    return NULL;
}

static bool find_strings(struct program *p)
{
    const ElfW(Dyn) *table = find(p, DT_STRTAB);
    for (int i = 0; table && i < p->segment_count; i++) {
        const ElfW(Phdr) *s = &p->segments[i];
        ElfW(Addr) into = table->d_un.d_ptr - s->p_vaddr;
        if (s->p_type != PT_LOAD || table->d_un.d_ptr < s->p_vaddr || into >= s->p_filesz ||
            s->p_offset > LONG_MAX / 2 - into) /* sums with further offsets must not overflow */
            continue;
        p->strings = (off_t)(s->p_offset + into);
        return true;
    }
    return false;
}

/* Reads a string of the table; what does not fit is cut. False: it cannot be read. */
static bool read_string(const struct program *p, const ElfW(Dyn) * entry, char *text, size_t size)
{
    if (entry->d_un.d_val > INT_MAX)
        return false;
    ssize_t n = pread(p->fd, text, size - 1, p->strings + (off_t)entry->d_un.d_val);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool needs_pvm(const struct program *p)
{
    char name[sizeof LIBRARIES];
    for (int i = 0; i < p->entry_count && p->entries[i].d_tag != DT_NULL; i++)
        if (p->entries[i].d_tag == DT_NEEDED && read_string(p, &p->entries[i], name, sizeof name) &&
            (!strcmp(name, PVMC_LIBRARY) || !strcmp(name, LIBRARIES)))
            return true;
    return false;
}

/* An element of the path as a folder: $ORIGIN at its start is the folder of the program. */
static bool make_folder(const struct program *p, const char *part, char folder[PATH_MAX])
{
    char origin[PATH_MAX];
    int length;
    if (strncmp(part, ORIGIN, sizeof ORIGIN - 1) || !realpath(p->path, origin))
        length = snprintf(folder, PATH_MAX, "%s", part);
    else {
        *strrchr(origin, '/') = '\0';
        length = snprintf(folder, PATH_MAX, "%s%s", origin, part + sizeof ORIGIN - 1);
    }
    return length < PATH_MAX && folder[0] == '/' && !strchr(folder, '$');
}

/* Whether the first libpvm3 on the path is not ours. */
static bool leads_astray(const struct program *p, char *path, char library[PATH_MAX])
{
    char folder[PATH_MAX];
    for (char *part; (part = strsep(&path, ":"));) {
        if (!make_folder(p, part, folder) || !pvmc_library_is_file(folder, PVMC_LIBRARY))
            continue;
        return !pvmc_library_is_ours(folder) && snprintf(library, PATH_MAX, "%s/%s", folder, PVMC_LIBRARY) < PATH_MAX;
    }
    return false;
}

static bool judge(struct program *p, char library[PATH_MAX])
{
    char path[PATH_MAX];
    struct stat st;
    if (fstat(p->fd, &st) || !S_ISREG(st.st_mode) || !read_segments(p) || !read_entries(p) || !find_strings(p))
        return false;
    const ElfW(Dyn) *rpath = find(p, DT_RPATH);
    if (!rpath || find(p, DT_RUNPATH) || !needs_pvm(p) || !read_string(p, rpath, path, sizeof path))
        return false;
    return leads_astray(p, path, library);
}

bool pvmc_rpath_is_foreign(const char *program, char library[PATH_MAX])
{
    struct program p = {.path = program, .fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (p.fd < 0)
        return false;
    bool foreign = judge(&p, library);
    close(p.fd);
    return foreign;
}
