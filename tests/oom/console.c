/*
 * console - fails each allocation of the console, pvm, once, in each family of commands: a command may fail, but the
 * console must exit by itself with one of its exit codes. console PRELOAD PVM
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include "sweep.h"
#include "task.h"

enum { EXIT_USAGE = 2, NO_MACHINE = 3, COMMANDS_BYTES = 8192 };

/* %s is this program, which echoes messages as the task "echo". */
static const struct {
    const char *name, *commands;
} cases[] = {
    {"basic", "version; id; help; help spawn; echo one two; alias a echo three; a; alias; unalias a; idump"},
    {"hosts", "conf; conf --json; mstat .; add 127.0.0.3; conf; delete 127.0.0.3"},
    {"options", "getopt; setopt Route DontRoute; setenv OOM 1; setenv; export OOM; export; unexport OOM; tickle 1"},
    {"mailbox", "put entry 0 5; names; names --json"},
    {"tasks",
     "spawn -2 %s echo; ps -a; ps --json; jobs; route; pstat t1; sig 10 t1; kill t1; trace + send; trace; reset"},
    {"jobs", "spawn -> /bin/echo text; spawn -@ -> /bin/echo traced; jobs"},
};

enum { CASES = sizeof cases / sizeof *cases };

int main(int argc, char **argv)
{
    if (argc == 2)
        return task_echo();
    if (argc < 3)
        errx(EXIT_USAGE, "usage: console PRELOAD PVM");
    char commands[COMMANDS_BYTES], *arguments[] = {argv[2], "-c", commands, NULL};
    sweep_begin(argv[1], "pvm", 0);
    for (int i = 0; i < CASES; i++) {
        snprintf(commands, sizeof commands, cases[i].commands, task_program());
        sweep_program(cases[i].name, arguments, NO_MACHINE);
    }
    return sweep_end("console");
}
