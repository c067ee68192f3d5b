/*
 * console.h - the console's connection to the virtual machine, and functions shared by its commands.
 *
 * The console is an ordinary task that talks to dpvm through pvm3.h. It sets PvmNoReset, uses no direct links, and
 * receives the output of its jobs and notices of new hosts in its own context.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <jansson.h>
#include "tools/pvm-info/text.h"
#include "pvm3.h"

/* Exit codes of pvm. */
enum {
    CONSOLE_OK = 0,
    CONSOLE_FAILED = 1,     /* a command failed */
    CONSOLE_USAGE = 2,      /* pvm's own command line is wrong */
    CONSOLE_NO_MACHINE = 3, /* no daemon could be reached or started, or it ended */
};

enum console_mode {
    CONSOLE_TTY,    /* interactive: editing, history, completion */
    CONSOLE_PIPE,   /* stdin is not a terminal: prompt and commands are echoed, as in PVM */
    CONSOLE_SCRIPT, /* pvm -c, pvm -f, pvm run: only the output of commands */
};

/* Tags of messages in the console's context. */
enum {
    CONSOLE_TAG_HOST_ADD = 1,
    CONSOLE_TAG_HOST_DELETE = 2,
    CONSOLE_TAG_JOB = 16,        /* + job number */
    CONSOLE_TAG_TRACE = 1 << 30, /* + job number */
};

struct console {
    enum console_mode mode;
    bool json;     /* the running command prints JSON */
    bool all_json; /* every command does (--json) */
    bool attaches; /* start no machine (--attach) */
    bool done;     /* end the console: quit, halt, or the daemon is gone */
    bool lost;     /* the daemon is gone */
    int exit_code;
    int tid;
    int context;
};

extern struct console console;

/* Number of SIGINTs since console_catch_interrupts(true). */
extern volatile sig_atomic_t console_interrupts;

/* Called before asynchronous output, to erase the prompt on a terminal. Set by the line editor. */
extern void (*console_before_output)(void);

/*
 * Enrols and sets the console's options. If no daemon runs, starts one with the arguments `argv` and sets *started,
 * unless console.attaches. 0,
 * or a PvmXxx code after libpvm or the daemon has printed on stderr what is wrong and what to do.
 */
int console_open(int argc, char **argv, bool *started);

/* Leaves PVM; the virtual machine keeps running. */
void console_close(void);

/* Process id of this host's daemon; 0 if unknown. */
pid_t console_daemon(void);

/* Halts the machine and waits, for at most 10 seconds, until its daemon has ended. 0 or a PvmXxx code. */
int console_halt(void);

/* Counts SIGINTs in console_interrupts and lets them end waits, or restores the default action. */
void console_catch_interrupts(bool on);

/* Whether SIGTERM has come, from a user or from a daemon that is being halted. */
bool console_is_terminated(void);

/* Lets SIGUSR1 and SIGUSR2 end waits; console_take_signal() returns each once, and 0 if there is none. */
void console_catch_user_signals(void);
int console_take_signal(void);

/*
 * Handles all messages that have arrived, without waiting. If the daemon is gone, prints a message and sets done and
 * lost.
 */
void console_progress(void);

/*
 * Waits until fd is readable (-1: no descriptor), messages may have arrived, a signal is caught, or timeout_ms have
 * passed (-1: no limit). Returns whether fd is readable.
 */
bool console_wait(int fd, int timeout_ms);

/* Whether to print colours: only on a terminal that has them, and unless NO_COLOR is set. */
bool console_shows_colours(FILE *to);

/*
 * Prints a message in PVM's own words and a newline: on stdout, as PVM does, or on stderr when stdout is for results
 * (scripts, JSON).
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message that PVM does not have, and a newline, on stderr. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text of a PvmXxx code. Static storage. */
const char *error_text(int code);

/* Prints a JSON value on one line and drops the reference to it. */
void print_json(json_t *value);

/* A task id as "t40001" for JSON. */
json_t *json_tid(int tid);

/* Parses a hexadecimal task id: 40001, t40001 or 0x40001. False after a message. */
bool parse_tid(const char *text, int *tid);

/* Parses a whole number, decimal or hexadecimal with 0x. False after a message that starts with `what`. */
bool parse_number(const char *what, const char *text, int *value);

#endif
