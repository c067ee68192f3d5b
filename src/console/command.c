/* command.c - the table of commands, and the steps from a line to the call of a command. */
#include <stdlib.h>
#include <string.h>
#include "console.h"
#include "alias.h"
#include "command.h"
#include "line.h"

#define JSON_HELP "          --json   print JSON"

const struct command command_table[] = {
    {"add", 1, -1, host_add, COMMAND_JSON, "Add hosts to the virtual machine", "add [ --json ] host ...",
     "  or     add 'host option=value ...' ...   (options as in a hostfile, see pvmd3(1))\n"
     "  or     add -slurm n [ option ... ]       (nodes of Slurm; options of srun)\n"
     "If a host cannot be added, the console finds out why and says what to do."},
    {"alias", 0, -1, alias_command, COMMAND_JSON, "List aliases, show one, or define one",
     "alias [ --json ] [ name [ command arg ... ] ]", NULL},
    {"conf", 0, 0, host_conf, COMMAND_JSON, "List the hosts of the virtual machine", "conf [ --json ]",
     "Fields:\n"
     "  HOST    name of the host\n"
     "  DTID    tid of its pvmd; its tasks' tids count from there\n"
     "  ARCH    architecture\n"
     "  SPEED   relative speed (sp= in the hostfile)\n"
     "  DSIG    data format; messages between equal ones need no conversion"},
    {"delete", 1, -1, host_delete, COMMAND_JSON, "Delete hosts from the virtual machine", "delete [ --json ] host ...",
     "Tasks that run on them are killed."},
    {"echo", 0, -1, echo_command, 0, "Print words", "echo [ word ... ]", NULL},
    {"export", 0, -1, environment_export, 0, "Pass environment variables of the console to spawned tasks",
     "export [ variable ... ]", NULL},
    {"getopt", 0, 1, option_get, COMMAND_JSON | COMMAND_OWN_ERRORS, "Show PVM options of the console task",
     "getopt [ --json ] [ option ]", NULL},
    {"halt", 0, 0, halt_command, 0, "Stop the virtual machine with all its tasks, and the console", "halt", NULL},
    {"help", 0, 1, help_command, 0, "Explain a command, or list all commands", "help [ command ]", NULL},
    {"id", 0, 0, id_command, COMMAND_JSON, "Print the console's task id", "id [ --json ]", NULL},
    {"idump", 0, 1, option_idump, COMMAND_HIDDEN, "Print how much memory the console uses", "idump [ how ]", NULL},
    {"jobs", 0, 1, job_list, COMMAND_JSON, "List the jobs whose output the console collects", "jobs [ options ]",
     "Options:  -l       show their tasks in the format of ps\n" JSON_HELP},
    {"kill", 1, -1, task_kill, 0, "Kill tasks", "kill [ -c ] tid ...",
     "Options:  -c   kill the children of tid instead"},
    {"mstat", 1, -1, host_mstat, COMMAND_JSON, "Show whether hosts are in the virtual machine",
     "mstat [ --json ] host ...", NULL},
    {"names", 0, 1, mailbox_names, COMMAND_JSON, "List the entries of the mailbox", "names [ --json ] [ pattern ]",
     "In the pattern, * matches any text."},
    {"ps", 0, -1, task_ps, COMMAND_JSON, "List tasks", "ps [ options ]",
     "Options:  -a       on all hosts, not only this one\n"
     "          -hTID    on the host with this tid\n"
     "          -nNAME   on the host with this name\n"
     "          -l       show parents and process ids\n"
     "          -x       show the console, too\n" JSON_HELP "\n"
     "Fields:\n"
     "  HOST    host of the task\n"
     "  TID     task id\n"
     "  PTID    parent's task id\n"
     "  PID     process id\n"
     "  FLAG    state in hexadecimal and as letters\n"
     "  COMMAND program\n"
     "Letters of FLAG:\n"
     "  f   started by pvmd\n"
     "  c   connected to pvmd\n"
     "  a   being authenticated\n"
     "  o   connection is being closed\n"
     "  s   out of shared memory\n"
     "  H   hoster\n"
     "  R   resource manager\n"
     "  T   tasker"},
    {"pstat", 1, -1, task_pstat, COMMAND_JSON, "Show whether tasks run", "pstat [ --json ] tid ...", NULL},
    {"put", 2, 3, mailbox_put, 0, "Put a number into the mailbox", "put name flags [ number ]",
     "Flags, added up:\n"
     "  1   keep it when the console ends\n"
     "  2   allow several entries of this name\n"
     "  4   allow others to overwrite and delete it"},
    {"quit", 0, 0, quit_command, 0, "End the console; the virtual machine keeps running", "quit", NULL},
    {"reset", 0, 3, task_reset, 0, "Kill all tasks and delete what they left in the mailbox", "reset",
     "  or     reset info [ name [ index ] ]   (delete only what ended tasks left in the mailbox)\n"
     "Consoles and tasks that set PvmNoReset are spared."},
    {"rotate", 0, 0, host_rotate, COMMAND_JSON | COMMAND_OURS, "Give the virtual machine a new secret",
     "rotate [ --json ]", "Hosts that have left know the old one, which opens nothing any more. All else goes on."},
    {"route", 0, -1, route_command, COMMAND_JSON | COMMAND_OURS, "Show what tasks have sent, and by which transport",
     "route [ --json ] [ tid ... ]",
     "Without a tid: all connected tasks. A task answers in its next call of PVM.\n"
     "Fields:\n"
     "  PEER      the other task\n"
     "  ROUTE     transport used now, or daemon\n"
     "  BY        which frames are counted: those over direct links, or by the daemons\n"
     "  SENT, RECEIVED, BYTES   frames (pieces of messages) and their bytes\n"
     "  REFUSED   times that a direct link was full\n"
     "  OPENED    direct links so far; LOST of them broke, and their frames went by the daemons"},
    {"setenv", 0, -1, environment_setenv, 0, "Show or set environment variables of the console",
     "setenv [ name [ value ... ] ]", NULL},
    {"setopt", 2, 2, option_set, COMMAND_OWN_ERRORS, "Set a PVM option of the console task only", "setopt option value",
     "`getopt` lists the options."},
    {"sig", 2, -1, task_sig, 0, "Send a signal to tasks", "sig signal tid ...",
     "The signal is a number or a name such as INT."},
    {"spawn", 1, -1, spawn_command, COMMAND_JSON | COMMAND_LEADING, "Start tasks",
     "spawn [ options ] program [ arg ... ]",
     "Options:  -N               number of tasks; default: 1\n"
     "          -HOST            on this host; default: anywhere\n"
     "          --host=ADDRESS   likewise; also for names that look like options\n"
     "          -ARCH            on hosts of this architecture\n"
     "          -~HOST  -~ARCH   anywhere except there\n"
     "          -:DIR            in this working directory; also -HOST:DIR and so on\n"
     "          -?               under the debugger\n"
     "          ->               send output to the console\n"
     "          ->FILE           write output to a new file\n"
     "          ->>FILE          append output to a file\n"
     "          -@               send trace events and output to the console\n"
     "          -@FILE           write trace events and output to a new file\n"
     "          --json           print the result as JSON"},
    {"tickle", 1, 10, option_tickle, COMMAND_JSON | COMMAND_HIDDEN, "Make the local pvmd dump or change its state",
     "tickle [ --json ] how [ arg ... ]",
     "Values of how (dumps go to pvmd's log):\n"
     "  0          dump memory\n"
     "  1          dump the hosts\n"
     "  2          dump the tasks\n"
     "  3          dump pending requests\n"
     "  4          dump the mailbox\n"
     "  5          show the debug mask\n"
     "  6 MASK     set the debug mask\n"
     "  7 N        datagrams in flight between hosts (no effect; accepted for old scripts)\n"
     "  8 DTID     treat this host as failed\n"
     "  9 CLEAR    dump statistics, and clear them if CLEAR is not 0\n"
     "  100        dump shared memory"},
    {"token", 0, -1, token_command, COMMAND_JSON | COMMAND_OURS,
     "Make, list or revoke tokens, with which daemons join by themselves (pvmd3 --join)",
     "token [ --json ] [ --ttl time ] [ --uses n ] [ -o file ]",
     "  or     token --list\n"
     "  or     token --revoke id | all\n"
     "  or     token --offline [ -o file ]   (for pvmd3 --accept; needs no virtual machine)\n"
     "Options:  --ttl    how long it is good: 90s, 30m, 12h, 7d or never (default: 1h)\n"
     "          --uses   for how many hosts: a number or any (default: 1)\n"
     "          -o       write the token to a file that only you can read, and print only the address"},
    {"trace", 0, -1, trace_command, COMMAND_JSON, "Show or choose which events of spawned tasks are traced",
     "trace [ --json ]",
     "         trace [ + ] event ...   trace these; * means all, xpvm those that XPVM needs\n"
     "         trace - event ...       do not trace these\n"
     "         trace buf [ bytes ]     show or set the size of a task's trace buffer\n"
     "         trace opt [ full | time | count ]"},
    {"unalias", 1, -1, alias_remove, 0, "Delete aliases", "unalias name ...", NULL},
    {"unexport", 0, -1, environment_unexport, 0, "Stop passing environment variables to spawned tasks",
     "unexport [ variable ... ]", NULL},
    {"version", 0, 0, version_command, COMMAND_JSON, "Print the version of libpvm", "version [ --json ]", NULL},
    {"?", 0, 1, help_command, COMMAND_HIDDEN, "Explain a command, or list all commands", "? [ command ]", NULL},
    {0},
};

/* Lists the commands that an abbreviation could mean. */
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

/* Removes --json from the words; returns whether it was there. */
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
        auto_error = pvm_setopt(PvmAutoErr, 0); /* commands print their own errors */
    int result = command->run(argc, argv);
    if (!own_errors && !console.lost)
        pvm_setopt(PvmAutoErr, auto_error);
    console.json = false;
    return result;
}

/* Runs a command given as words; alias_expand() may replace *argv. */
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
