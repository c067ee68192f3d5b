/* mpirun.c - see mpirun.h. */
#include "mpirun.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "console/console.h"

/* An option: ours in its place, or what to do instead. Ours are listed, too, so that the program is found behind them.
 */
static const struct option {
    const char *name;
    const char *ours; /* NULL: see `instead` */
    bool has_value;
    const char *instead;
} options[] = {
    {"-n", "-n", true, NULL},
    {"-N", "-N", true, NULL},
    {"-np", "-n", true, NULL},
    {"--np", "-n", true, NULL},
    {"-c", "-n", true, NULL},
    {"--copies", "--copies", true, NULL},
    {"-H", "-H", true, NULL},
    {"-host", "--host", true, NULL},
    {"-hosts", "--host", true, NULL},
    {"--host", "--host", true, NULL},
    {"-hostfile", "--hostfile", true, NULL},
    {"--hostfile", "--hostfile", true, NULL},
    {"-machinefile", "--hostfile", true, NULL},
    {"--machinefile", "--hostfile", true, NULL},
    {"-f", "--hostfile", true, NULL},
    {"-x", "-x", true, NULL},
    {"--export", "--export", true, NULL},
    {"-w", "-w", true, NULL},
    {"-wd", "-w", true, NULL},
    {"--wd", "-w", true, NULL},
    {"-wdir", "-w", true, NULL},
    {"--wdir", "-w", true, NULL},
    {"--directory", "--directory", true, NULL},
    {"-W", "-W", true, NULL},
    {"--wrap", "--wrap", true, NULL},
    {"-p", "-p", false, NULL},
    {"--prefix", "--prefix", false, NULL},
    {"-l", "-p", false, NULL},
    {"-tag-output", "--tag-output", false, NULL},
    {"--tag-output", "--tag-output", false, NULL},
    {"-timeout", "--timeout", true, NULL},
    {"--timeout", "--timeout", true, NULL},
    {"-stdin", "--stdin", true, NULL},
    {"--stdin", "--stdin", true, NULL},
    {"--keep-going", "--keep-going", false, NULL},
    {"-env", NULL, true, "use -x NAME=VALUE"},
    {"-genv", NULL, true, "use -x NAME=VALUE"},
    {"-envlist", NULL, true, "use -x NAME for each variable"},
    {"-ppn", NULL, true, "use --host HOST:SLOTS,..."},
    {"-npernode", NULL, true, "use --host HOST:SLOTS,..."},
    {"--npernode", NULL, true, "use --host HOST:SLOTS,..."},
    {"-pernode", NULL, false, "use --host HOST,..., which runs one copy on each"},
    {"--map-by", NULL, true, "use --host HOST:SLOTS,..., which are filled in this order"},
    {"--rank-by", NULL, true, "tasks are numbered in the order of --host"},
    {"--bind-to", NULL, true, "dpvm leaves tasks to the system's scheduler; wrap them: --wrap 'taskset -c 0-3'"},
    {"-bind-to", NULL, true, "dpvm leaves tasks to the system's scheduler; wrap them: --wrap 'taskset -c 0-3'"},
    {"--oversubscribe", NULL, false, "leave it out: there may always be more copies than slots"},
    {"-oversubscribe", NULL, false, "leave it out: there may always be more copies than slots"},
    {"--allow-run-as-root", NULL, false, "set PVM_ALLOW_ROOT=1"},
    {"--mca", NULL, true, "settings of dpvm are environment variables: pvm-info -c lists them, -x passes them on"},
    {"-mca", NULL, true, "settings of dpvm are environment variables: pvm-info -c lists them, -x passes them on"},
    {"--output-filename", NULL, true, "redirect this command's output, or use spawn -> in the console"},
    {"-output-filename", NULL, true, "redirect this command's output, or use spawn -> in the console"},
    {"--report-bindings", NULL, false, "leave it out: dpvm does not bind tasks"},
    {"--quiet", NULL, false, "leave it out, and redirect standard error"},
    {"-q", NULL, false, "leave it out, and redirect standard error"},
    {"-v", NULL, false, "set PVM_LOG=info, or look into the daemon's log"},
};

static const struct option *find(const char *word)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strcmp(options[i].name, word) == 0)
            return &options[i];
    return NULL;
}

void mpirun_translate(int argc, char **argv)
{
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        const struct option *o = find(argv[i]);
        if (o == NULL)
            continue; /* "-n4", "--host=a", or nothing we know: the parser says so */
        if (o->ours == NULL) {
            advise("pvm run: %s is an option of mpirun: %s", o->name, o->instead);
            exit(CONSOLE_USAGE);
        }
        argv[i] = (char *)o->ours;
        i += o->has_value;
    }
}
