/* main.c - pvm, the console: its command line and the sources of its commands. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/guess.h"
#include "core/version.h"
#include "alias.h"
#include "command.h"
#include "console.h"
#include "edit.h"
#include "input.h"
#include "console/commands/job.h"
#include "console/commands/token.h"
#include "console/doctor/doctor.h"
#include "console/run/run.h"
#include "console/scheduler/keeper.h"
#include "console/scheduler/scheduler.h"
#include "console/top/top.h"
#include "console/web/web.h"

enum { DAEMON_ARGUMENTS_MAX = 4 };

static struct {
    const char *commands; /* -c */
    const char *file;     /* -f */
    char *daemon[DAEMON_ARGUMENTS_MAX];
    int daemon_count;
    const char *hostfile;
} options;

static const char doc[] =
    "The PVM console: controls the virtual machine, and starts it if it is not running."
    "\vWithout -c and -f, commands are read from ~/.pvmrc and then from standard input; `help` lists them. A command "
    "may also follow at once: `pvm conf` is `pvm -c conf`, unless there is a file of this name, which is then a "
    "hostfile.\n"
    "The exit code is 0 on success, 1 if a command failed (not at a terminal), 2 for a wrong command line, and 3 "
    "without a virtual machine.\nSee also: pvm run --help, pvm doctor --help, pvm top --help, pvm web --help.";

static const struct argp_option option_table[] = {
    {"command", 'c', "COMMANDS", 0, "Run these commands, separated by ';', and exit", 0},
    {"file", 'f', "FILE", 0, "Run the commands in FILE and exit", 0},
    {"attach", 'a', NULL, 0, "Start no virtual machine: end with 3 if none runs", 0},
    {"json", 'j', NULL, 0, "Add --json to each command that accepts it", 0},
    {"debug", 'd', "MASK", 0, "Debug mask for the daemon, if one is started", 1},
    {"name", 'n', "HOSTNAME", 0, "Name or address of this host for other hosts, if a daemon is started", 1},
    {0}};

static void add_daemon_argument(const char *option, char *value, struct argp_state *state)
{
    char *text = NULL;

    if (options.daemon_count == DAEMON_ARGUMENTS_MAX)
        argp_error(state, "too many arguments for the daemon");
    if (asprintf(&text, "%s%s", option, value) < 0)
        argp_failure(state, CONSOLE_FAILED, 0, "out of memory");
    options.daemon[options.daemon_count++] = text;
}

/* A word that is no file may be meant as one that makes pvm do something else. */
static void refuse_misspelt(const char *word, struct argp_state *state)
{
    static const char *const words[] = {"run", "doctor", "top", "web"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && access(word, F_OK) != 0; i++)
        if (pvmc_guess_distance(word, words[i]) <= strlen(words[i]) / 3)
            argp_error(state, "there is no hostfile %s; did you mean pvm %s?", word, words[i]);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'c':
        options.commands = arg;
        return 0;
    case 'f':
        options.file = arg;
        return 0;
    case 'a':
        console.attaches = true;
        return 0;
    case 'j':
        console.all_json = true;
        return 0;
    case 'd':
        add_daemon_argument("-d", arg, state);
        return 0;
    case 'n':
        add_daemon_argument("-n", arg, state);
        return 0;
    case ARGP_KEY_ARG:
        refuse_misspelt(arg, state);
        if (options.hostfile != NULL)
            argp_error(state, "only one hostfile is allowed: %s", arg);
        options.hostfile = arg;
        return 0;
    case ARGP_KEY_END: /* the daemon expects the hostfile last */
        if (options.hostfile != NULL)
            add_daemon_argument("", (char *)options.hostfile, state);
        if (options.commands != NULL && options.file != NULL)
            argp_error(state, "-c and -f cannot be used together");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Runs one line and records failure in the exit code. */
static void run_line(const char *line)
{
    if (command_run_line(line) != CONSOLE_OK && console.mode != CONSOLE_TTY)
        console.exit_code = CONSOLE_FAILED;
    console_progress();
}

/* Runs the lines of a descriptor. Unless `prompt` is NULL, prints it before each line and echoes the line. */
static void run_lines(int fd, const char *prompt)
{
    struct input *in = calloc(1, sizeof(*in));
    const char *line;

    if (in == NULL) {
        advise("pvm: out of memory");
        return;
    }
    in->fd = fd;
    while (!console.done) {
        if (prompt != NULL)
            fputs(prompt, stdout);
        if ((line = input_line(in)) == NULL)
            break;
        if (prompt != NULL)
            puts(line);
        run_line(line);
    }
    free(in);
}

static void run_terminal(void)
{
    const char *line;

    if (edit_open() != 0) {
        run_lines(STDIN_FILENO, "pvm> ");
        return;
    }
    while (!console.done && (line = edit_line()) != NULL)
        run_line(line);
    edit_close();
}

/* Runs the commands in ~/.pvmrc, if it exists. */
static void run_rc(void)
{
    const char *home = getenv("HOME");
    char path[PATH_MAX];

    if (home == NULL || snprintf(path, sizeof(path), "%s/.pvmrc", home) >= (int)sizeof(path))
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            advise("pvm: %s: %s", path, strerror(errno));
        return;
    }
    run_lines(fd, console.mode == CONSOLE_PIPE ? "" : NULL);
    close(fd);
}

