/* trace.c - the command trace: chooses the traced events of spawned tasks. */
#include <string.h>
#include "console/console.h"
#include "console/command.h"
#include "pvmtev.h"
#include "trace.h"

/* All selectable events, by name. */
static const struct {
    const char *name;
    int id;
    bool xpvm; /* drawn by XPVM; these are the default */
} events[] = {
    {"addhosts", TEV_ADDHOSTS, false},
    {"addmhf", TEV_ADDMHF, true},
    {"archcode", TEV_ARCHCODE, false},
    {"barrier", TEV_BARRIER, true},
    {"bcast", TEV_BCAST, true},
    {"bufinfo", TEV_BUFINFO, false},
    {"catchout", TEV_CATCHOUT, false},
    {"config", TEV_CONFIG, false},
    {"delete", TEV_DELETE, false},
    {"delhosts", TEV_DELHOSTS, false},
    {"delinfo", TEV_DELINFO, false},
    {"delmhf", TEV_DELMHF, true},
    {"exit", TEV_EXIT, true},
    {"freebuf", TEV_FREEBUF, false},
    {"freecontext", TEV_FREECONTEXT, false},
    {"gather", TEV_GATHER, false},
    {"getcontext", TEV_GETCONTEXT, false},
    {"getfds", TEV_GETFDS, false},
    {"getinfo", TEV_GETINFO, false},
    {"getinst", TEV_GETINST, false},
    {"getmboxinfo", TEV_GETMBOXINFO, false},
    {"getminfo", TEV_GETMINFO, false},
    {"getmwid", TEV_GETMWID, false},
    {"getopt", TEV_GETOPT, false},
    {"getrbuf", TEV_GETRBUF, false},
    {"getsbuf", TEV_GETSBUF, false},
    {"gettid", TEV_GETTID, false},
    {"gettmask", TEV_GETTMASK, false},
    {"gsize", TEV_GSIZE, false},
    {"halt", TEV_HALT, false},
    {"hostsync", TEV_HOSTSYNC, false},
    {"initsend", TEV_INITSEND, false},
    {"insert", TEV_INSERT, false},
    {"joingroup", TEV_JOINGROUP, true},
    {"kill", TEV_KILL, true},
    {"lookup", TEV_LOOKUP, false},
    {"lvgroup", TEV_LVGROUP, true},
    {"mcast", TEV_MCAST, true},
    {"mhf_invoke", TEV_MHF_INVOKE, true},
    {"mkbuf", TEV_MKBUF, false},
    {"mstat", TEV_MSTAT, false},
    {"mytid", TEV_MYTID, true},
    {"newcontext", TEV_NEWCONTEXT, false},
    {"notify", TEV_NOTIFY, false},
    {"nrecv", TEV_NRECV, true},
    {"packf", TEV_PACKF, false},
    {"parent", TEV_PARENT, true},
    {"perror", TEV_PERROR, false},
    {"pkbyte", TEV_PKBYTE, false},
    {"pkcplx", TEV_PKCPLX, false},
    {"pkdcplx", TEV_PKDCPLX, false},
    {"pkdouble", TEV_PKDOUBLE, false},
    {"pkfloat", TEV_PKFLOAT, false},
    {"pkint", TEV_PKINT, false},
    {"pklong", TEV_PKLONG, false},
    {"pkshort", TEV_PKSHORT, false},
    {"pkstr", TEV_PKSTR, false},
    {"pkuint", TEV_PKUINT, false},
    {"pkulong", TEV_PKULONG, false},
    {"pkushort", TEV_PKUSHORT, false},
    {"precv", TEV_PRECV, true},
    {"probe", TEV_PROBE, true},
    {"psend", TEV_PSEND, true},
    {"pstat", TEV_PSTAT, false},
    {"putinfo", TEV_PUTINFO, false},
    {"recv", TEV_RECV, true},
    {"recvf", TEV_RECVF, true},
    {"reduce", TEV_REDUCE, false},
    {"reg_hoster", TEV_REG_HOSTER, false},
    {"reg_rm", TEV_REG_RM, false},
    {"reg_tasker", TEV_REG_TASKER, false},
    {"reg_tracer", TEV_REG_TRACER, false},
    {"scatter", TEV_SCATTER, false},
    {"send", TEV_SEND, true},
    {"sendsig", TEV_SENDSIG, true},
    {"setcontext", TEV_SETCONTEXT, false},
    {"setminfo", TEV_SETMINFO, false},
    {"setmwid", TEV_SETMWID, false},
    {"setopt", TEV_SETOPT, false},
    {"setrbuf", TEV_SETRBUF, false},
    {"setsbuf", TEV_SETSBUF, false},
    {"settmask", TEV_SETTMASK, false},
    {"siblings", TEV_SIBLINGS, true},
    {"spawn", TEV_SPAWN, true},
    {"start_pvmd", TEV_START_PVMD, false},
    {"tasks", TEV_TASKS, false},
    {"tickle", TEV_TICKLE, false},
    {"tidtohost", TEV_TIDTOHOST, false},
    {"trecv", TEV_TRECV, true},
    {"unpackf", TEV_UNPACKF, false},
    {"upkbyte", TEV_UPKBYTE, false},
    {"upkcplx", TEV_UPKCPLX, false},
    {"upkdcplx", TEV_UPKDCPLX, false},
    {"upkdouble", TEV_UPKDOUBLE, false},
    {"upkfloat", TEV_UPKFLOAT, false},
    {"upkint", TEV_UPKINT, false},
    {"upklong", TEV_UPKLONG, false},
    {"upkshort", TEV_UPKSHORT, false},
    {"upkstr", TEV_UPKSTR, false},
    {"upkuint", TEV_UPKUINT, false},
    {"upkulong", TEV_UPKULONG, false},
    {"upkushort", TEV_UPKUSHORT, false},
    {"user_defined", TEV_USER_DEFINED, true},
    {"version", TEV_VERSION, false},
};

