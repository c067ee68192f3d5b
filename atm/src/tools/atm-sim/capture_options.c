/* capture_options.c - see capture_options.h. */
#include "capture_options.h"
#include "command.h"

enum { KEY_PDUS = 512, KEY_CELLS, KEY_LINK, KEY_COUNT };

static const struct argp_option options[] = {
    {"pcap", KEY_PDUS, "FILE", 0, "Write AAL5 PDUs as pcap for Wireshark", 0},
    {"pcap-cells", KEY_CELLS, "FILE", 0, "Write cells as pcap for Wireshark", 0},
    {"pcap-link", KEY_LINK, "FROM>TO", 0, "Capture on this link, or on all (repeatable; default: what hosts send)", 0},
    {"pcap-count", KEY_COUNT, "NUMBER", 0, "At most so many PDUs and cells", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct pvma_capture_options *o = state->input;
    switch (key) {
    case KEY_PDUS:
        return o->pdus = arg, 0;
    case KEY_CELLS:
        return o->cells = arg, 0;
    case KEY_LINK:
        if (o->link_count == PVMA_CAPTURE_LINKS_MAX)
            argp_error(state, "--pcap-link: at most %d links; give all", PVMA_CAPTURE_LINKS_MAX);
        return o->links[o->link_count++] = arg, 0;
    case KEY_COUNT:
        return o->limit = (uint64_t)pvma_argument_number(arg, 1, INT64_MAX, "--pcap-count", state), 0;
    case ARGP_KEY_END:
        if ((o->link_count || o->limit) && !o->pdus && !o->cells)
            argp_error(state, "capture into which file? Give --pcap=FILE or --pcap-cells=FILE");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp_child capture_children[] = {{&parser, 0, "Captures:", 1}, {0}};
