/* hostfile.c - the parser of host options. */
#include "hostfile.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/error.h"
#include "core/log.h"
#include "pvmd/base/hosts.h"
#include "pvmd/launch/launchers/launchers.h"

#define HOSTS_MAX  PVMC_HOST_INDEX_MAX
#define FAULTS_MAX 20 /* limit of reported faults per file */

/* ---- words ---- */

struct reader {
    const char *at, *end;
    char *why;
    size_t why_size;
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

/* A "#" at the beginning of a word makes the rest of the line a comment. */
static bool next_word(struct reader *r, const char **word, size_t *length)
{
    skip_blanks(r);
    *word = r->at;
    if (r->at == r->end || *r->at == '#')
        return false;
    while (r->at < r->end && !isspace((unsigned char)*r->at))
        r->at++;
    *length = (size_t)(r->at - *word);
    return true;
}

/* The remaining words that are neither options nor comment form one text: the line of a daemon started by hand. */
static size_t rest_of_line(struct reader *r, const char *word)
{
    while (r->end > word && isspace((unsigned char)r->end[-1]))
        r->end--;
    r->at = r->end;
    return (size_t)(r->end - word);
}

__attribute__((format(printf, 2, 3))) static int fault(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, r->why_size, format, args);
    va_end(args);
    return PVMC_EFORMAT;
}

static int set_text(char **field, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (!copy)
        return PVMC_ENOMEM;
    free(*field);
    *field = copy;
    return 0;
}

/* ---- names ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || strchr("._-:%", c);
}

static bool is_name(const char *name, size_t length)
{
    if (!length || length > PVMD_HOST_NAME_MAX || !(isalnum((unsigned char)name[0]) || name[0] == ':'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!name[i] || !is_name_byte(name[i]))
            return false;
    return true;
}

bool pvmd_host_name_is_valid(const char *name)
{
    return is_name(name, strlen(name));
}

static bool is_login(const char *text, size_t length)
{
    if (!length || length > 255 || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !(text[i] && strchr("._-@\\", text[i])))
            return false;
    return true;
}

/* ---- options ---- */

static int set_speed(struct reader *r, struct pvmd_host_spec *spec, const char *value)
{
    char *end;
    errno = 0;
    long speed = strtol(value, &end, 10);
    if (errno || end == value || *end || speed < 1 || speed > PVMD_SPEED_MAX)
        return fault(r, "sp=%s: the speed must be a number from 1 to %d", value, PVMD_SPEED_MAX);
    spec->speed = (int)speed;
    return 0;
}

static int set_slots(struct reader *r, struct pvmd_host_spec *spec, const char *value)
{
    char *end;
    errno = 0;
    long slots = strtol(value, &end, 10);
    if (errno || end == value || *end || slots < 1 || slots > PVMD_SLOTS_MAX)
        return fault(r, "sl=%s: the slots must be a number from 1 to %d", value, PVMD_SLOTS_MAX);
    spec->slots = (int)slots;
    return 0;
}

static int set_start(struct reader *r, struct pvmd_host_spec *spec, const char *value)
{
    if (pvmd_launcher_is_option(value))
        return set_text(&spec->start, value, strlen(value));
    return fault(r, "so=%s: how to start the daemon must be one of %s", value, pvmd_launcher_options());
}

static int set_checked(struct reader *r, char **field, const char *option, const char *value, bool valid)
{
    return valid ? set_text(field, value, strlen(value)) : fault(r, "%s=%s: not a valid name", option, value);
}

static bool is_vmid(const char *value)
{
    for (; *value; value++)
        if (*value == '/' || !isgraph((unsigned char)*value))
            return false;
    return true;
}

static int set_option(struct reader *r, struct pvmd_host_spec *spec, const char *option, const char *value)
{
    size_t length = strlen(value);
    if (!strcmp(option, "lo"))
        return set_checked(r, &spec->login, option, value, is_login(value, length));
    if (!strcmp(option, "so"))
        return set_start(r, spec, value);
    if (!strcmp(option, "dx"))
        return set_text(&spec->daemon_path, value, length);
    if (!strcmp(option, "ep"))
        return set_text(&spec->exec_path, value, length);
    if (!strcmp(option, "wd"))
        return set_text(&spec->working_dir, value, length);
    if (!strcmp(option, "sp"))
        return set_speed(r, spec, value);
    if (!strcmp(option, "sl"))
        return set_slots(r, spec, value);
    if (!strcmp(option, "bx"))
        return set_text(&spec->debugger, value, length);
    if (!strcmp(option, "ip"))
        return set_checked(r, &spec->ip, option, value, is_name(value, length));
    if (!strcmp(option, "id"))
        return set_checked(r, &spec->vmid, option, value, is_vmid(value));
    if (!strcmp(option, "at"))
        return set_checked(r, &spec->atm_host, option, value, is_name(value, length));
    return fault(r, "unknown option '%s='; known are lo so dx ep wd sp sl bx ip id at", option);
}

