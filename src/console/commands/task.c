/* task.c - the tasks of the machine: ps, jobs, kill, sig, pstat, reset. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/visible.h"
#include "console/console.h"
#include "console/command.h"
#include "console/compat.h"
#include "host.h"
#include "job.h"

/* Bits of ti_flag and the letters that ps shows for them, in ps's order. */
static const struct {
    int bit;
    char letter;
} flag_letters[] = {{0x400, 'T'}, {0x200, 'H'}, {0x100, 'R'}, {0x20, 's'},
                    {0x10, 'o'},  {0x8, 'a'},   {0x4, 'c'},   {0x2, 'f'}};

enum { FLAG_TEXT_MAX = 32 };

/* Formats a flag as letters, such as "c,f". */
static void flag_text(int flag, char text[FLAG_TEXT_MAX])
{
    char *p = text;

    for (size_t i = 0; i < sizeof(flag_letters) / sizeof(flag_letters[0]); i++)
        if (flag & flag_letters[i].bit) {
            if (p != text)
                *p++ = ',';
            *p++ = flag_letters[i].letter;
        }
    *p = '\0';
}

/* Options of ps. */
struct selection {
    int where; /* as for pvm_tasks() */
    bool with_pids, with_console;
};

static void print_task(const struct pvmtaskinfo *task, const char *host, const struct selection *what)
{
    char letters[FLAG_TEXT_MAX], flags[FLAG_TEXT_MAX + 16], tid[16], ptid[16];

    flag_text(task->ti_flag, letters);
    snprintf(flags, sizeof(flags), *letters != '\0' ? "%x/%s" : "%x", (unsigned)task->ti_flag, letters);
    if (task->ti_tid == console.tid)
        snprintf(tid, sizeof(tid), "(cons)");
    else
        snprintf(tid, sizeof(tid), "%x", (unsigned)task->ti_tid);
    snprintf(ptid, sizeof(ptid), task->ti_ptid != 0 ? "%x" : "-", (unsigned)task->ti_ptid);
    printf("%24s %8s", PVMC_VISIBLE(host), tid);
    if (what->with_pids)
        printf(" %8s %6d", ptid, task->ti_pid);
    const char *program = task->ti_a_out != NULL && *task->ti_a_out != '\0' ? task->ti_a_out : "-";
    printf(" %9s %-12s\n", flags, PVMC_VISIBLE(program));
}

static json_t *task_json(const struct pvmtaskinfo *task, const char *host)
{
    char letters[FLAG_TEXT_MAX];

    flag_text(task->ti_flag, letters);
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:s, s:o, s:b}", "host", text_json(host), "tid", json_tid(task->ti_tid),
                     "ptid", task->ti_ptid > 0 ? json_tid(task->ti_ptid) : json_null(), "pid", task->ti_pid, "flag",
                     task->ti_flag, "flags", letters, "command",
                     text_json(task->ti_a_out != NULL ? task->ti_a_out : ""), "console", task->ti_tid == console.tid);
}

static void print_heading(bool with_pids)
{
    if (with_pids)
        printf("%24s %8s %8s %6s %9s %s\n", "HOST", "TID", "PTID", "PID", "FLAG 0x", "COMMAND");
    else
        printf("%24s %8s %9s %s\n", "HOST", "TID", "FLAG 0x", "COMMAND");
}

/* Parses one word of options, such as -axh40000. False after a message. */
static bool parse_ps_options(const char *word, struct selection *what)
{
    int n, formats;

    for (const char *p = word + 1; *p != '\0'; p++) {
        if (*p == 'a') {
            what->where = 0;
        } else if (*p == 'l') {
            what->with_pids = true;
        } else if (*p == 'x') {
            what->with_console = true;
        } else if (*p == 'h') {
            return parse_tid(p + 1, &what->where);
        } else if (*p == 'n') {
            struct pvmhostinfo *hosts = host_list(&n, &formats);
            for (int i = 0; i < n; i++)
                if (strcmp(hosts[i].hi_name, p + 1) == 0) {
                    what->where = hosts[i].hi_tid;
                    return true;
                }
            if (strcmp(p + 1, ".") == 0) {
                what->where = pvm_tidtohost(console.tid);
                return true;
            }
            complain("unknown host %s", p + 1);
            return false;
        } else {
            complain("unknown flag -%c", *p);
            return false;
        }
    }
    return true;
}

