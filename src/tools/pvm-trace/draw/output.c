/* output.c - see output.h. */
#include "output.h"
#include <err.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BUFFER_BYTES = 1 << 18 };

static int is_standard(const char *path)
{
    return !path || !strcmp(path, "-");
}

FILE *output_open(const char *path)
{
    if (is_standard(path))
        return stdout;
    FILE *f = fopen(path, "we");
    if (!f)
        warn("cannot write %s", path);
    else
        setvbuf(f, NULL, _IOFBF, FILE_BUFFER_BYTES);
    return f;
}

int output_close(FILE *f, const char *path)
{
    struct stat about;
    int failed = fflush(f) || ferror(f), is_file = !fstat(fileno(f), &about) && S_ISREG(about.st_mode);
    const char *name = is_standard(path) ? "standard output" : path;
    if (failed)
        warn("cannot write %s", name);
    if (is_standard(path))
        return failed ? -1 : 0;
    if (fclose(f) && !failed) {
        warn("cannot write %s", name);
        failed = 1;
    }
    if (failed && is_file)
        unlink(path);
    return failed ? -1 : 0;
}

void output_xml(FILE *f, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '&')
            fputs("&amp;", f);
        else if (*c == '<')
            fputs("&lt;", f);
        else if (*c == '>')
            fputs("&gt;", f);
        else if (*c == '"')
            fputs("&quot;", f);
        else
            fputc(*c < ' ' || *c > 126 ? '?' : *c, f);
    }
}

/* Formats a value with three digits and a unit. */
static const char *scaled(double value, double step, const char *const *units, int count, char *text, size_t size)
{
    int unit = 0;
    while (unit + 1 < count && (value >= step * 0.9995 || value <= -step * 0.9995)) {
        value /= step;
        unit++;
    }
    int digits = unit == 0 && value == (long)value ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, value, units[unit]);
    return text;
}

const char *output_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    return scaled(bytes, 1000, units, 5, text, size);
}

const char *output_time(double us, char *text, size_t size)
{
    static const char *const units[] = {"us", "ms", "s"};
    return scaled(us, 1000, units, 3, text, size);
}
