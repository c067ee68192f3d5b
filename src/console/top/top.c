/* top.c - see top.h. */
#include "top.h"
#include <argp.h>
#include <curses.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/console.h"
#include "core/clock.h"
#include "screen.h"
#include "view.h"

#define DELAY_S     2.0
#define DELAY_MIN_S 0.1
#define DELAY_MAX_S 3600.0

static struct {
    double delay_s;
    int rounds; /* 0: without end */
    bool batch, json;
    struct view view;
} options = {.delay_s = DELAY_S, .rounds = -1};

static const char doc[] =
    "Show what the hosts and tasks of the running virtual machine are doing: CPU, memory, messages a second and the "
    "route they take, messages that wait, and who waits for whom."
    "\vAt a terminal, keys sort, filter, and kill tasks; ? lists them. Elsewhere, or with --batch, one table of the "
    "last "
    "DELAY seconds is printed.\n"
    "The exit code is 0 on success, 2 for a wrong command line, and 3 without a virtual machine: none is started.";

static const struct argp_option option_table[] = {
    {"batch", 'b', NULL, 0, "Print tables, also at a terminal", 0},
    {"delay", 'd', "SECONDS", 0, "Time between looks (default: 2)", 0},
    {"filter", 'f', "TEXT", 0, "Only tasks whose line has this text", 0},
    {"json", 'j', NULL, 0, "Print JSON, a line for each look", 0},
    {"rounds", 'n', "N", 0, "End after N tables; 0: never (default: 1, at a terminal 0)", 0},
    {"sort", 's', "KEY", 0,
     "cpu (default), memory, messages, sent, received, queue, wait, tid, host or name; with a - before it, reversed",
     0},
    {0}};

/* ---- the command line ---- */

static void read_sort(const char *arg, struct argp_state *state)
{
    options.view.reverse = *arg == '-';
    options.view.key = view_key(arg + options.view.reverse);
    if (options.view.key < 0)
        argp_error(state, "--sort %s: there is no such key; see --help", arg);
}

static void read_delay(const char *arg, struct argp_state *state)
{
    char *end;
    options.delay_s = strtod(arg, &end);
    if (*arg == '\0' || *end != '\0' || !(options.delay_s >= DELAY_MIN_S && options.delay_s <= DELAY_MAX_S))
        argp_error(state, "--delay %s: give a number of seconds from %g to %g", arg, DELAY_MIN_S, DELAY_MAX_S);
}

