/* route.c - the command route: traffic between tasks, by transport. */
#include <stdlib.h>
#include "tools/pvm-info/links.h"
#include "console/command.h"
#include "console/console.h"

#define ANSWER_LIMIT_S 2.0

enum { FLAG_CONNECTED = 0x4 }; /* of ti_flag */

/* Reports for the named tasks; NULL after a message. */
static struct links_report *named_tasks(int argc, char **argv, int *n)
{
    struct links_report *reports = calloc((size_t)argc, sizeof(*reports));

    for (int i = 1; reports != NULL && i < argc; i++)
        if (!parse_tid(argv[i], &reports[i - 1].tid)) {
            free(reports);
            return NULL;
        }
    *n = argc - 1;
    return reports;
}

/* Reports for all connected tasks except the console. */
static struct links_report *all_tasks(int *n)
{
    struct pvmtaskinfo *tasks = NULL;
    int count = 0, code = pvm_tasks(0, &count, &tasks);

    if (code < 0) {
        advise("route: %s", error_text(code));
        return NULL;
    }
    struct links_report *reports = calloc((size_t)count + 1, sizeof(*reports));
    *n = 0;
    for (int i = 0; reports != NULL && i < count; i++)
        if (tasks[i].ti_flag & FLAG_CONNECTED && tasks[i].ti_tid != console.tid)
            reports[(*n)++].tid = tasks[i].ti_tid;
    return reports;
}

static int print_reports(const struct links_report *reports, int n)
{
    json_t *rows = console.json ? json_array() : NULL;
    int result = CONSOLE_OK;

    if (n == 0 && rows == NULL)
        printf("no task is connected\n");
    for (int i = 0; i < n; i++)
        if (reports[i].status != LINKS_TOLD) {
            advise("route: %s", links_excuse(&reports[i], ANSWER_LIMIT_S));
            result = CONSOLE_FAILED;
        } else if (rows != NULL) {
            json_array_append_new(rows, links_json(&reports[i]));
        } else {
            links_print(stdout, &reports[i]);
        }
    if (rows != NULL)
        print_json(json_pack("{s:o}", "tasks", rows));
    return result;
}

int route_command(int argc, char **argv)
{
    int n = 0;
    struct links_report *reports = argc > 1 ? named_tasks(argc, argv, &n) : all_tasks(&n);

    if (reports == NULL)
        return CONSOLE_FAILED;
    links_ask(reports, n, ANSWER_LIMIT_S);
    int result = print_reports(reports, n);
    links_free(reports, n);
    free(reports);
    return result;
}
