/* why.c - see why.h. */
#include "why.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "core/visible.h"

#define NAME_BYTES 256 /* of an interpreter */

void pvmd_why(struct pvmd_why *why, enum pvmc_log_level level, const char *format, ...)
{
    char text[PVMD_WHY_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pvmc_log(level, "%s", text);
    if (!why->text[0])
        memcpy(why->text, text, sizeof text);
}

const char *pvmd_why_no_program(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return strerror(errno);
    if (S_ISDIR(st.st_mode))
        return "it is a folder";
    if (!S_ISREG(st.st_mode))
        return "it is no regular file";
    return access(path, X_OK) ? "no permission to execute it (chmod +x makes a file a program)" : "it cannot be used";
}

/* ---- what the file tells ---- */

/* The interpreter in the first line of a script. */
static bool script_interpreter(const char *head, size_t length, char name[NAME_BYTES])
{
    if (length < 2 || memcmp(head, "#!", 2) != 0)
        return false;
    const char *at = head + 2, *end = head + length;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t n = 0;
    while (at + n < end && n < NAME_BYTES - 1 && !strchr(" \t\n", at[n]))
        n++;
    memcpy(name, at, n);
    name[n] = '\0';
    return n > 0;
}

/* The dynamic linker of a program for a 64-bit machine with our byte order. */
static bool program_interpreter(int fd, char name[NAME_BYTES])
{
    Elf64_Ehdr head;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) != sizeof part)
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        ssize_t n = pread(fd, name, NAME_BYTES - 1, (off_t)part.p_offset);
        name[n > 0 && (size_t)n < part.p_filesz ? (size_t)n : n > 0 ? (size_t)part.p_filesz : 0] = '\0';
        return name[0];
    }
    return false;
}

static bool find_interpreter(const char *path, char name[NAME_BYTES])
{
    char head[NAME_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, head, sizeof head, 0);
    bool found = n > 0 && (script_interpreter(head, (size_t)n, name) || program_interpreter(fd, name));
    close(fd);
    return found;
}

static const char *why_no_interpreter(const char *path)
{
    static char text[2 * NAME_BYTES];
    char name[NAME_BYTES];
    if (!find_interpreter(path, name))
        return strerror(ENOENT);
    bool dos = name[strlen(name) - 1] == '\r';
    snprintf(text, sizeof text, "its interpreter %.*s does not exist here%s", NAME_BYTES, PVMC_VISIBLE(name),
             dos ? ": the script has DOS line ends" : "");
    return text;
}

const char *pvmd_why_not_executed(const char *path, int error)
{
    struct statvfs fs;
    switch (error) {
    case ENOENT:
        return access(path, F_OK) ? strerror(error) : why_no_interpreter(path);
    case ENOEXEC:
        return "it is neither a program for this machine nor a script that begins with #!";
    case EACCES:
        if (!statvfs(path, &fs) && fs.f_flag & ST_NOEXEC)
            return "it is on a file system that is mounted noexec";
        return strerror(error);
    default:
        return strerror(error);
    }
}