static void read_rounds(const char *arg, struct argp_state *state)
{
    char *end;
    long n = strtol(arg, &end, 10);
    if (*arg == '\0' || *end != '\0' || n < 0 || n > 1000000000)
        argp_error(state, "--rounds %s: give a number of tables, or 0", arg);
    options.rounds = (int)n;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'b':
        options.batch = true;
        return 0;
    case 'd':
        read_delay(arg, state);
        return 0;
    case 'f':
        if (strlen(arg) >= sizeof(options.view.filter))
            argp_error(state, "--filter: the text is longer than %zu bytes", sizeof(options.view.filter) - 1);
        strcpy(options.view.filter, arg);
        return 0;
    case 'j':
        options.json = true;
        return 0;
    case 'n':
        read_rounds(arg, state);
        return 0;
    case 's':
        read_sort(arg, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: no argument is expected", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- samples ---- */

static struct sample *before, *latest;

/* 0, or an exit code after a message. */
static int look(void)
{
    int code;
    struct sample *s = sample_take(latest, &code);

    if (s == NULL) {
        screen_close();
        console_progress();
        if (!console.lost)
            advise("pvm top: %s", error_text(code));
        return console.lost ? CONSOLE_NO_MACHINE : CONSOLE_FAILED;
    }
    sample_free(before);
    before = latest;
    latest = s;
    return CONSOLE_OK;
}

/* Waits until that time, a key if `keys`, or the daemon's end. Whether the time has come. */
static bool wait_until(int64_t due_us, bool keys)
{
    int64_t left_us = due_us - pvmc_clock_us();

    if (left_us > 0)
        console_wait(keys ? STDIN_FILENO : -1, (int)(left_us / 1000) + 1);
    console_progress();
    return console.lost || pvmc_clock_us() >= due_us;
}

static int64_t delay_us(void)
{
    return (int64_t)(options.delay_s * 1e6);
}

/* ---- tables ---- */

static void print_table(void)
{
    char line[VIEW_LINE];

    view_choose(&options.view, latest);
    view_summary(latest, line);
    puts(line);
    view_host_heading(line);
    puts(line);
    for (int i = 0; i < latest->host_count; i++) {
        view_host(&latest->hosts[i], line);
        puts(line);
    }
    view_heading(line);
    puts(line);
    for (int i = 0; i < options.view.count; i++) {
        view_task(options.view.rows[i], line);
        puts(line);
    }
    puts("");
}

static int print_tables(void)
{
    int code = look();

    for (int i = 0; code == CONSOLE_OK && (options.rounds == 0 || i < options.rounds); i++) {
        while (!wait_until(latest->at_us + delay_us(), false))
            ;
        code = look();
        if (code == CONSOLE_OK && options.json)
            print_json(sample_json(latest));
        else if (code == CONSOLE_OK)
            print_table();
        if (fflush(stdout) != 0)
            code = CONSOLE_FAILED;
    }
    return code;
}

/* ---- at a terminal ---- */

static struct {
    int selected;
    int64_t next_us; /* when to look again */
    bool paused, done;
    char note[VIEW_LINE]; /* "" or what the last key did */
} live;

static void kill_selected(void)
{
    char question[VIEW_LINE], answer[8];
    int number = SIGTERM, tid = live.selected;

    if (options.view.count == 0)
        return;
    snprintf(question, sizeof(question), "Send which signal to t%x? [%d, Escape: none] ", (unsigned)tid, number);
    if (!screen_ask(question, answer, sizeof(answer)))
        return;
    if (*answer != '\0')
        number = atoi(answer);
    if (number <= 0 || number >= NSIG) {
        snprintf(live.note, sizeof(live.note), "%s is no number of a signal", answer);
        return;
    }
    int code = pvm_sendsig(tid, number);
    snprintf(live.note, sizeof(live.note), code < 0 ? "t%x: %s" : "signal sent to t%x", (unsigned)tid,
             error_text(code));
}

static void ask_filter(void)
{
    char answer[VIEW_FILTER];

    if (screen_ask("Show only lines with [all]: ", answer, sizeof(answer)))
        strcpy(options.view.filter, answer);
}

static void change_delay(double factor)
{
    options.delay_s = fmin(fmax(options.delay_s * factor, DELAY_MIN_S), DELAY_MAX_S);
    snprintf(live.note, sizeof(live.note), "a look every %.3g s", options.delay_s);
}

static void next_key(void)
{
    options.view.key = view_key_name(options.view.key + 1) != NULL ? options.view.key + 1 : 0;
    options.view.reverse = false;
}

static void move_mark(int rows)
{
    screen_move(&options.view, &live.selected, rows);
}

static void handle_key(int key)
{
    live.note[0] = '\0';
    switch (key) {
    case 'q':
        live.done = true;
        break;
    case 's':
        next_key();
        break;
    case 'r':
        options.view.reverse = !options.view.reverse;
        break;
    case '/':
        ask_filter();
        break;
    case 'h':
        options.view.hosts = !options.view.hosts;
        break;
    case 'k':
        kill_selected();
        break;
    case ' ':
        live.paused = !live.paused;
        snprintf(live.note, sizeof(live.note), live.paused ? "paused; space goes on" : "");
        break;
    case '+':
        change_delay(2);
        break;
    case '-':
        change_delay(0.5);
        break;
    case '?':
        snprintf(live.note, sizeof(live.note),
                 "arrows, page keys: move  s: next sort key  r: reverse  /: filter  h: hosts  k: kill  +, -: delay  "
                 "space: pause  q: quit");
        break;
    case KEY_UP:
        move_mark(-1);
        break;
    case KEY_DOWN:
        move_mark(1);
        break;
    case KEY_PPAGE:
        move_mark(-screen_page());
        break;
    case KEY_NPAGE:
        move_mark(screen_page());
        break;
    case KEY_HOME:
        move_mark(-options.view.count);
        break;
    case KEY_END:
        move_mark(options.view.count);
        break;
    default:
        break;
    }
}

static void draw(void)
{
    view_choose(&options.view, latest);
    screen_draw(latest, &options.view, &live.selected, live.note[0] != '\0' ? live.note : NULL);
}

static int show_live(void)
{
    int code = look(), key, rounds = 0;

    live.next_us = pvmc_clock_us() + delay_us();
    while (code == CONSOLE_OK && !live.done) {
        draw();
        bool due = wait_until(live.next_us, true);
        while (!live.done && (key = screen_key()) != ERR)
            handle_key(key);
        if (!due)
            continue;
        if (!live.paused || console.lost)
            code = look();
        live.next_us = pvmc_clock_us() + delay_us();
        live.done = live.done || (options.rounds > 0 && ++rounds >= options.rounds);
    }
    return code;
}

/* ---- the command ---- */

static int run(void)
{
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !options.batch && !options.json;
    int code;

    if (terminal && !screen_open()) {
        advise("pvm top: the terminal %s cannot move its cursor; use pvm top --batch", getenv("TERM"));
        return CONSOLE_FAILED;
    }
    if (options.rounds < 0)
        options.rounds = terminal ? 0 : 1;
    code = terminal ? show_live() : print_tables();
    screen_close();
    view_free(&options.view);
    sample_free(before);
    sample_free(latest);
    return code;
}

int top_main(int argc, char **argv)
{
    const struct argp argp = {option_table, take_option, "", doc, NULL, NULL, NULL};

    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    console.mode = CONSOLE_SCRIPT;
    console.attaches = true;
    if (console_open(0, NULL, &(bool){false}) < 0)
        return CONSOLE_NO_MACHINE;
    pvm_setopt(PvmAutoErr, 0);
    int code = run();
    console_close();
    return code;
}
