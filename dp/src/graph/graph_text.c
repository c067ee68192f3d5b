/* graph_text.c - reads the text of a graph, statement by statement. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "graph_draft.h"

#define LINE_BYTES_MAX 1024
#define WORDS_MAX      8
#define FAULTS_MAX     20 /* reported for one text */

struct reader {
    struct dpi_graph_draft draft;
    const char *name;
    FILE *faults;
    unsigned line, fault_count;
    bool out_of_memory;
};

/* ---- words ---- */

/* Sets *number; false: not a number from 1 to max. */
static bool read_number(const char *text, unsigned max, uint16_t *number)
{
    unsigned value = 0;
    const char *c = text;
    for (; isdigit((unsigned char)*c) && value <= max; c++)
        value = value * 10 + (unsigned)(*c - '0');
    *number = (uint16_t)value;
    return c > text && !*c && value >= 1 && value <= max;
}

static bool is_name(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > DP_GRAPH_NAME_MAX || strchr(".-", text[0]))
        return false;
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            return false;
    return true;
}

__attribute__((format(printf, 2, 3))) static bool fault(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->draft.why, sizeof r->draft.why, format, args);
    va_end(args);
    return false;
}

static bool take_nid(struct reader *r, const char *word, uint16_t *nid)
{
    return read_number(word, DP_NID_MAX, nid) ||
           fault(r, "\"%.80s\" is not a node id, a number from 1 to %d", word, DP_NID_MAX);
}

static bool take_name(struct reader *r, const char *word)
{
    return is_name(word) ||
           fault(r,
                 "\"%.80s\" is not a name: up to 63 letters, digits, \"_\", \".\" and \"-\", the latter two not first",
                 word);
}

/* Splits PROCESS:DPID in two. */
static bool take_point(struct reader *r, char *word, struct draft_point *point)
{
    char *colon = strrchr(word, ':');
    if (!colon)
        return fault(r, "\"%.80s\" is not an endpoint, which is written PROCESS:DPID", word);
    *colon = '\0';
    point->process = word;
    if (!take_name(r, word))
        return false;
    return read_number(colon + 1, DP_DPID_MAX, &point->dpid) ||
           fault(r, "\"%.80s\" is not an endpoint's number (DPID), which is from 1 to %d", colon + 1, DP_DPID_MAX);
}

/* ---- statements; words[0] is the keyword ---- */

static bool state_node(struct reader *r, char **words, int count)
{
    uint16_t nid;
    const char *name = count > 2 ? words[2] : "";
    return take_nid(r, words[1], &nid) && (!*name || take_name(r, name)) &&
           dpi_graph_draft_add_node(&r->draft, nid, name);
}

static bool state_process(struct reader *r, char **words, int count)
{
    uint16_t nid;
    (void)count;
    return take_name(r, words[1]) && take_nid(r, words[2], &nid) &&
           dpi_graph_draft_add_process(&r->draft, words[1], nid);
}

static bool take_option(struct reader *r, const char *word, int *mode, char interface[16])
{
    static const char *const modes[] = {[DP_RAW] = "raw", [DP_RELIABLE] = "reliable", [DP_GO_BACK_N] = "go-back-n"};
    for (int i = 0; i < (int)(sizeof modes / sizeof *modes); i++)
        if (!strcmp(word, modes[i])) {
            *mode = i;
            return true;
        }
    if (strncmp(word, "on=", 3))
        return fault(r, "\"%.80s\" is not one of raw, reliable, go-back-n, on=INTERFACE", word);
    if (strlen(word + 3) - 1 >= 15 || strchr(word, '/'))
        return fault(r, "\"%.80s\" does not name an interface: 1 to 15 bytes without \"/\"", word);
    strcpy(interface, word + 3);
    return true;
}

static bool state_endpoint(struct reader *r, char **words, int count)
{
    struct draft_point point;
    char interface[16] = "";
    int mode = DP_RAW;
    if (!take_point(r, words[1], &point))
        return false;
    for (int i = 2; i < count; i++)
        if (!take_option(r, words[i], &mode, interface))
            return false;
    return dpi_graph_draft_add_endpoint(&r->draft, point, mode, interface);
}

static bool state_channel(struct reader *r, char **words, int count)
{
    struct draft_point from, to;
    (void)count;
    if (!take_name(r, words[1]))
        return false;
    if (strcmp(words[3], "->"))
        return fault(r, "expected \"->\" instead of \"%.80s\": channel NAME PROCESS:DPID -> PROCESS:DPID", words[3]);
    return take_point(r, words[2], &from) && take_point(r, words[4], &to) &&
           dpi_graph_draft_add_channel(&r->draft, words[1], from, to);
}

static bool state_remove(struct reader *r, char **words, int count)
{
    struct draft_point point;
    uint16_t nid;
    (void)count;
    if (!strcmp(words[1], "node"))
        return take_nid(r, words[2], &nid) && dpi_graph_draft_remove_node(&r->draft, nid);
    if (!strcmp(words[1], "process"))
        return take_name(r, words[2]) && dpi_graph_draft_remove_process(&r->draft, words[2]);
    if (!strcmp(words[1], "endpoint"))
        return take_point(r, words[2], &point) && dpi_graph_draft_remove_endpoint(&r->draft, point);
    if (!strcmp(words[1], "channel"))
        return take_name(r, words[2]) && dpi_graph_draft_remove_channel(&r->draft, words[2]);
    return fault(r, "\"%.80s\" is not one of node, process, endpoint, channel", words[1]);
}

