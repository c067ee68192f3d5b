/* host.c - the hosts of the machine: add, delete, conf, mstat, rotate, and notices of hosts that other consoles add. */
#include <stdlib.h>
#include <string.h>
#include "core/visible.h"
#include "dpvm.h"
#include "console/console.h"
#include "console/command.h"
#include "console/scheduler/scheduler.h"
#include "diagnose.h"
#include "host.h"

enum { HOSTS_MAX = 4096 }; /* the limit of PVM's tids */

/* Hosts that the user knows of: those present at the start and those added here. */
static bool known[HOSTS_MAX];

static bool *known_slot(int tid)
{
    return &known[((unsigned)tid >> 18) % HOSTS_MAX];
}

struct pvmhostinfo *host_list(int *count, int *formats)
{
    struct pvmhostinfo *hosts = NULL;
    int code = pvm_config(count, formats, &hosts);

    if (code >= 0)
        return hosts;
    advise("cannot get the list of hosts: %s", error_text(code));
    *count = 0;
    return NULL;
}

const char *host_name(const struct pvmhostinfo *hosts, int count, int tid)
{
    for (int i = 0; i < count; i++)
        if (hosts[i].hi_tid == tid)
            return hosts[i].hi_name;
    return "?";
}

void host_watch(void)
{
    int count, formats;
    int context = pvm_setcontext(console.context);
    pvm_notify(PvmHostAdd, CONSOLE_TAG_HOST_ADD, -1, NULL);
    pvm_setcontext(context);

    struct pvmhostinfo *hosts = host_list(&count, &formats);
    for (int i = 0; i < count; i++)
        *known_slot(hosts[i].hi_tid) = true;
}