/* One word "xx=value". */
static int parse_option(struct reader *r, struct pvmd_host_spec *spec, const char *word, size_t length)
{
    char text[PVMD_OPTION_MAX + 1];
    if (length > PVMD_OPTION_MAX)
        return fault(r, "a word of %zu bytes: the longest may have %d", length, PVMD_OPTION_MAX);
    if (memchr(word, '\0', length))
        return fault(r, "a NUL byte: this is not a text file");
    memcpy(text, word, length);
    text[length] = '\0';
    char *equal = strchr(text, '=');
    if (!equal)
        return fault(r, "'%s' is not an option: options look like sp=2000", text);
    *equal = '\0';
    return set_option(r, spec, text, equal + 1);
}

static int parse_options(struct reader *r, struct pvmd_host_spec *spec)
{
    const char *word;
    size_t length;
    int rc = 0;
    while (!rc && next_word(r, &word, &length)) {
        if (length > 6 && !memcmp(word, "ddpro<", 6))
            rc = set_text(&spec->answer, word, rest_of_line(r, word));
        else
            rc = parse_option(r, spec, word, length);
    }
    return rc;
}

/* ---- lines ---- */

static void take_marks(struct reader *r, struct pvmd_host_spec *spec)
{
    for (; r->at < r->end && (*r->at == '&' || *r->at == '$'); skip_blanks(r)) {
        if (*r->at++ == '&')
            spec->later = true;
        else
            spec->overload = true;
    }
}

int pvmd_host_spec_parse(const char *text, size_t length, struct pvmd_host_spec *spec, char *why, size_t size)
{
    struct reader r = {.at = text, .end = text + length, .why = why, .why_size = size};
    const char *word;
    size_t word_length;
    memset(spec, 0, sizeof *spec);
    if (size)
        why[0] = '\0';
    skip_blanks(&r);
    if (r.at == r.end || *r.at == '#')
        return 0;
    take_marks(&r, spec);
    if (!next_word(&r, &word, &word_length))
        return fault(&r, "a host name is missing after '%c'", spec->overload ? '$' : '&');
    if (!is_name(word, word_length))
        return fault(&r, "'%.*s' is not a host name", (int)(word_length < 80 ? word_length : 80), word);
    int rc = set_text(&spec->name, word, word_length);
    return rc ? rc : parse_options(&r, spec);
}

void pvmd_host_spec_free(struct pvmd_host_spec *spec)
{
    free(spec->name);
    free(spec->login);
    free(spec->start);
    free(spec->daemon_path);
    free(spec->exec_path);
    free(spec->working_dir);
    free(spec->debugger);
    free(spec->ip);
    free(spec->vmid);
    free(spec->atm_host);
    free(spec->answer);
    memset(spec, 0, sizeof *spec);
}

static int default_text(char **field, const char *text)
{
    return *field || !text ? 0 : set_text(field, text, strlen(text));
}

int pvmd_host_spec_default(struct pvmd_host_spec *spec, const struct pvmd_host_spec *defaults)
{
    if (!spec->speed)
        spec->speed = defaults->speed;
    if (!spec->slots)
        spec->slots = defaults->slots;
    return default_text(&spec->login, defaults->login) || default_text(&spec->start, defaults->start) ||
                   default_text(&spec->daemon_path, defaults->daemon_path) ||
                   default_text(&spec->exec_path, defaults->exec_path) ||
                   default_text(&spec->working_dir, defaults->working_dir) ||
                   default_text(&spec->debugger, defaults->debugger) || default_text(&spec->ip, defaults->ip) ||
                   default_text(&spec->vmid, defaults->vmid) || default_text(&spec->atm_host, defaults->atm_host)
               ? PVMC_ENOMEM
               : 0;
}

/* ---- files ---- */