static void run_commands(const char *script)
{
    const char *start;
    long length;

    while (!console.done && (length = script_next(&script, &start)) >= 0) {
        char *line = strndup(start, (size_t)length);
        if (line == NULL)
            return;
        run_line(line);
        free(line);
    }
}

/* A script's output is complete only when its jobs have ended. */
static void wait_for_jobs(void)
{
    while (job_any() && !console.done) {
        console_progress();
        if (job_any() && !console.done)
            console_wait(-1, -1);
    }
}

static void run_script(int fd)
{
    if (fd >= 0)
        run_lines(fd, NULL);
    else
        run_commands(options.commands);
    wait_for_jobs();
}

static void run_console(void)
{
    run_rc();
    if (console.mode == CONSOLE_TTY)
        run_terminal();
    else
        run_lines(STDIN_FILENO, "pvm> ");
    if (console.lost)
        return;
    if (!console.done) /* the end of the input means quit */
        puts("quit");
    puts("\nConsole: exit handler called\npvmd still running.");
}

/* Connects, runs all commands and disconnects. */
static int run_all(int fd)
{
    bool started = false;

    if (console_open(options.daemon_count, options.daemon, &started) < 0)
        return CONSOLE_NO_MACHINE;
    if (started && !scheduler_take() && console.mode != CONSOLE_TTY)
        console.exit_code = CONSOLE_FAILED;
    if (!started && options.hostfile != NULL)
        advise("pvm: the virtual machine is already running: hostfile %s is not read. Use add, or halt first.",
               options.hostfile);
    if (console.mode == CONSOLE_SCRIPT)
        run_script(fd);
    else
        run_console();
    job_forget_all();
    alias_forget_all();
    fflush(stdout);
    console_close();
    if (console.lost)
        scheduler_await_end();
    return console.exit_code;
}

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvm");
}

/* Whether the arguments are a command of the console: its full name, which alone is no file in this folder. */
static bool is_command(int argc, char **argv)
{
    for (const struct command *c = command_table; argc > 1 && c->name != NULL; c++)
        if (strcmp(c->name, argv[1]) == 0 && !(c->flags & COMMAND_HIDDEN))
            return argc > 2 || access(argv[1], F_OK) != 0;
    return false;
}

/* The words as one line of the console, each in quotes; NULL when out of memory. */
static char *quoted_line(int count, char **words)
{
    char *line = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&line, &size);

    if (to == NULL)
        return NULL;
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? " '" : "'", to);
        for (const char *at = words[i]; *at != '\0'; at++)
            fputs(*at == '\'' ? "'\\''" : (char[]){*at, '\0'}, to);
        putc('\'', to);
    }
    if (fclose(to) != 0) {
        free(line);
        return NULL;
    }
    return line;
}

/* `pvm conf` is `pvm -c conf`. */
static int run_command_line(int argc, char **argv)
{
    char *line = quoted_line(argc - 1, argv + 1);

    if (line == NULL) {
        advise("pvm: out of memory");
        return CONSOLE_FAILED;
    }
    options.commands = line;
    console.mode = CONSOLE_SCRIPT;
    int result = run_all(-1);
    free(line);
    return result;
}

int main(int argc, char **argv)
{
    struct argp argp = {
        option_table, take_option, "[HOSTFILE]\nCOMMAND [ARGUMENT...]\nrun [OPTION...] PROGRAM [ARGUMENT...]",
        doc,          NULL,        NULL,
        NULL};
    int fd = -1;

    if (argc > 0 && strcmp(argv[0], KEEPER_WORD) == 0)
        return keeper_main(argc, argv);
    setlocale(LC_CTYPE, "");
    argp_program_version_hook = print_version;
    argp_err_exit_status = CONSOLE_USAGE;
    if (argc > 1 && strcmp(argv[1], "run") == 0) {
        argv[1] = (char *)"pvm run";
        return run_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "doctor") == 0) {
        argv[1] = (char *)"pvm doctor";
        return doctor_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "top") == 0) {
        argv[1] = (char *)"pvm top";
        return top_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "web") == 0) {
        argv[1] = (char *)"pvm web";
        return web_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "token") == 0 && token_is_offline(argc - 1, argv + 1))
        return token_offline(argc - 1, argv + 1);
    if (is_command(argc, argv))
        return run_command_line(argc, argv);
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if (options.file != NULL && (fd = open(options.file, O_RDONLY | O_CLOEXEC)) < 0) {
        fprintf(stderr, "pvm: %s: %s\n", options.file, strerror(errno));
        return CONSOLE_USAGE;
    }
    if (options.file != NULL || options.commands != NULL)
        console.mode = CONSOLE_SCRIPT;
    else
        console.mode = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? CONSOLE_TTY : CONSOLE_PIPE;
    int result = run_all(fd);
    if (fd >= 0)
        close(fd);
    for (int i = 0; i < options.daemon_count; i++)
        free(options.daemon[i]);
    return result;
}
