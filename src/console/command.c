/* command.c - the table of commands, and what happens to a line before one of them runs. */
#include <stdlib.h>
#include <string.h>
#include "console.h"
#include "alias.h"
#include "command.h"
#include "line.h"

#define JSON_HELP "          --json   as JSON"

const struct command command_table[] = {
    {"add", 1, -1, host_add, COMMAND_JSON, "Let hosts join the virtual machine", "add [ --json ] host ...",
     "  or     add 'host option=value ...' ...   (options as in a hostfile, see pvmd3(1))\n"
     "A host that cannot be added is looked into: what is wrong, and what to do."},
    {"alias", 0, -1, alias_command, COMMAND_JSON, "List aliases, show one, or define one",
     "alias [ --json ] [ name [ command arg ... ] ]", NULL},
    {"conf", 0, 0, host_conf, COMMAND_JSON, "List the hosts of the virtual machine", "conf [ --json ]",
     "Fields:\n"
     "  HOST    name of the host\n"
     "  DTID    tid of its pvmd; the tids of its tasks begin there\n"
     "  ARCH    architecture\n"
     "  SPEED   relative speed (sp= in the hostfile)\n"
     "  DSIG    data format; messages between equal ones need no conversion"},
    {"delete", 1, -1, host_delete, COMMAND_JSON, "Let hosts leave the virtual machine", "delete [ --json ] host ...",
     "The tasks that run there end."},
    {"echo", 0, -1, echo_command, 0, "Print words", "echo [ word ... ]", NULL},
    {"export", 0, -1, environment_export, 0, "Let spawned tasks get environment variables of the console",
     "export [ variable ... ]", NULL},
    {"getopt", 0, 1, option_get, COMMAND_JSON | COMMAND_OWN_ERRORS, "Show PVM options of the console task",
     "getopt [ --json ] [ option ]", NULL},
    {"halt", 0, 0, halt_command, 0, "End the virtual machine with all its tasks, and the console", "halt", NULL},
    {"help", 0, 1, help_command, 0, "Explain a command, or list all", "help [ command ]", NULL},
    {"id", 0, 0, id_command, COMMAND_JSON, "Print the console's task id", "id [ --json ]", NULL},
    {"idump", 0, 1, option_idump, COMMAND_HIDDEN, "Print how much memory the console uses", "idump [ how ]", NULL},
    {"jobs", 0, 1, job_list, COMMAND_JSON, "List the jobs whose output the console collects", "jobs [ options ]",
     "Options:  -l       show their tasks as ps does\n" JSON_HELP},
    {"kill", 1, -1, task_kill, 0, "End tasks", "kill [ -c ] tid ...", "Options:  -c   end the children of tid instead"},
    {"mstat", 1, -1, host_mstat, COMMAND_JSON, "Show whether hosts are in the virtual machine",
     "mstat [ --json ] host ...", NULL},
    {"names", 0, 1, mailbox_names, COMMAND_JSON, "List what is in the mailbox", "names [ --json ] [ pattern ]",
     "In the pattern * stands for any text."},
    {"ps", 0, -1, task_ps, COMMAND_JSON, "List tasks", "ps [ options ]",
     "Options:  -a       of all hosts, not only this one\n"
     "          -hTID    of the host with that tid\n"
     "          -nNAME   of the host of that name\n"
     "          -l       with parents and process ids\n"
     "          -x       with the console itself\n" JSON_HELP "\n"
     "Fields:\n"
     "  HOST    where it runs\n"
     "  TID     task id\n"
     "  PTID    parent's task id\n"
     "  PID     process id\n"
     "  FLAG    state, in hexadecimal and as letters\n"
     "  COMMAND program\n"
     "Letters of FLAG:\n"
     "  f   started by pvmd\n"
     "  c   connected to pvmd\n"
     "  a   proving who it is\n"
     "  o   connection is being closed\n"
     "  s   out of shared memory\n"
     "  H   hoster\n"
     "  R   resource manager\n"
     "  T   tasker"},
    {"pstat", 1, -1, task_pstat, COMMAND_JSON, "Show whether tasks run", "pstat [ --json ] tid ...", NULL},
    {"put", 2, 3, mailbox_put, 0, "Put a number into the mailbox", "put name flags [ number ]",
     "Flags, added up:\n"
     "  1   stays when the console ends\n"
     "  2   one of several of that name\n"
     "  4   others may overwrite and delete it"},
    {"quit", 0, 0, quit_command, 0, "End the console; the virtual machine stays", "quit", NULL},
    {"reset", 0, 3, task_reset, 0, "End all tasks, and delete what they left in the mailbox", "reset",
     "  or     reset info [ name [ index ] ]   (delete only what ended tasks left in the mailbox)\n"
     "Consoles, and tasks that set PvmNoReset, are spared."},
    {"route", 0, -1, route_command, COMMAND_JSON | COMMAND_OURS, "Show what tasks have sent, and by which transport",
     "route [ --json ] [ tid ... ]",
     "Without a tid: of all tasks that are connected. Tasks answer when they next call PVM.\n"
     "Fields:\n"
     "  PEER      the other task\n"
     "  ROUTE     transport that leads to it now, or daemon\n"
     "  BY        what the numbers count: direct links, or the way by the daemons\n"
     "  SENT, RECEIVED, BYTES   frames (pieces of messages) and their bytes\n"
     "  REFUSED   times that a direct link had no room at once\n"
     "  OPENED    direct links so far; LOST of them broke, and the rest went by the daemons"},
    {"setenv", 0, -1, environment_setenv, 0, "Show or set environment variables of the console",
     "setenv [ name [ value ... ] ]", NULL},
    {"setopt", 2, 2, option_set, COMMAND_OWN_ERRORS, "Set a PVM option of the console task, and of no other",
     "setopt option value", "`getopt` lists the options."},
    {"sig", 2, -1, task_sig, 0, "Send a signal to tasks", "sig signal tid ...",
     "The signal is a number or a name such as INT."},
    {"spawn", 1, -1, spawn_command, COMMAND_JSON | COMMAND_LEADING, "Start tasks",
     "spawn [ options ] program [ arg ... ]",
     "Options:  -N               that many tasks; 1 without it\n"
     "          -HOST            on that host; anywhere without it\n"
     "          --host=ADDRESS   likewise, also for names that look like options\n"
     "          -ARCH            on hosts of that architecture\n"
     "          -~HOST  -~ARCH   anywhere but there\n"
     "          -:DIR            in that working directory; also -HOST:DIR and so on\n"
     "          -?               under the debugger\n"
     "          ->               output to the console\n"
     "          ->FILE           output to a new file\n"
     "          ->>FILE          output to the end of a file\n"
     "          -@               trace events and output to the console\n"
     "          -@FILE           trace events and output to a new file\n"
     "          --json           print the result as JSON"},
    {"tickle", 1, 10, option_tickle, COMMAND_JSON | COMMAND_HIDDEN, "Ask the local pvmd about itself",
     "tickle [ --json ] how [ arg ... ]",
     "How (dumps go to pvmd's log):\n"
     "  0          dump memory\n"
     "  1          dump the hosts\n"
     "  2          dump the tasks\n"
     "  3          dump what is waited for\n"
     "  4          dump the mailbox\n"
     "  5          show the debug mask\n"
     "  6 MASK     set the debug mask\n"
     "  7 N        datagrams in flight between hosts (the reference's; kept for scripts)\n"
     "  8 DTID     treat that host as failed\n"
     "  9 CLEAR    dump statistics, and clear them if CLEAR is not 0\n"
     "  100        dump shared memory"},
    {"trace", 0, -1, trace_command, COMMAND_JSON, "Show or choose which events of spawned tasks are traced",
     "trace [ --json ]",
     "         trace [ + ] event ...   trace these; * means all, xpvm those that XPVM needs\n"
     "         trace - event ...       do not trace these\n"
     "         trace buf [ bytes ]     show or set the size of a task's trace buffer\n"
     "         trace opt [ full | time | count ]"},
    {"unalias", 1, -1, alias_remove, 0, "Delete aliases", "unalias name ...", NULL},
    {"unexport", 0, -1, environment_unexport, 0, "Let spawned tasks get environment variables no more",
     "unexport [ variable ... ]", NULL},
    {"version", 0, 0, version_command, COMMAND_JSON, "Print the version of libpvm", "version [ --json ]", NULL},
    {"?", 0, 1, help_command, COMMAND_HIDDEN, "Explain a command, or list all", "? [ command ]", NULL},
    {0},
};

