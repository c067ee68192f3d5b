/* topology.c - the topology parser: files, lines, words, and checks of the whole. */
#include "topology.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "core/log.h"
#include "topology_reader.h"

enum { ERRORS_MAX = 10 };

void pvma_reader_complain(struct pvma_reader *r, unsigned line, const char *format, ...)
{
    if (++r->errors > ERRORS_MAX)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pvmc_log(PVMC_LOG_ERROR, "%s:%u: %s", r->name, line, text);
}

const char *pvma_reader_value(const char *word, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

void pvma_reader_options(struct pvma_reader *r, unsigned first, const struct pvma_option *options, void *target)
{
    for (unsigned i = first; i < r->words; i++) {
        char *word = r->word[i], *value = strchr(word, '=');
        if (!*word) /* consumed already */
            continue;
        if (!value) {
            pvma_reader_complain(r, r->line, "\"%.40s\" is not an option; write key=value", word);
            continue;
        }
        *value++ = 0;
        const char *problem = pvma_option_set(options, word, value, target);
        if (problem)
            pvma_reader_complain(r, r->line, "%.40s=%.40s: %s", word, value, problem);
    }
}

/* ---- ranges ---- */

bool pvma_range_parse(struct pvma_reader *r, const char *text, struct pvma_range *range)
{
    *range = (struct pvma_range){.plain = true, .count = 1};
    const char *open = strchr(text, '[');
    unsigned first = 0, last = 0;
    int end = 0;
    if (!open) {
        snprintf(range->prefix, sizeof range->prefix, "%s", text);
        if (strlen(text) <= PVMA_NAME_MAX)
            return true;
        pvma_reader_complain(r, r->line, "\"%.20s...\" is too long for a name; at most %d characters are allowed", text,
                             PVMA_NAME_MAX);
        return false;
    }
    bool good = strlen(text) <= PVMA_NAME_MAX && sscanf(open, "[%6u-%6u]%n", &first, &last, &end) == 2 && end &&
                first <= last && last - first < PVMA_RANGE_MAX;
    if (!good) {
        pvma_reader_complain(r, r->line, "\"%.40s\" is not a range of names; write host[1-8], at most %d of them", text,
                             PVMA_RANGE_MAX);
        return false;
    }
    snprintf(range->prefix, sizeof range->prefix, "%.*s", (int)(open - text), text);
    snprintf(range->suffix, sizeof range->suffix, "%s", open + end);
    *range = (struct pvma_range){.first = first, .count = last - first + 1};
    snprintf(range->prefix, sizeof range->prefix, "%.*s", (int)(open - text), text);
    snprintf(range->suffix, sizeof range->suffix, "%s", open + end);
    return true;
}

bool pvma_range_name(const struct pvma_range *range, unsigned index, char name[PVMA_NAME_MAX + 1])
{
    int length = range->plain
                     ? snprintf(name, PVMA_NAME_MAX + 1, "%s", range->prefix)
                     : snprintf(name, PVMA_NAME_MAX + 1, "%s%u%s", range->prefix, range->first + index, range->suffix);
    return length <= PVMA_NAME_MAX;
}

/* ---- lines ---- */

static const struct {
    const char *name;
    void (*read)(struct pvma_reader *r);
    unsigned words; /* minimum, besides the keyword */
    const char *form;
} kinds[] = {
    {"profile", pvma_read_profile, 2, "profile NAME like=PROFILE [cost=value ...]"},
    {"host", pvma_read_host, 1, "host NAME [profile=PROFILE] [adapters=NUMBER] [vcis=NUMBER]"},
    {"switch", pvma_read_switch, 1, "switch NAME [model=MODEL] [option=value ...]"},
    {"link", pvma_read_link, 2, "link NODE NODE [rate=RATE] [delay=TIME] [loss=P] [ber=P] [t309=TIME]"},
    {"pvc", pvma_read_pvc, 2, "pvc HOST HOST [aal=5] [option=value ...]"},
    {"fail", pvma_read_failure, 3, "fail NODE NODE at=TIME [for=TIME] [every=TIME] [link=NUMBER]"},
    {"source", pvma_read_source, 3, "source NAME at=SWITCH|from=HOST to=HOST type=TYPE rate=RATE [option=value ...]"},
    {"overlay", pvma_read_overlay, 1, "overlay ring|tree [option=value ...]"},
    {"server", pvma_read_server, 2, "server NAME at=HOST [signal=TIME] [relay=TIME] [down=TIME] [for=TIME]"},
    {"station", pvma_read_station, 1, "station HOST [server=NAME]"},
};

void pvma_reader_split(struct pvma_reader *r, char *text)
{
    char *save, *comment = strchr(text, '#');
    if (comment)
        *comment = 0;
    r->words = 0;
    for (char *word = strtok_r(text, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save)) {
        if (r->words == PVMA_WORDS_MAX) {
            pvma_reader_complain(r, r->line, "more than %d words; split the line", PVMA_WORDS_MAX);
            break;
        }
        r->word[r->words++] = word;
    }
}

static void read_line(struct pvma_reader *r, char *text)
{
    pvma_reader_split(r, text);
    if (!r->words)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, r->word[0]))
            continue;
        if (r->words <= kinds[i].words)
            pvma_reader_complain(r, r->line, "the line is too short; write: %s", kinds[i].form);
        else
            kinds[i].read(r);
        return;
    }
    pvma_reader_complain(
        r, r->line,
        "\"%.40s\" cannot begin a line; lines begin with profile, host, switch, link, pvc, source, fail, overlay, "
        "server or station",
        r->word[0]);
}