/* Takes ownership of *spec. */
static int add_host(struct pvmd_hostfile *f, struct pvmd_host_spec *spec)
{
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 16;
        struct pvmd_host_spec *grown = realloc(f->hosts, capacity * sizeof *grown);
        if (!grown) {
            pvmd_host_spec_free(spec);
            return PVMC_ENOMEM;
        }
        f->hosts = grown;
        f->capacity = capacity;
    }
    f->hosts[f->count++] = *spec;
    return 0;
}

/* "*": new defaults, which replace all older ones. */
static int parse_defaults(const char *line, size_t length, struct pvmd_hostfile *out, char *why, size_t size)
{
    struct reader r = {.at = line, .end = line + length, .why = why, .why_size = size};
    struct pvmd_host_spec spec = {0};
    skip_blanks(&r);
    r.at++;
    int rc = parse_options(&r, &spec);
    if (rc) {
        pvmd_host_spec_free(&spec);
        return rc;
    }
    pvmd_host_spec_free(&out->defaults);
    out->defaults = spec;
    return 0;
}

static bool is_defaults(const char *line, size_t length)
{
    struct reader r = {.at = line, .end = line + length};
    skip_blanks(&r);
    return r.at < r.end && *r.at == '*' && (r.at + 1 == r.end || isspace((unsigned char)r.at[1]));
}

static int parse_line(const char *line, size_t length, struct pvmd_hostfile *out, char *why, size_t size)
{
    struct pvmd_host_spec spec;
    if (is_defaults(line, length))
        return parse_defaults(line, length, out, why, size);
    int rc = pvmd_host_spec_parse(line, length, &spec, why, size);
    if (!rc && spec.name)
        rc = pvmd_host_spec_default(&spec, &out->defaults);
    if (!rc && spec.name && out->count == HOSTS_MAX) {
        snprintf(why, size, "more than %d hosts", HOSTS_MAX);
        rc = PVMC_ELIMIT;
    }
    if (!rc && spec.name)
        return add_host(out, &spec);
    pvmd_host_spec_free(&spec);
    return rc;
}

int pvmd_hostfile_parse(const char *file, const char *text, size_t length, struct pvmd_hostfile *out)
{
    const char *end = text + length;
    unsigned line = 0, faults = 0;
    int first = 0;
    memset(out, 0, sizeof *out);
    while (text < end && faults < FAULTS_MAX) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        char why[256];
        line++;
        int rc = parse_line(text, (size_t)(stop - text), out, why, sizeof why);
        if (rc) {
            pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s", file, line, rc == PVMC_ENOMEM ? pvmc_error_text(rc) : why);
            faults++;
            first = first ? first : rc;
        }
        text = newline ? newline + 1 : end;
    }
    if (first)
        pvmd_hostfile_free(out);
    return first;
}

/* Reads the whole file, NUL-terminated; the caller frees it. NULL: see errno. */
static char *read_all(int fd, size_t *length)
{
    struct stat st;
    if (fstat(fd, &st))
        return NULL;
    if (!S_ISREG(st.st_mode) || (size_t)st.st_size > PVMD_HOSTFILE_MAX) {
        errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    char *text = malloc((size_t)st.st_size + 1);
    ssize_t n = text ? read(fd, text, (size_t)st.st_size) : -1;
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *length = (size_t)n;
    return text;
}

int pvmd_hostfile_read(const char *path, struct pvmd_hostfile *out)
{
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = fd >= 0 ? read_all(fd, &length) : NULL;
    memset(out, 0, sizeof *out);
    if (!text)
        pvmc_log(PVMC_LOG_ERROR, "cannot read hostfile %s: %s", path,
                 errno == EINVAL ? "not an ordinary file" : strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!text)
        return PVMC_ESYSTEM;
    int rc = pvmd_hostfile_parse(path, text, length, out);
    free(text);
    return rc;
}

const struct pvmd_host_spec *pvmd_hostfile_find(const struct pvmd_hostfile *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcasecmp(f->hosts[i].name, name))
            return &f->hosts[i];
    return NULL;
}

void pvmd_hostfile_free(struct pvmd_hostfile *f)
{
    for (size_t i = 0; i < f->count; i++)
        pvmd_host_spec_free(&f->hosts[i]);
    free(f->hosts);
    pvmd_host_spec_free(&f->defaults);
    memset(f, 0, sizeof *f);
}