/* Tells which commands an abbreviation could mean. */
static void complain_ambiguous(const char *name, size_t length)
{
    char list[256] = "";
    size_t used = 0;

    for (const struct command *row = command_table; row->name != NULL; row++)
        if (!(row->flags & COMMAND_HIDDEN) && strncmp(row->name, name, length) == 0 && used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s %s", used > 0 ? "," : "", row->name);
    complain("%s: ambiguous:%s", name, list);
}

const struct command *command_find(const char *name)
{
    size_t length = strlen(name);
    const struct command *found = NULL, *ours = NULL;
    int matches = 0;

    for (const struct command *row = command_table; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0)
            return row;
        if (length == 0 || row->flags & COMMAND_HIDDEN || strncmp(row->name, name, length) != 0)
            continue;
        if (row->flags & COMMAND_OURS) {
            ours = row;
            continue;
        }
        found = row;
        matches++;
    }
    if (matches <= 1 && (found != NULL || ours != NULL))
        return found != NULL ? found : ours;
    if (matches > 1)
        complain_ambiguous(name, length);
    else
        complain("%s: not found", name);
    return NULL;
}

/* Takes --json out of the words, and tells whether it was there. */
static bool take_json(const struct command *command, int *argc, char **argv)
{
    bool found = false;
    int kept = 1;

    if (!(command->flags & COMMAND_JSON))
        return false;
    for (int i = 1; i < *argc; i++) {
        if ((command->flags & COMMAND_LEADING) && argv[i][0] != '-') {
            memmove(argv + kept, argv + i, (size_t)(*argc - i) * sizeof(*argv));
            kept += *argc - i;
            break;
        }
        if (strcmp(argv[i], "--json") == 0)
            found = true;
        else
            argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    *argc = kept;
    return found;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    int auto_error = 1;
    bool own_errors = command->flags & COMMAND_OWN_ERRORS;

    console.json = take_json(command, &argc, argv);
    console.json |= console.all_json && (command->flags & COMMAND_JSON);
    if (argc - 1 < command->min || (command->max >= 0 && argc - 1 > command->max)) {
        complain("%s: wrong #args", command->name);
        console.json = false;
        return CONSOLE_FAILED;
    }
    if (!own_errors)
        auto_error = pvm_setopt(PvmAutoErr, 0); /* the commands say themselves what went wrong */
    int result = command->run(argc, argv);
    if (!own_errors && !console.lost)
        pvm_setopt(PvmAutoErr, auto_error);
    console.json = false;
    return result;
}

/* Runs the words; *argv may be replaced by alias_expand(). */
static int run_words(int argc, char ***argv)
{
    int code = alias_expand(&argc, argv);

    if (code == ALIAS_LOOP) {
        complain("alias loop");
        return CONSOLE_FAILED;
    }
    if (code < 0) {
        advise("out of memory");
        return CONSOLE_FAILED;
    }
    const struct command *command = command_find((*argv)[0]);
    return command != NULL ? run_command(command, argc, *argv) : CONSOLE_FAILED;
}

int command_run_line(const char *line)
{
    struct words words;
    char why[64];

    if (words_split(line, &words, why, sizeof(why)) != 0) {
        complain("%s", why);
        return CONSOLE_FAILED;
    }
    int result = words.count > 0 ? run_words(words.count, &words.word) : CONSOLE_OK;
    words_free(&words);
    return result;
}
