/* edit.c - the line editor of a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>
#include "core/visible.h"
#include "complete.h"
#include "console.h"
#include "edit.h"

enum { HISTORY_LINES_MAX = 1000 };

static EditLine *editor;
static History *history_list;
static bool output_began; /* the prompt was erased for output */
static bool interrupted, at_end;

static const char *prompt(EditLine *e)
{
    (void)e;
    return "pvm> ";
}

/* Asynchronous output replaces the prompt, which is redrawn below it. */
static void wipe_prompt(void)
{
    if (!output_began)
        fputs("\r\033[K", stdout);
    output_began = true;
}

static void take_messages(void)
{
    output_began = false;
    console_progress();
    if (output_began && !console.done) {
        fflush(stdout);
        el_set(editor, EL_REFRESH);
    }
}

/* Reads one byte from the terminal: 1, or 0 at the end of the line or input. */
static int read_byte(char *byte)
{
    for (;;) {
        take_messages();
        if (console.done)
            return 0;
        bool readable = console_wait(STDIN_FILENO, -1);
        if (console_interrupts > 0) { /* since this line was started */
            interrupted = true;
            return 0;
        }
        if (!readable)
            continue;
        ssize_t got = read(STDIN_FILENO, byte, 1);
        if (got == 1)
            return 1;
        if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            at_end = true;
            return 0;
        }
    }
}

/* Reads a character for libedit: 1, or 0 at the end of the input. */
static int read_character(EditLine *e, wchar_t *out)
{
    mbstate_t state = {0};
    char byte;

    (void)e;
    while (read_byte(&byte)) {
        size_t n = mbrtowc(out, &byte, 1, &state);
        if (n == (size_t)-2)
            continue; /* incomplete character */
        if (n != (size_t)-1)
            return 1;
        memset(&state, 0, sizeof(state)); /* drop bytes that are invalid in this locale */
    }
    return 0;
}

/* ---- completion ---- */

static size_t max_width(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

/* Prints the choices below the line, in columns. */
static void list_choices(const struct completion *c)
{
    size_t width = 0, column = 0;

    for (int i = 0; i < c->count; i++)
        width = max_width(width, PVMC_VISIBLE(c->choices[i]));
    putchar('\n');
    for (int i = 0; i < c->count; i++) {
        bool last = i + 1 == c->count || (column + 2) * (width + 2) > 78;
        printf("%-*s%s", last ? 0 : (int)width + 2, PVMC_VISIBLE(c->choices[i]), last ? "\n" : "");
        column = last ? 0 : column + 1;
    }
    fflush(stdout);
}

static unsigned char complete_key(EditLine *e, int key)
{
    const LineInfo *info = el_line(e);
    struct completion c;
    unsigned char result = CC_ERROR;

    (void)key;
    if (complete_line(info->buffer, (size_t)(info->cursor - info->buffer), &c) != 0)
        return CC_ERROR;
    if (*c.insert != '\0' && el_insertstr(e, c.insert) == 0)
        result = CC_REFRESH;
    if (c.count > 1 && *c.insert == '\0') {
        list_choices(&c);
        result = CC_REDISPLAY;
    }
    complete_free(&c);
    return result;
}

/* ---- history ---- */

/* Path of ~/.pvm_history; false without HOME. */
static bool history_path(char path[PATH_MAX])
{
    const char *home = getenv("HOME");

    return home != NULL && *home != '\0' && snprintf(path, PATH_MAX, "%s/.pvm_history", home) < PATH_MAX;
}

static void open_history(void)
{
    HistEvent event;
    char path[PATH_MAX];

    history_list = history_init();
    if (history_list == NULL)
        return;
    history(history_list, &event, H_SETSIZE, HISTORY_LINES_MAX);
    history(history_list, &event, H_SETUNIQUE, 1);
    if (history_path(path))
        history(history_list, &event, H_LOAD, path);
    el_set(editor, EL_HIST, history, history_list);
}

/* Errors are ignored, since HOME may be read-only. */
static void save_history(void)
{
    HistEvent event;
    char path[PATH_MAX];
    struct stat status;

    if (history_list == NULL)
        return;
    if (history_path(path) && (lstat(path, &status) != 0 || S_ISREG(status.st_mode))) {
        mode_t mask = umask(077);
        history(history_list, &event, H_SAVE, path);
        umask(mask);
    }
    history_end(history_list);
    history_list = NULL;
}

/* ---- */

int edit_open(void)
{
    editor = el_init("pvm", stdin, stdout, stderr);
    if (editor == NULL) {
        advise("pvm: the terminal (TERM=%s) cannot be used for editing", getenv("TERM") != NULL ? getenv("TERM") : "");
        return -1;
    }
    el_set(editor, EL_PROMPT, prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_GETCFN, read_character);
    el_wset(editor, EL_ADDFN, L"pvm-complete", L"Complete a word", complete_key);
    el_set(editor, EL_BIND, "^I", "pvm-complete", NULL);
    open_history();
    el_source(editor, NULL); /* the user's ~/.editrc */
    el_set(editor, EL_SIGNAL, 0);
    console_before_output = wipe_prompt;
    return 0;
}

const char *edit_line(void)
{
    HistEvent event;
    int length = 0;

    do {
        interrupted = false;
        console_catch_interrupts(true);
        el_set(editor, EL_PREP_TERM, 1); /* before the prompt, so that early input is not lost */
        const char *line = el_gets(editor, &length);
        console_catch_interrupts(false);
        output_began = true; /* there is no prompt to erase while a command runs */
        if (line != NULL && length > 0 && !interrupted) {
            if (history_list != NULL && line[strspn(line, " \t\n")] != '\0')
                history(history_list, &event, H_ENTER, line);
            return line;
        }
        if (interrupted) {
            el_reset(editor);
            fputs("^C\n", stdout);
        }
    } while (interrupted && !console.done && !at_end);
    return NULL;
}

void edit_close(void)
{
    if (editor == NULL)
        return;
    console_before_output = NULL;
    save_history();
    el_end(editor);
    editor = NULL;
}
