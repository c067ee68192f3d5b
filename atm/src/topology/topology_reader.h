/* topology_reader.h - texts read line by line: topologies, and experiments, whose lines look alike. */
#ifndef PVMA_TOPOLOGY_READER_H
#define PVMA_TOPOLOGY_READER_H

#include "topology.h"
#include "topology_option.h"

enum { PVMA_WORDS_MAX = 64, PVMA_RANGE_MAX = 1024, PVMA_LIST_MAX = 4096 };

struct pvma_reader {
    const char *name;
    unsigned line;
    unsigned errors;
    char *word[PVMA_WORDS_MAX]; /* of the line; the first is its kind */
    unsigned words;
    struct pvma_topology *t; /* NULL: another kind of text */
};

/* Logs "NAME:LINE: ..." for the line being read, and counts it. */
void pvma_reader_complain(struct pvma_reader *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Splits a line, which it changes, into r->word, without its comment. */
void pvma_reader_split(struct pvma_reader *r, char *text);

/* Whether a text consists of printable ASCII, tabs and line ends. */
bool pvma_text_is_plain(const char *text, size_t length);

/*
 * Reads a file, or as much as exceeds PVMA_TOPOLOGY_BYTES_MAX, and ends it with a NUL that *length does not count. Free
 * the text; look at ferror().
 */
char *pvma_text_read(FILE *file, size_t *length);

/* Sets the options in the words from `first` on; complains about words that are not options. */
void pvma_reader_options(struct pvma_reader *r, unsigned first, const struct pvma_option *options, void *target);

/* ---- names with a range: host[1-4] is host1, host2, host3, host4 ---- */

struct pvma_range {
    char prefix[PVMA_NAME_MAX + 1], suffix[PVMA_NAME_MAX + 1];
    unsigned first, count; /* count 1 and no numbers: a plain name */
    bool plain;
};

/* Parses a range; false after a message when it is malformed. */
bool pvma_range_parse(struct pvma_reader *r, const char *text, struct pvma_range *range);

/* Writes name number `index` of a range; false: too long. */
bool pvma_range_name(const struct pvma_range *range, unsigned index, char name[PVMA_NAME_MAX + 1]);

/* Whether a text may be the name of a node or a source. */
bool pvma_reader_is_name(const char *text);

/* Appends a zeroed element of `size` octets to a list and returns it. */
void *pvma_reader_more(void **list, size_t *count, size_t size);

/* Number of the host or switch of that name; -1 after a message when there is none. */
int pvma_reader_node(struct pvma_reader *r, const char *name, bool host);

/* Number of node `index` of a range, or of its only one; -1 after a message when there is none. */
int pvma_reader_member(struct pvma_reader *r, const struct pvma_range *range, unsigned index);

/* Parses the ranges of the line's second and third word, which are linked pair by pair, or all with a single node.
 * Returns the number of pairs; 0 after a message. */
unsigned pvma_reader_pairs(struct pvma_reader *r, struct pvma_range *a, struct pvma_range *b);

/* Adds the nodes of the range that the line's second word names, all copies of `form`. */
void pvma_reader_nodes(struct pvma_reader *r, const struct pvma_topo_node *form);

/* ---- parts of lines ---- */

/* Consumes the word "key=value" of the line and returns the value; NULL when there is none. */
char *pvma_reader_take(struct pvma_reader *r, unsigned first, const char *key);

/* The value of a word "key=value"; NULL when its key differs. */
const char *pvma_reader_value(const char *word, const char *key);

/* ---- services of VCs: the options of `pvc` and `source` ---- */

struct pvma_reader_service {
    int service; /* enum pvma_service */
    int64_t peak_bps, mean_bps, minimum_bps, initial_bps;
    uint32_t burst_cells;
};

#define PVMA_SERVICE_OPTIONS(type, member)                                                                             \
    {"service", PVMA_OPTION_CHOICE, offsetof(type, member.service), 0, 0, "ubr|vbr|abr"},                              \
        {"peak", PVMA_OPTION_RATE, offsetof(type, member.peak_bps), 0, 0, NULL},                                       \
        {"mean", PVMA_OPTION_RATE, offsetof(type, member.mean_bps), 0, 0, NULL},                                       \
        {"burst", PVMA_OPTION_COUNT, offsetof(type, member.burst_cells), 0, 1000000, NULL},                            \
        {"mcr", PVMA_OPTION_RATE, offsetof(type, member.minimum_bps), 0, 0, NULL},                                     \
    {                                                                                                                  \
        "icr", PVMA_OPTION_RATE, offsetof(type, member.initial_bps), 0, 0, NULL                                        \
    }

/* Checks them, and puts them into a contract whose flow is set. */
void pvma_reader_service(struct pvma_reader *r, const struct pvma_reader_service *from, struct pvma_contract *contract);

/* ---- one parser for each kind of line, in topology_lines.c, or in a file with its name ---- */

void pvma_read_profile(struct pvma_reader *r);
void pvma_read_host(struct pvma_reader *r);
void pvma_read_switch(struct pvma_reader *r);
void pvma_read_link(struct pvma_reader *r);
void pvma_read_pvc(struct pvma_reader *r);
void pvma_read_source(struct pvma_reader *r);
void pvma_read_failure(struct pvma_reader *r);
void pvma_read_overlay(struct pvma_reader *r);
void pvma_read_server(struct pvma_reader *r);
void pvma_read_station(struct pvma_reader *r);

/* At the end: gives each station its server, and complains about an overlay that lacks a part. */
void pvma_topology_attach(struct pvma_reader *r);

#endif