int task_ps(int argc, char **argv)
{
    struct selection what = {.where = pvm_tidtohost(console.tid)};
    struct pvmtaskinfo *tasks = NULL;
    int count = 0, host_count, formats;
    json_t *rows = NULL;

    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-') {
            advise("ps: %s: options start with -; see `help ps`", argv[i]);
            return CONSOLE_FAILED;
        } else if (!parse_ps_options(argv[i], &what)) {
            return CONSOLE_FAILED;
        }
    struct pvmhostinfo *hosts = host_list(&host_count, &formats);
    int code = pvm_tasks(what.where, &count, &tasks);
    if (code < 0) {
        advise("ps: %s", error_text(code));
        return CONSOLE_FAILED;
    }
    if (console.json)
        rows = json_array();
    else
        print_heading(what.with_pids);
    for (int i = 0; i < count; i++) {
        const char *host = host_name(hosts, host_count, tasks[i].ti_host);
        if (tasks[i].ti_tid == console.tid && !what.with_console)
            continue;
        if (console.json)
            json_array_append_new(rows, task_json(&tasks[i], host));
        else
            print_task(&tasks[i], host, &what);
    }
    if (console.json)
        print_json(json_pack("{s:o}", "tasks", rows));
    return CONSOLE_OK;
}

/* ---- jobs ---- */

struct job_printing {
    bool with_tasks;
    json_t *rows;
    struct pvmhostinfo *hosts;
    int host_count;
};

static void print_job_tasks(const int *tids, int n, const struct job_printing *how)
{
    static const struct selection plain;
    struct pvmtaskinfo *tasks = NULL;
    int count = 0;

    for (int i = 0; i < n; i++)
        if (pvm_tasks(tids[i], &count, &tasks) >= 0 && count > 0)
            print_task(&tasks[0], host_name(how->hosts, how->host_count, tasks[0].ti_host), &plain);
}

static void print_job(int number, const int *tids, int n, void *arg)
{
    struct job_printing *how = arg;
    json_t *list;

    if (how->rows == NULL) {
        printf("%2d:", number);
        for (int i = 0; i < n && !how->with_tasks; i++)
            printf(" t%x", (unsigned)tids[i]);
        printf("\n");
        if (how->with_tasks)
            print_job_tasks(tids, n, how);
        return;
    }
    list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_tid(tids[i]));
    json_array_append_new(how->rows, json_pack("{s:i, s:o}", "job", number, "tids", list));
}

int job_list(int argc, char **argv)
{
    struct job_printing how = {0};
    int formats;

    if (argc > 1 && strcmp(argv[1], "-l") != 0) {
        advise("jobs: %s: unknown option; see `help jobs`", argv[1]);
        return CONSOLE_FAILED;
    }
    how.with_tasks = argc > 1;
    if (console.json)
        how.rows = json_array();
    else if (how.with_tasks)
        print_heading(false);
    if (how.with_tasks)
        how.hosts = host_list(&how.host_count, &formats);
    job_each(print_job, &how);
    if (how.rows != NULL)
        print_json(json_pack("{s:o}", "jobs", how.rows));
    return CONSOLE_OK;
}

/* ---- kill, sig, pstat ---- */

/* Prints the error of a call on a task, if it failed. */
static int check_task(const char *command, const char *task, int code)
{
    if (code >= 0)
        return CONSOLE_OK;
    advise("%s: %s: %s", command, task, error_text(code));
    return CONSOLE_FAILED;
}