static void check_whole(struct pvma_reader *r)
{
    const struct pvma_topology *t = r->t;
    unsigned hosts = 0;
    for (size_t i = 0; i < t->node_count; i++) {
        const struct pvma_topo_node *node = &t->nodes[i];
        hosts += node->is_host;
        if (!node->links)
            pvma_reader_complain(r, node->line, "%s %s has no link; add: link %s NODE",
                                 node->is_host ? "host" : "switch", node->name, node->name);
    }
    if (!hosts)
        pvma_reader_complain(r, r->line, "there is no host; add: host NAME");
    pvma_topology_attach(r);
}

bool pvma_text_is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]) && !strchr("\t\r\n", text[i] ? text[i] : 1))
            return false;
    return true;
}

static void read_lines(struct pvma_reader *r, char *text)
{
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        r->line++;
        read_line(r, line);
        line = end && *end ? end : NULL;
    }
}

int pvma_topology_parse(const char *name, const char *text, size_t length, struct pvma_topology *t)
{
    memset(t, 0, sizeof *t);
    if (length > PVMA_TOPOLOGY_BYTES_MAX) {
        pvmc_log(PVMC_LOG_ERROR, "%s: too long; a topology has at most %zu octets", name, PVMA_TOPOLOGY_BYTES_MAX);
        return PVMC_ELIMIT;
    }
    struct pvma_reader r = {.name = name, .t = t};
    t->name = pvma_copy_text(name);
    char *copy = pvma_new(length + 1);
    if (length)
        memcpy(copy, text, length);
    if (pvma_text_is_plain(copy, length)) {
        read_lines(&r, copy);
        if (!r.errors)
            check_whole(&r);
    } else {
        pvma_reader_complain(&r, 1, "not a text; a topology consists of printable ASCII");
    }
    free(copy);
    if (r.errors > ERRORS_MAX)
        pvmc_log(PVMC_LOG_ERROR, "%s: and %u more", name, r.errors - ERRORS_MAX);
    if (r.errors)
        pvma_topology_free(t);
    return r.errors ? PVMC_EFORMAT : 0;
}

/* ---- files ---- */

char *pvma_text_read(FILE *file, size_t *length)
{
    size_t size = 4096;
    char *text = pvma_new(size);
    *length = 0;
    for (size_t got; (got = fread(text + *length, 1, size - 1 - *length, file)) > 0;) {
        *length += got;
        if (*length > PVMA_TOPOLOGY_BYTES_MAX)
            break;
        if (*length == size - 1)
            text = pvma_renew(text, size *= 2);
    }
    text[*length] = 0;
    return text;
}

int pvma_topology_load(const char *path, struct pvma_topology *t)
{
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    memset(t, 0, sizeof *t);
    if (!file) {
        pvmc_log(PVMC_LOG_ERROR, "cannot read the topology %s: %s; see atm-topology(5)", path, strerror(errno));
        return PVMC_ESYSTEM;
    }
    size_t length;
    char *text = pvma_text_read(file, &length);
    bool failed = ferror(file);
    if (failed)
        pvmc_log(PVMC_LOG_ERROR, "cannot read the topology %s: %s; see atm-topology(5)", path, strerror(errno));
    if (!is_stdin)
        fclose(file);
    int error = failed ? PVMC_ESYSTEM : pvma_topology_parse(path, text, length, t);
    free(text);
    return error;
}

void pvma_topology_free(struct pvma_topology *t)
{
    for (size_t i = 0; i < t->profile_count; i++)
        pvma_profile_free(t->profiles[i]);
    for (size_t i = 0; i < t->source_count; i++)
        free(t->sources[i].to);
    free(t->profiles);
    free(t->nodes);
    free(t->links);
    free(t->pvcs);
    free(t->sources);
    free(t->failures);
    free(t->servers);
    free(t->name);
    memset(t, 0, sizeof *t);
}

int pvma_topology_node(const struct pvma_topology *t, const char *name)
{
    for (size_t i = 0; i < t->node_count; i++)
        if (!strcmp(t->nodes[i].name, name))
            return (int)i;
    return -1;
}
