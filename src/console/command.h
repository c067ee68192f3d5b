/*
 * command.h - the console's commands: one table, a row each.
 */
#ifndef COMMAND_H
#define COMMAND_H

enum command_flag {
    COMMAND_HIDDEN = 1,     /* not listed by help, not completed, not abbreviated */
    COMMAND_JSON = 2,       /* understands --json */
    COMMAND_LEADING = 4,    /* options end at the first word without '-': what follows belongs to a program */
    COMMAND_OWN_ERRORS = 8, /* PvmAutoErr is left as it is while the command runs */
    COMMAND_OURS = 16,      /* PVM has no such command: an abbreviation that fits one of PVM's, too, means that one */
};

/* A command's function. argv[0] is its name; --json was taken out (console.json). 0, or CONSOLE_FAILED after it said
 * why. */
typedef int command_function(int argc, char **argv);

struct command {
    const char *name;
    int min, max; /* arguments, without the name; max -1: any number */
    command_function *run;
    unsigned flags;
    const char *summary;
    const char *syntax;  /* after "Syntax:  "; more lines as they are to be printed */
    const char *details; /* printed below, or NULL */
};

/* All rows, by name; ends with name NULL. */
extern const struct command command_table[];

/* The command of that name, or of which it is the only abbreviation. NULL after a message. */
const struct command *command_find(const char *name);

/* Runs one line: splits it, expands aliases, checks the arguments. 0, or CONSOLE_FAILED after something said why. */
int command_run_line(const char *line);

/* The functions, by the file that they are in. */
command_function host_add, host_delete, host_conf, host_mstat;                 /* host.c */
command_function task_ps, task_kill, task_sig, task_pstat, task_reset;         /* task.c */
command_function job_list;                                                     /* task.c */
command_function spawn_command;                                                /* spawn.c */
command_function route_command;                                                /* route.c */
command_function mailbox_names, mailbox_put;                                   /* mailbox.c */
command_function option_get, option_set, option_tickle, option_idump;          /* option.c */
command_function trace_command;                                                /* trace.c */
command_function environment_setenv, environment_export, environment_unexport; /* environment.c */
command_function alias_command, alias_remove;                                  /* alias.c */
command_function help_command, echo_command, halt_command, id_command, quit_command, version_command; /* basic.c */

#endif
