#include "stubs.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fortran/fortran.h"

enum { ARGUMENTS = 12 };

static int integers[ARGUMENTS];
static char given[ARGUMENTS][STUB_GIVEN], room[ARGUMENTS][STUB_ROOM + 1];
static int outs;       /* counts what stub_out() sets */
static int answer = 7; /* of the next call */

int *stub_integer(int i)
{
    return &integers[i];
}

char *stub_given(int i)
{
    return given[i];
}

char *stub_room(int i)
{
    return room[i];
}

static void reset(void)
{
    for (int i = 0; i < ARGUMENTS; i++) {
        char text[STUB_GIVEN + 1];
        integers[i] = 1000 + i;
        snprintf(text, sizeof text, " text %-6d", i);
        memcpy(given[i], text, STUB_GIVEN);
        memset(room[i], '#', STUB_ROOM);
    }
    outs = 0;
    answer = 7;
}

static void show_changes(void)
{
    for (int i = 0; i < ARGUMENTS; i++) {
        if (integers[i] != 1000 + i)
            printf("    argument %d = %d\n", i, integers[i]);
        if (room[i][0] != '#')
            printf("    argument %d = [%.*s]\n", i, STUB_ROOM, room[i]);
    }
}

void stub_begin(const char *function)
{
    printf("    %s", function);
}

void stub_int(int value)
{
    printf(" %d", value);
}

void stub_text(const char *text)
{
    printf(" [%s]", text);
}

void stub_out(int *out)
{
    stub_address(out);
    *out = 100 + outs++;
}

void stub_address(const void *address)
{
    uintptr_t offset = ((uintptr_t)address - (uintptr_t)integers) / sizeof *integers;
    if (!address)
        printf(" NULL");
    else if (offset < ARGUMENTS)
        printf(" &%d", (int)offset);
    else
        printf(" another");
}

int stub_end(void)
{
    printf("\n");
    return answer;
}

/* ---- functions that routines call with arguments of their own ---- */

static int hear(const char *format, ...)
{
    va_list arguments;

    printf("    ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    return answer;
}

int pvm_siblings(int **tids) /* prints nothing: the reference calls it once, we each time */
{
    static int siblings[] = {11, 22, 33};
    *tids = siblings;
    return 3;
}

int pvm_catchout(FILE *file)
{
    return hear("pvm_catchout %s", file == stdout ? "stdout" : file ? "another" : "NULL");
}

int pvm_spawn(char *file, char **argv, int flags, char *where, int count, int *tids)
{
    for (int i = 0; i < count && count < 4; i++)
        tids[i] = 50 + i;
    return hear("pvm_spawn [%s] %s %d [%s] %d", file, argv ? "arguments" : "none", flags, where ? where : "NULL",
                count);
}

int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hosts)
{
    static struct pvmhostinfo rows[] = {{1, "first", "A1", 10, 100}, {2, "a-host-with-a-long-name", "A2", 20, 200}};
    *nhost = 2;
    *narch = 2;
    *hosts = rows;
    return hear("pvm_config");
}

int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **tasks)
{
    static struct pvmtaskinfo rows[] = {
        {1, 2, 3, 4, "one", 6}, {11, 12, 13, 14, "", 16}, {21, 22, 23, 24, "three", 26}};
    *ntask = 3;
    *tasks = rows;
    return hear("pvm_tasks %d", where);
}

static int host_status;

int pvm_addhosts(char **names, int count, int *status)
{
    status[0] = host_status;
    return hear("pvm_addhosts [%s] %d", names[0], count);
}

int pvm_delhosts(char **names, int count, int *status)
{
    status[0] = host_status;
    return hear("pvm_delhosts [%s] %d", names[0], count);
}

int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta)
{
    *clock = (struct timeval){1, 2};
    *delta = (struct timeval){-3, 4};
    return hear("pvm_hostsync %d", host);
}

int pvm_start_pvmd(int count, char **arguments, int block)
{
    hear("pvm_start_pvmd %d block %d", count, block);
    for (int i = 0; i < count; i++)
        hear("    [%s]", arguments[i]);
    return answer;
}