static int kill_children(const char *text, int tid)
{
    struct pvmtaskinfo *tasks = NULL;
    int count = 0;
    int code = pvm_tasks(0, &count, &tasks);

    for (int i = 0; i < count && code >= 0; i++)
        if (tasks[i].ti_ptid == tid && tasks[i].ti_tid != console.tid)
            pvm_kill(tasks[i].ti_tid); /* it may have ended meanwhile */
    return check_task("kill", text, code);
}

/* In PVM neither of these says anything. */
static int kill_task(const char *text, int tid)
{
    if (tid == console.tid) {
        advise("kill: %s is this console: use quit, or halt to stop the virtual machine", text);
        return CONSOLE_FAILED;
    }
    int code = pvm_pstat(tid);
    return check_task("kill", text, code < 0 ? code : pvm_kill(tid));
}

int task_kill(int argc, char **argv)
{
    bool children = strcmp(argv[1], "-c") == 0;
    int result = CONSOLE_OK, tid;

    if (children && argc < 3) {
        complain("incorrect arg count");
        return CONSOLE_FAILED;
    }
    for (int i = children ? 2 : 1; i < argc; i++)
        if (!parse_tid(argv[i], &tid))
            result = CONSOLE_FAILED;
        else
            result |= children ? kill_children(argv[i], tid) : kill_task(argv[i], tid);
    return result;
}

static const struct {
    const char *name;
    int number;
} signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},  {"ABRT", SIGABRT}, {"KILL", SIGKILL},
               {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM},  {"TERM", SIGTERM}, {"CONT", SIGCONT},
               {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"WINCH", SIGWINCH}};

/* Parses a signal: its number, or its name with or without SIG. */
static bool parse_signal(const char *text, int *number)
{
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (strcasecmp(signals[i].name, name) == 0) {
            *number = signals[i].number;
            return true;
        }
    return parse_number("sig", text, number);
}

int task_sig(int argc, char **argv)
{
    int result = CONSOLE_OK, number, tid;

    if (!parse_signal(argv[1], &number))
        return CONSOLE_FAILED;
    for (int i = 2; i < argc; i++)
        if (!parse_tid(argv[i], &tid))
            result = CONSOLE_FAILED;
        else
            result |= check_task("sig", argv[i], pvm_sendsig(tid, number));
    return result;
}

int task_pstat(int argc, char **argv)
{
    json_t *rows = console.json ? json_array() : NULL;
    int result = CONSOLE_OK;

    for (int i = 1; i < argc; i++) {
        int tid;
        if (!parse_tid(argv[i], &tid)) {
            result = CONSOLE_FAILED;
            continue;
        }
        int code = pvm_pstat(tid);
        const char *text = code == PvmOk ? "run" : error_text(code);
        if (code != PvmOk)
            result = CONSOLE_FAILED;
        if (rows == NULL)
            printf("t%8x  %s\n", (unsigned)tid, text);
        else
            json_array_append_new(rows, json_pack("{s:o, s:b, s:i, s:s}", "tid", json_tid(tid), "ok", code == PvmOk,
                                                  "code", code, "status", text));
    }
    if (rows != NULL)
        print_json(json_pack("{s:o}", "tasks", rows));
    return result;
}

/* ---- reset ---- */

int task_reset(int argc, char **argv)
{
    int index = -1, code;

    if (argc == 1) {
        code = pvmreset(console.tid, 1, NULL, -1);
    } else {
        if (strcmp(argv[1], "info") != 0) {
            complain("\"%s\" arg to reset not valid", argv[1]);
            return CONSOLE_FAILED;
        }
        if (argc > 3 && !parse_number("reset", argv[3], &index))
            return CONSOLE_FAILED;
        code = pvmreset(console.tid, 0, argc > 2 ? argv[2] : NULL, index);
    }
    if (code >= 0)
        return CONSOLE_OK;
    advise("reset: %s", error_text(code));
    return CONSOLE_FAILED;
}
