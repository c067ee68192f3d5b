/*
 * console.h - the console's connection to the virtual machine, and what all of its commands share.
 *
 * The console is an ordinary task: it uses pvm3.h and nothing else of dpvm. It is spared by `reset`, takes no direct
 * routes, and gets the output of its jobs and notices of new hosts in a context of its own.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <jansson.h>
#include "../tools/text.h"
#include "pvm3.h"

/* What pvm exits with. */
enum {
    CONSOLE_OK = 0,
    CONSOLE_FAILED = 1,     /* a command failed */
    CONSOLE_USAGE = 2,      /* the command line of pvm itself is wrong */
    CONSOLE_NO_MACHINE = 3, /* no daemon could be reached or started, or it went away */
};

enum console_mode {
    CONSOLE_TTY,    /* a person types: editing, history, completion */
    CONSOLE_PIPE,   /* stdin is no terminal: prompt and commands are echoed, as PVM always did */
    CONSOLE_SCRIPT, /* pvm -c, pvm -f, pvm run: nothing but the commands' own output */
};

/* Tags of the messages that come in the console's context. */
enum {
    CONSOLE_TAG_HOST_ADD = 1,
    CONSOLE_TAG_HOST_DELETE = 2,
    CONSOLE_TAG_JOB = 16,        /* + the job's number */
    CONSOLE_TAG_TRACE = 1 << 30, /* likewise */
};

struct console {
    enum console_mode mode;
    bool json;     /* the running command is to print JSON */
    bool all_json; /* every command is */
    bool done;     /* leave: quit, halt, or the daemon is gone */
    bool lost;     /* the daemon is gone */
    int exit_code;
    int tid;
    int context;
};

extern struct console console;

/* SIGINTs since console_catch_interrupts(true). */
extern volatile sig_atomic_t console_interrupts;

/* Called before asynchronous output is printed, so that a terminal's prompt can be wiped. Set by the line editor. */
extern void (*console_before_output)(void);

/*
 * Enrols and sets the console's options. Starts a daemon with the arguments `argv` if none runs; *started tells whether
 * it did. Returns 0, or a PvmXxx code after libpvm or the daemon said on stderr what is wrong and what to do.
 */
int console_open(int argc, char **argv, bool *started);

/* Leaves PVM; the machine stays. */
void console_close(void);

/* Process id of this host's daemon, 0 if it cannot be found out. */
pid_t console_daemon(void);

/* Halts the machine and waits until its daemon is gone. 0 or a PvmXxx code. */
int console_halt(void);

/* Makes SIGINT count in console_interrupts and end waits, or gives it back its default effect. */
void console_catch_interrupts(bool on);

/*
 * Takes all messages that have come, and prints what they say. Never waits. When the daemon is gone: says so and sets
 * done and lost.
 */
void console_progress(void);

/*
 * Waits until fd is readable (-1: no descriptor), messages may have come, a signal was caught, or timeout_ms (-1: for
 * ever) is over. Returns whether fd is readable.
 */
bool console_wait(int fd, int timeout_ms);

/*
 * A message in the words that PVM always had, with its newline: on stdout, where PVM had it, or on stderr when stdout
 * is for results (scripts, JSON).
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A message that PVM did not have, with its newline: on stderr. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text of a PvmXxx code. Static storage. */
const char *error_text(int code);

/* Prints a JSON value on a line of its own and gives it back to jansson. */
void print_json(json_t *value);

/* A task id as "t40001" for JSON. */
json_t *json_tid(int tid);

/* Reads a task id: 40001, t40001 or 0x40001, hexadecimal. False, and a message that names it, when it is none. */
bool parse_tid(const char *text, int *tid);

/* Reads a whole number, decimal or 0x and hexadecimal. False, and a message beginning with `what`, when it is none. */
bool parse_number(const char *what, const char *text, int *value);

#endif