/* Whether tids[n] contains the host. */
static bool is_among(int tid, const int *tids, int n)
{
    for (int i = 0; i < n; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

/* Announces new hosts that are still in the machine. */
static void print_added(const int *tids, int n)
{
    int count, formats, there = 0;
    struct pvmhostinfo *hosts = host_list(&count, &formats);

    for (int i = 0; i < count; i++)
        there += is_among(hosts[i].hi_tid, tids, n);
    if (there == 0)
        return;
    if (console_before_output != NULL)
        console_before_output();
    printf("\nConsole: %d new host%s added\n%24s %8s %8s%8s\n", there, there == 1 ? "" : "s", "HOST", "DTID", "ARCH",
           "SPEED");
    for (int i = 0; i < count; i++)
        if (is_among(hosts[i].hi_tid, tids, n))
            printf("%24s %8x %8s%8d\n", PVMC_VISIBLE(hosts[i].hi_name), (unsigned)hosts[i].hi_tid,
                   PVMC_VISIBLE(hosts[i].hi_arch), hosts[i].hi_speed);
}

void host_added(void)
{
    int tids[HOSTS_MAX];
    int n = 0, news = 0;

    if (pvm_upkint(&n, 1, 1) < 0 || n < 1 || n > HOSTS_MAX || pvm_upkint(tids, n, 1) < 0)
        return;
    for (int i = 0; i < n; i++) {
        bool *slot = known_slot(tids[i]);
        if (!*slot)
            tids[news++] = tids[i];
        *slot = true;
    }
    if (news > 0 && console.mode != CONSOLE_SCRIPT)
        print_added(tids, news);
}

/* The result of add or delete: for each name its host tid or the error. */
static void print_changes_json(int done, char **names, const int *status, int n)
{
    json_t *hosts = json_array();

    for (int i = 0; i < n; i++) {
        json_t *row = json_pack("{s:o, s:b}", "name", text_json(names[i]), "ok", status[i] >= 0);
        if (status[i] > 0)
            json_object_set_new(row, "dtid", json_tid(status[i]));
        else if (status[i] < 0)
            json_object_update_new(row, json_pack("{s:i, s:s}", "code", status[i], "error", error_text(status[i])));
        json_array_append_new(hosts, row);
    }
    print_json(json_pack("{s:i, s:o}", "successful", done > 0 ? done : 0, "hosts", hosts));
}

static void print_added_table(int done, char **names, const int *status, int n)
{
    printf("%d successful\n%24s %8s\n", done > 0 ? done : 0, "HOST", "DTID");
    for (int i = 0; i < n; i++)
        if (status[i] >= 0)
            printf("%24s %8x\n", names[i], (unsigned)status[i]);
        else
            printf("%24s %s\n", names[i], error_text(status[i]));
}

void host_report_added(int done, char **names, const int *status, int n)
{
    for (int i = 0; i < n; i++)
        if (status[i] > 0)
            *known_slot(status[i]) = true;
    if (console.json)
        print_changes_json(done, names, status, n);
    else
        print_added_table(done, names, status, n);
}

/* An array of n codes, initialised for calls that fail before they fill it. */
static int *new_status(int n, int code)
{
    int *status = malloc((size_t)n * sizeof(*status));

    for (int i = 0; status != NULL && i < n; i++)
        status[i] = code;
    return status;
}

int host_add(int argc, char **argv)
{
    int n = argc - 1;
    if (strcmp(argv[1], "-slurm") == 0)
        return scheduler_add(argc - 1, argv + 1);
    int *status = new_status(n, PvmSysErr);

    if (status == NULL) {
        advise("add: out of memory");
        return CONSOLE_FAILED;
    }
    struct log_mark *mark = diagnose_begin();
    int done = diagnose_addhosts(argv + 1, n, status);
    if (done < 0)
        for (int i = 0; i < n; i++)
            status[i] = status[i] == PvmSysErr ? done : status[i];
    host_report_added(done, argv + 1, status, n);
    if (done < n)
        diagnose_failed(argv + 1, status, n, mark);
    diagnose_end(mark);
    free(status);
    return done == n ? CONSOLE_OK : CONSOLE_FAILED;
}

int host_delete(int argc, char **argv)
{
    int n = argc - 1;
    int *status = new_status(n, PvmSysErr);

    if (status == NULL) {
        advise("delete: out of memory");
        return CONSOLE_FAILED;
    }
    int done = pvm_delhosts(argv + 1, n, status);
    if (done < 0)
        for (int i = 0; i < n; i++)
            status[i] = status[i] == PvmSysErr ? done : status[i];
    if (console.json) {
        print_changes_json(done, argv + 1, status, n);
    } else {
        printf("%d successful\n%24s  STATUS\n", done > 0 ? done : 0, "HOST");
        for (int i = 0; i < n; i++)
            printf("%24s  %s\n", argv[i + 1], status[i] >= 0 ? "deleted" : error_text(status[i]));
    }
    free(status);
    return done == n ? CONSOLE_OK : CONSOLE_FAILED;
}

int host_conf(int argc, char **argv)
{
    int n, formats;
    struct pvmhostinfo *hosts = host_list(&n, &formats);
    json_t *rows;

    (void)argc, (void)argv;
    if (hosts == NULL)
        return CONSOLE_FAILED;
    if (!console.json) {
        printf("%d host%s, %d data format%s\n", n, n == 1 ? "" : "s", formats, formats == 1 ? "" : "s");
        printf("%24s %8s %8s%8s %10s\n", "HOST", "DTID", "ARCH", "SPEED", "DSIG");
        for (int i = 0; i < n; i++)
            printf("%24s %8x %8s%8d 0x%08x\n", PVMC_VISIBLE(hosts[i].hi_name), (unsigned)hosts[i].hi_tid,
                   PVMC_VISIBLE(hosts[i].hi_arch), hosts[i].hi_speed, (unsigned)hosts[i].hi_dsig);
        return CONSOLE_OK;
    }
    rows = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(rows,
                              json_pack("{s:o, s:o, s:s, s:i, s:o, s:i}", "host", text_json(hosts[i].hi_name), "dtid",
                                        json_tid(hosts[i].hi_tid), "arch", hosts[i].hi_arch, "speed", hosts[i].hi_speed,
                                        "dsig", json_sprintf("0x%08x", (unsigned)hosts[i].hi_dsig), "slots",
                                        pvm_hostslots(hosts[i].hi_tid)));
    print_json(json_pack("{s:i, s:o}", "formats", formats, "hosts", rows));
    return CONSOLE_OK;
}

int host_rotate(int argc, char **argv)
{
    int n = pvm_rotate();

    (void)argc, (void)argv;
    if (n < 0) {
        advise("the machine's secret is not known to be replaced: %s", error_text(n));
        return CONSOLE_FAILED;
    }
    if (console.json)
        print_json(json_pack("{s:i}", "hosts", n));
    else
        printf("the machine has a new secret; %d host%s ha%s it\n", n, n == 1 ? "" : "s", n == 1 ? "s" : "ve");
    return CONSOLE_OK;
}

int host_mstat(int argc, char **argv)
{
    json_t *rows = json_array();
    int result = CONSOLE_OK;

    for (int i = 1; i < argc; i++) {
        int code = pvm_mstat(argv[i]);
        const char *text = code == PvmOk ? "ok" : error_text(code);
        if (code != PvmOk)
            result = CONSOLE_FAILED;
        if (console.json)
            json_array_append_new(rows, json_pack("{s:o, s:b, s:i, s:s}", "host", text_json(argv[i]), "ok",
                                                  code == PvmOk, "code", code, "status", text));
        else
            printf("%24s  %s\n", argv[i], text);
    }
    if (console.json)
        print_json(json_pack("{s:O}", "hosts", rows));
    json_decref(rows);
    return result;
}