enum { EVENT_COUNT = sizeof(events) / sizeof(events[0]), COLUMNS = 4 };

static const char *const option_names[] = {[PvmTraceFull] = "full", [PvmTraceTime] = "time", [PvmTraceCount] = "count"};

const char *trace_event_name(int i)
{
    return i < EVENT_COUNT ? events[i].name : NULL;
}

static void get_mask(Pvmtmask mask)
{
    TEV_MASK_INIT(mask);
    pvm_gettmask(PvmTaskChild, mask);
}

static void set_event(char *mask, int id, bool on)
{
    if (on)
        TEV_MASK_SET(mask, id);
    else
        TEV_MASK_UNSET(mask, id);
}

static void set_xpvm(char *mask)
{
    for (int i = 0; i < EVENT_COUNT; i++)
        set_event(mask, events[i].id, events[i].xpvm);
}

void trace_set_up(void)
{
    Pvmtmask mask;

    TEV_MASK_INIT(mask);
    set_xpvm(mask);
    pvm_settmask(PvmTaskChild, mask);
    pvm_setopt(PvmTraceOptions, PvmTraceFull);
}

static void print_table(const char *mask)
{
    enum { ROWS = (EVENT_COUNT + COLUMNS - 1) / COLUMNS };

    for (int row = 0; row < ROWS; row++) {
        for (int i = row; i < EVENT_COUNT; i += ROWS)
            printf("%s %c %-15s", i > row ? " " : "", TEV_MASK_CHECK(mask, events[i].id) ? '*' : ' ', events[i].name);
        printf("\n");
    }
}

static void print_table_json(const char *mask)
{
    json_t *on = json_array();
    const char *option = "full";
    int value = pvm_getopt(PvmTraceOptions);

    for (int i = 0; i < EVENT_COUNT; i++)
        if (TEV_MASK_CHECK(mask, events[i].id))
            json_array_append_new(on, json_string(events[i].name));
    if (value >= PvmTraceFull && value <= PvmTraceCount)
        option = option_names[value];
    print_json(json_pack("{s:o, s:i, s:s}", "events", on, "buffer", pvm_getopt(PvmTraceBuffer), "options", option));
}

/* trace buf [bytes]: returns the number of words used, or -1 after a message. */
static int set_buffer(const char *text)
{
    int bytes;

    if (text == NULL) {
        printf("\nTrace Buffering set to %d bytes\n\n", pvm_getopt(PvmTraceBuffer));
        return 1;
    }
    if (!parse_number("trace buf", text, &bytes))
        return -1;
    if (pvm_setopt(PvmTraceBuffer, bytes) == PvmBadParam) {
        advise("trace buf: %s: give a number of bytes, 0 for none", text);
        return -1;
    }
    return 2;
}

/* trace opt [full|time|count], likewise. */
static int set_options(const char *text)
{
    if (text == NULL) {
        int value = pvm_getopt(PvmTraceOptions);
        bool good = value >= PvmTraceFull && value <= PvmTraceCount;
        printf("\nTrace Options set to \"%s\"\n\n", good ? option_names[value] : "none");
        return 1;
    }
    for (int value = PvmTraceFull; value <= PvmTraceCount; value++)
        if (strcmp(option_names[value], text) == 0) {
            pvm_setopt(PvmTraceOptions, value);
            return 2;
        }
    complain("\nError:  Unknown Trace Option \"%s\"\n", text);
    return -1;
}

/* Selects events by name, with or without "pvm_", by * for all, or by xpvm. False after a message. */
static bool set_events(char *mask, const char *name, bool on)
{
    const char *event = strncmp(name, "pvm_", 4) == 0 ? name + 4 : name;
    bool found = false;

    if (strcmp(name, "xpvm") == 0) {
        set_xpvm(mask);
        return true;
    }
    for (int i = 0; i < EVENT_COUNT; i++)
        if (strcmp(name, "*") == 0 || strcmp(event, events[i].name) == 0) {
            set_event(mask, events[i].id, on);
            found = true;
        }
    if (!found)
        complain("no such event \"%s\"", name);
    return found;
}

int trace_command(int argc, char **argv)
{
    Pvmtmask mask;
    bool on = true;
    int result = CONSOLE_OK;

    get_mask(mask);
    if (argc == 1) {
        if (console.json)
            print_table_json(mask);
        else
            print_table(mask);
        return CONSOLE_OK;
    }
    for (int i = 1; i < argc;) {
        int used = 1;
        if (strcmp(argv[i], "+") == 0 || strcmp(argv[i], "-") == 0)
            on = argv[i][0] == '+';
        else if (strcmp(argv[i], "buf") == 0)
            used = set_buffer(argv[i + 1]);
        else if (strcmp(argv[i], "opt") == 0)
            used = set_options(argv[i + 1]);
        else if (!set_events(mask, argv[i], on))
            result = CONSOLE_FAILED;
        if (used < 0)
            return CONSOLE_FAILED;
        i += used;
    }
    pvm_settmask(PvmTaskChild, mask);
    return result;
}