int pvm_trecv(int tid, int tag, struct timeval *limit)
{
    if (!limit)
        return hear("pvm_trecv %d %d for ever", tid, tag);
    return hear("pvm_trecv %d %d %ld.%06ld", tid, tag, (long)limit->tv_sec, (long)limit->tv_usec);
}

int pvm_perror(char *text)
{
    return hear("pvm_perror [%s]", text);
}

unsigned int sleep(unsigned int seconds)
{
    hear("sleep %u", seconds);
    return 0;
}

int pvmsleep(int seconds) /* the reference calls this */
{
    return (int)sleep(seconds);
}

#define PACKING(name, type)                                                                                            \
    int pvm_pk##name(type *data, int n, int stride)                                                                    \
    {                                                                                                                  \
        return hear("pvm_pk" #name " %s %d %d", (void *)data == (void *)integers ? "data" : "another", n, stride);     \
    }                                                                                                                  \
    int pvm_upk##name(type *data, int n, int stride)                                                                   \
    {                                                                                                                  \
        return hear("pvm_upk" #name " %s %d %d", (void *)data == (void *)integers ? "data" : "another", n, stride);    \
    }

PACKING(byte, char)
PACKING(cplx, float)
PACKING(dcplx, double)
PACKING(double, double)
PACKING(float, float)
PACKING(int, int)
PACKING(long, long)
PACKING(short, short)

#define OPERATOR(name)                                                                                                 \
    void name(int *type, void *x, void *y, int *n, int *info)                                                          \
    {                                                                                                                  \
        printf("    " #name " %d", *type);                                                                             \
        stub_address(x);                                                                                               \
        stub_address(y);                                                                                               \
        printf(" %d\n", *n);                                                                                           \
        *info = 6;                                                                                                     \
    }

OPERATOR(PvmMax)
OPERATOR(PvmMin)
OPERATOR(PvmSum)
OPERATOR(PvmProduct)

int pvmlogerror(char *text) /* the reference's */
{
    return hear("pvmlogerror %s", text);
}

/* Required to link our library, but not called by any routine that behaves as in the reference. */
int pvm_upkmesg(void)
{
    return hear("pvm_upkmesg");
}

int pvm_getminfo(int mid, struct pvmminfo *info)
{
    *info = (struct pvmminfo){0};
    return hear("pvm_getminfo %d", mid);
}

int pvm_setminfo(int mid, struct pvmminfo *info)
{
    return hear("pvm_setminfo %d %d", mid, info->tag);
}

int pvm_getmboxinfo(char *pattern, int *nclasses, struct pvmmboxinfo **info)
{
    *nclasses = 0;
    *info = NULL;
    return hear("pvm_getmboxinfo [%s]", pattern);
}

/* ---- calls with particular arguments ---- */

void FORTRAN(pvmfsiblings)(int *, int *, int *);
void FORTRAN(pvmfcatchout)(int *, int *);
void FORTRAN(pvmfspawn)(const char *, int *, const char *, int *, int *, int *, size_t, size_t);
void FORTRAN(pvmfconfig)(int *, int *, int *, char *, char *, int *, int *, size_t, size_t);
void FORTRAN(pvmftasks)(int *, int *, int *, int *, int *, int *, char *, int *, size_t);
void FORTRAN(pvmfaddhost)(const char *, int *, size_t);
void FORTRAN(pvmfdelhost)(const char *, int *, size_t);
void FORTRAN(pvmfhostsync)(int *, int *, int *, int *, int *, int *);
void FORTRAN(pvmfstartpvmd)(const char *, int *, int *, size_t);
void FORTRAN(pvmftrecv)(int *, int *, int *, int *, int *);
void FORTRAN(pvmfperror)(const char *, int *, size_t);
void FORTRAN(pvmfarchcode)(const char *, int *, size_t);
void FORTRAN(pvmfpack)(int *, void *, int *, int *, int *);
void FORTRAN(pvmfunpack)(int *, void *, int *, int *, int *);

#define A(i) (&integers[i])

/* The number as Fortran passes it. */
static int *number(int value)
{
    static int kept[8], next;
    int *place = &kept[next++ % 8];
    *place = value;
    return place;
}

static void siblings(void)
{
    for (int i = -2; i < 5; i++) {
        FORTRAN(pvmfsiblings)(A(0), number(i), A(1));
        show_changes();
    }
}

static void catchout(void)
{
    for (int i = -1; i < 3; i++)
        FORTRAN(pvmfcatchout)(number(i), A(0));
}

static void spawn(void)
{
    static const char *const places[] = {"*", "**", "    ", "* x", " *", ".", "host  "};
    for (int flags = 0; flags < 4; flags++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            FORTRAN(pvmfspawn)("program  ", number(flags), places[i], number(2), A(0), A(5), 9, strlen(places[i]));
}

static void config(void)
{
    for (int i = 0; i < 8; i++) {
        answer = i == 7 ? PvmSysErr : 1;
        reset();
        answer = i == 7 ? PvmSysErr : i % 2;
        if (i >= 4)
            integers[0] = -1;
        FORTRAN(pvmfconfig)(A(0), A(1), A(2), room[0], room[1], A(3), A(4), STUB_ROOM - 2 * i, 2);
        show_changes();
    }
}

static void tasks(void)
{
    for (int i = 0; i < 10; i++) {
        reset();
        answer = i == 9 ? PvmNoHost : 0;
        if (i >= 6)
            integers[0] = -1;
        FORTRAN(pvmftasks)(number(i), A(0), A(1), A(2), A(3), A(4), room[0], A(5), 6);
        show_changes();
    }
}

static void hosts(void)
{
    static const int results[] = {1, 0, PvmSysErr, 1, 1, 0}, statuses[] = {77, PvmNoHost, 5, PvmCantStart, 0, 5};
    for (int i = 0; i < 6; i++) {
        answer = results[i];
        host_status = statuses[i];
        FORTRAN(pvmfaddhost)("host  ", A(0), 6);
        FORTRAN(pvmfdelhost)(" host", A(1), 5);
        show_changes();
    }
}

static void arguments(void)
{
    static const char *const lines[] = {"-d41 /u/jones/hosts   -n x", " a  b ", "  ", "", "one"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        FORTRAN(pvmfstartpvmd)(lines[i], number((int)i % 2), A(0), strlen(lines[i]));
}

static void limits(void)
{
    static const int times[][2] = {{-1, 0}, {-1, 5}, {0, 0}, {3, 250000}, {-2, 1}, {0, -1}};
    for (int i = 0; i < 6; i++)
        FORTRAN(pvmftrecv)(number(1), number(2), number(times[i][0]), number(times[i][1]), A(0));
}

static void texts(void)
{
    static const struct {
        const char *text;
        size_t length;
    } all[] = {{"ab\0 c ", 6}, {"ab \0 c ", 7}, {" a b\t ", 6}, {"    ", 4}, {"", 0}, {"a", 1}, {"not all of it", 3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        FORTRAN(pvmfarchcode)(all[i].text, A(0), all[i].length);
        FORTRAN(pvmfperror)(all[i].text, A(1), all[i].length);
    }
}

static void kinds(void)
{
    for (int what = -1; what < 13; what++) {
        reset();
        FORTRAN(pvmfpack)(number(what), integers, number(3), number(what + 2), A(1));
        show_changes();
        FORTRAN(pvmfunpack)(number(what), integers, number(5), number(what + 4), A(2));
        show_changes();
    }
}

static const struct probe more[] = {
    {"siblings", siblings}, {"catchout", catchout}, {"spawn", spawn},   {"config", config},
    {"tasks", tasks},       {"hosts", hosts},       {"limits", limits}, {"arguments", arguments},
    {"texts", texts},       {"kinds", kinds},       {NULL, NULL},
};

static int run(const struct probe *table)
{
    int i;
    for (i = 0; table[i].name; i++) {
        reset();
        printf("%s\n", table[i].name);
        table[i].call();
        show_changes();
    }
    return i;
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* a crash shows its location */
    int generated = run(probes), own = run(more);
    printf("%d routines, %d more\n", generated, own);
    return 0;
}
