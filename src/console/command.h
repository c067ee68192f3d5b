/*
 * command.h - the table of the console's commands.
 */
#ifndef COMMAND_H
#define COMMAND_H

enum command_flag {
    COMMAND_HIDDEN = 1,     /* not listed by help, not completed, not abbreviated */
    COMMAND_JSON = 2,       /* understands --json */
    COMMAND_LEADING = 4,    /* options end at the first word without '-': the rest belongs to a program */
    COMMAND_OWN_ERRORS = 8, /* PvmAutoErr stays set while the command runs */
    COMMAND_OURS = 16,      /* not a command of PVM: an ambiguous abbreviation means PVM's command */
};

/* A command's function. argv[0] is its name; --json has been removed (see console.json). 0, or CONSOLE_FAILED after a
 * message. */
typedef int command_function(int argc, char **argv);

struct command {
    const char *name;
    int min, max; /* arguments, without the name; max -1: any number */
    command_function *run;
    unsigned flags;
    const char *summary;
    const char *syntax;  /* printed after "Syntax:  " */
    const char *details; /* lines printed below it, or NULL */
};

/* All rows, sorted by name; the last has name NULL. */
extern const struct command command_table[];

/* The command with this name or unambiguous abbreviation; NULL after a message. */
const struct command *command_find(const char *name);

/* Runs one line: splits it, expands aliases, checks the arguments. 0, or CONSOLE_FAILED after a message. */
int command_run_line(const char *line);

/* The functions, by file. */
command_function host_add, host_delete, host_conf, host_mstat, host_rotate;    /* host.c */
command_function task_ps, task_kill, task_sig, task_pstat, task_reset;         /* task.c */
command_function job_list;                                                     /* task.c */
command_function spawn_command;                                                /* spawn.c */
command_function route_command;                                                /* route.c */
command_function mailbox_names, mailbox_put;                                   /* mailbox.c */
command_function option_get, option_set, option_tickle, option_idump;          /* option.c */
command_function token_command;                                                /* token.c */
command_function trace_command;                                                /* trace.c */
command_function environment_setenv, environment_export, environment_unexport; /* environment.c */
command_function alias_command, alias_remove;                                  /* alias.c */
command_function help_command, echo_command, halt_command, id_command, quit_command, version_command; /* basic.c */

#endif