static const struct statement {
    const char *word, *form;
    int min, max; /* words */
    bool (*state)(struct reader *r, char **words, int count);
} statements[] = {
    {"node", "node NID [NAME]", 2, 3, state_node},
    {"process", "process NAME NID", 3, 3, state_process},
    {"endpoint", "endpoint PROCESS:DPID [raw|reliable|go-back-n] [on=INTERFACE]", 2, 4, state_endpoint},
    {"channel", "channel NAME PROCESS:DPID -> PROCESS:DPID", 5, 5, state_channel},
    {"remove", "remove node|process|endpoint|channel NAME", 3, 3, state_remove},
};

static bool take_statement(struct reader *r, char **words, int count)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const struct statement *s = &statements[i];
        if (strcmp(words[0], s->word))
            continue;
        if (count < s->min || count > s->max)
            return fault(r, "the statement has the form: %s", s->form);
        return s->state(r, words, count);
    }
    return fault(r, "\"%.80s\" is not one of node, process, endpoint, channel, remove", words[0]);
}

/* ---- lines ---- */

/* Parses a line without its line end. */
static bool take_line(struct reader *r, const char *text, size_t length)
{
    char line[LINE_BYTES_MAX + 1], *words[WORDS_MAX], *rest = NULL;
    int count = 0;
    if (length > LINE_BYTES_MAX)
        return fault(r, "the line is longer than %d bytes", LINE_BYTES_MAX);
    memcpy(line, text, length);
    line[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)line[i]) && !strchr("\t\r", line[i] ? line[i] : '\n'))
            return fault(r, "the line contains control characters");
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == WORDS_MAX)
            return fault(r, "the line has more words than any statement, from \"%.80s\" on", word);
        words[count++] = word;
    }
    return count == 0 || take_statement(r, words, count);
}

static void tell_fault(struct reader *r)
{
    r->out_of_memory |= !*r->draft.why;
    r->fault_count++;
    if (!r->faults || r->out_of_memory)
        return;
    fprintf(r->faults, "%s:%u: %s\n", r->name, r->line, r->draft.why);
    if (r->fault_count == FAULTS_MAX)
        fprintf(r->faults, "%s: there may be more faults; only %d are reported\n", r->name, FAULTS_MAX);
}

static void read_lines(struct reader *r, const char *text, size_t length)
{
    for (const char *end = text + length; text < end && r->fault_count < FAULTS_MAX && !r->out_of_memory;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line_bytes = (size_t)((newline ? newline : end) - text);
        r->line++;
        if (!take_line(r, text, line_bytes))
            tell_fault(r);
        text += line_bytes + 1;
    }
}

/* ---- texts ---- */

struct dp_graph *dp_graph_edit(const struct dp_graph *base, const char *name, const char *text, size_t length,
                               FILE *faults)
{
    struct reader r = {.name = name, .faults = faults};
    struct dp_graph *graph = NULL;
    int error = 0;
    if (length > DP_GRAPH_BYTES_MAX) {
        if (faults)
            fprintf(faults, "%s: longer than %d bytes\n", name, DP_GRAPH_BYTES_MAX);
        errno = EFBIG;
        return NULL;
    }
    r.out_of_memory = base && !dpi_graph_draft_from(&r.draft, base);
    if (!r.out_of_memory)
        read_lines(&r, text, length);
    if (r.fault_count || r.out_of_memory)
        error = r.out_of_memory ? ENOMEM : EINVAL;
    else if (!(graph = dpi_graph_draft_finish(&r.draft)))
        error = ENOMEM;
    dpi_graph_draft_free(&r.draft);
    if (error == ENOMEM && faults)
        fprintf(faults, "%s: out of memory\n", name);
    if (error)
        errno = error;
    return graph;
}

struct dp_graph *dp_graph_parse(const char *name, const char *text, size_t length, FILE *faults)
{
    return dp_graph_edit(NULL, name, text, length, faults);
}

/* Reads to the end, or one byte more than is allowed; works for pipes and files. -1: errno. */
static ssize_t read_all(int fd, char *text, size_t room)
{
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length < room;) {
        n = read(fd, text + length, room - length);
        if (n < 0 && errno != EINTR)
            return -1;
        length += n > 0 ? (size_t)n : 0;
        n = n < 0 ? 1 : n;
    }
    return (ssize_t)length;
}

struct dp_graph *dp_graph_edit_file(const struct dp_graph *base, const char *path, FILE *faults)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : malloc(DP_GRAPH_BYTES_MAX + 1);
    ssize_t length = text ? read_all(fd, text, DP_GRAPH_BYTES_MAX + 1) : -1;
    struct dp_graph *graph = NULL;
    if (length >= 0)
        graph = dp_graph_edit(base, path, text, (size_t)length, faults);
    else if (faults)
        fprintf(faults, "%s: %s\n", path, strerror(errno));
    int error = errno;
    free(text);
    if (fd >= 0)
        close(fd);
    errno = error;
    return graph;
}

struct dp_graph *dp_graph_read(const char *path, FILE *faults)
{
    return dp_graph_edit_file(NULL, path, faults);
}
