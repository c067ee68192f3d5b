/* basic.c - commands about the console itself: help, echo, halt, id, quit, version. */
#include <string.h>
#include "core/version.h"
#include "console/console.h"
#include "console/command.h"
#include "console/line.h"

static void print_help(const struct command *command)
{
    printf("%-12s%s\nSyntax:  %s\n", command->name, command->summary, command->syntax);
    if (command->details != NULL)
        printf("%s\n", command->details);
}

int help_command(int argc, char **argv)
{
    const struct command *command = command_find(argc > 1 ? argv[1] : "help");

    if (command == NULL)
        return CONSOLE_FAILED;
    print_help(command);
    if (command->run != help_command)
        return CONSOLE_OK;
    printf("Commands are:\n");
    for (const struct command *row = command_table; row->name != NULL; row++)
        if (!(row->flags & COMMAND_HIDDEN))
            printf("  %-12s%s\n", row->name, row->summary);
    printf(
        "From a shell:\n  pvm run     Run a program and wait for its end\n  pvm top     Show what hosts and tasks do\n"
        "  pvm doctor  Look for the causes of troubles\n");
    return CONSOLE_OK;
}

int echo_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        printf("%s%s", i > 1 ? " " : "", argv[i]);
    printf("\n");
    return CONSOLE_OK;
}

int halt_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    int code = console_halt();

    if (code >= 0)
        return CONSOLE_OK;
    advise("halt: %s", error_text(code));
    return CONSOLE_FAILED;
}

int id_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (console.json)
        print_json(json_pack("{s:o}", "tid", json_tid(console.tid)));
    else
        printf("t%x\n", (unsigned)console.tid);
    return CONSOLE_OK;
}

int quit_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    console.done = true;
    return CONSOLE_OK;
}

int version_command(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (console.json)
        print_json(json_pack("{s:s, s:s}", "version", pvm_version(), "dpvm", pvmc_version));
    else
        printf("%s (dpvm %s)\n", pvm_version(), pvmc_version);
    return CONSOLE_OK;
}
