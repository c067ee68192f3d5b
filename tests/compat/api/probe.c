/*
 * probe - one section of the API test: `probe NAME`; `probe list` prints the names.
 */
#include "probe.h"

char probe_self[1024];
int probe_child[32];
static int children;

static const struct probe_section *const tables[] = {probe_local_table,   probe_pack_table,    probe_message_table,
                                                     probe_arrival_table, probe_machine_table, probe_scenario_table,
                                                     probe_group_table,   probe_jump_table};

static const char *code_name(long code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {PvmBadParam, "BadParam"},
        {PvmMismatch, "Mismatch"},
        {PvmOverflow, "Overflow"},
        {PvmNoData, "NoData"},
        {PvmNoHost, "NoHost"},
        {PvmNoFile, "NoFile"},
        {PvmDenied, "Denied"},
        {PvmNoMem, "NoMem"},
        {PvmBadMsg, "BadMsg"},
        {PvmSysErr, "SysErr"},
        {PvmNoBuf, "NoBuf"},
        {PvmNoSuchBuf, "NoSuchBuf"},
        {PvmNullGroup, "NullGroup"},
        {PvmDupGroup, "DupGroup"},
        {PvmNoGroup, "NoGroup"},
        {PvmNotInGroup, "NotInGroup"},
        {PvmNoInst, "NoInst"},
        {PvmHostFail, "HostFail"},
        {PvmNoParent, "NoParent"},
        {PvmNotImpl, "NotImpl"},
        {PvmDSysErr, "DSysErr"},
        {PvmBadVersion, "BadVersion"},
        {PvmOutOfRes, "OutOfRes"},
        {PvmDupHost, "DupHost"},
        {PvmCantStart, "CantStart"},
        {PvmAlready, "Already"},
        {PvmNoTask, "NoTask"},
        {PvmNotFound, "NotFound"},
        {PvmExists, "Exists"},
        {PvmHostrNMstr, "HostrNMstr"},
        {PvmParentNotSet, "ParentNotSet"},
        {PvmIPLoopback, "IPLoopback"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return NULL;
}

long probe_result(const char *call, long result)
{
    const char *name = code_name(result);

    if (name)
        printf("%s = %ld (%s)\n", call, result, name);
    else
        printf("%s = %ld\n", call, result);
    return result;
}

long probe_id(const char *call, long result)
{
    if (result > 0)
        printf("%s = id\n", call);
    else
        probe_result(call, result);
    return result;
}

void probe_quiet(void)
{
    if (!getenv("PROBE_LOUD"))
        pvm_setopt(PvmAutoErr, 0);
}

const char *probe_name(int tid)
{
    static char text[4][32];
    static int turn;
    char *name = text[turn++ % 4];

    snprintf(name, sizeof text[0], "other");
    if (tid == 0)
        return "none";
    if (tid == pvm_mytid())
        return "me";
    if ((unsigned)tid == 0x80000000u || (unsigned)tid == (0x80000000u | pvm_tidtohost(pvm_mytid())))
        return "daemon";
    if (tid == pvm_tidtohost(pvm_mytid()))
        return "host";
    for (int i = 0; i < children; i++)
        if (tid == probe_child[i])
            snprintf(name, sizeof text[0], "child %d", i);
    return name;
}

void probe_children(const char *role, const char *argument, int count)
{
    char *argv[] = {"child", (char *)role, (char *)argument, NULL};

    children = count;
    if (pvm_spawn(probe_self, argv, PvmTaskHost, ".", count, probe_child) == count)
        return;
    printf("probe: cannot spawn %d x %s\n", count, role);
    exit(1);
}

int probe_receive(int tid, int tag)
{
    int mid = pvm_recv(tid, tag), bytes, value, from;

    if (mid < 0) {
        FACT("no message: %d", mid);
        return mid;
    }
    pvm_bufinfo(mid, &bytes, &tag, &from);
    if (pvm_upkint(&value, 1, 1) == 0)
        FACT("message tag=%d from %s, %d bytes: %d", tag, probe_name(from), bytes, value);
    else
        FACT("message tag=%d from %s, %d bytes", tag, probe_name(from), bytes);
    return mid;
}

void probe_wait_ms(int ms)
{
    double load = 0, factor;

    getloadavg(&load, 1);
    factor = load / (double)sysconf(_SC_NPROCESSORS_ONLN) / 2; /* as tests/lab/patience */
    usleep((useconds_t)(ms * 1000.0 * (factor < 1 ? 1 : factor > 6 ? 6 : factor)));
}

static int run_child(int argc, char **argv)
{
    for (const struct probe_role *role = probe_role_table; role->name; role++)
        if (strcmp(role->name, argv[0]) == 0)
            return role->run(argc - 1, argv + 1);
    return 1;
}

static int list_sections(void)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct probe_section *section = tables[i]; section->name; section++)
            printf("%s\n", section->name);
    return 0;
}

static int run_section(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct probe_section *section = tables[i]; section->name; section++)
            if (strcmp(section->name, name) == 0) {
                section->run();
                return 0;
            }
    fprintf(stderr, "probe: no section \"%s\"; \"probe list\" names them\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (readlink("/proc/self/exe", probe_self, sizeof probe_self - 1) < 0)
        return 2;
    if (argc > 2 && strcmp(argv[1], "child") == 0)
        return run_child(argc - 2, argv + 2);
    if (argc != 2) {
        fprintf(stderr, "usage: probe SECTION | list\n");
        return 2;
    }
    return strcmp(argv[1], "list") == 0 ? list_sections() : run_section(argv[1]);
}
