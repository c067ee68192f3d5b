/* screen.c - see screen.h. */
#include "screen.h"
#include <curses.h>
#include <term.h>
#include <unistd.h>
#include <string.h>
#include "console/console.h"

enum { ESCAPE = 27, ESCAPE_MS = 50, COLOUR_WORK = 1, COLOUR_WAIT, COLOUR_HEADING };

static SCREEN *terminal;
static int top; /* the first row that is shown */
static int page = 1;

static bool can_move_cursor(void)
{
    int error;

    if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
        return false;
    bool can = tigetstr("cup") != NULL;
    del_curterm(cur_term);
    return can;
}

bool screen_open(void)
{
    terminal = can_move_cursor() ? newterm(NULL, stdout, stdin) : NULL;
    if (terminal == NULL)
        return false;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    if (console_shows_colours(stdout) && start_color() == OK) {
        use_default_colors();
        init_pair(COLOUR_WORK, COLOR_GREEN, -1);
        init_pair(COLOUR_WAIT, COLOR_YELLOW, -1);
        init_pair(COLOUR_HEADING, COLOR_CYAN, -1);
    }
    return true;
}

void screen_close(void)
{
    if (terminal == NULL)
        return;
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

/* ---- drawing ---- */

static void put(int y, const char *line, int attributes)
{
    move(y, 0);
    clrtoeol();
    attron(attributes);
    addnstr(line, COLS);
    attroff(attributes);
}

static int colour(int pair)
{
    return has_colors() ? COLOR_PAIR(pair) : 0;
}

static int attributes_of(const struct sample_task *t, bool marked)
{
    int colours = t->does == PvmDoesWork ? colour(COLOUR_WORK) : t->does == PvmDoesSend ? colour(COLOUR_WAIT) : 0;

    return colours | (marked ? A_REVERSE : 0);
}

static int index_of(const struct view *v, int tid)
{
    for (int i = 0; i < v->count; i++)
        if (v->rows[i]->tid == tid)
            return i;
    return -1;
}

/* The row of the mark; if its task is gone, the row where it was. */
static int find_marked(const struct view *v, int *selected)
{
    static int last;
    int marked = index_of(v, *selected);

    if (marked < 0)
        marked = last < v->count ? last : v->count - 1;
    if (marked >= 0) {
        last = marked;
        *selected = v->rows[marked]->tid;
    }
    return marked;
}

static int draw_hosts(const struct sample *s, int y)
{
    char line[VIEW_LINE];

    view_host_heading(line);
    put(y++, line, A_BOLD | colour(COLOUR_HEADING));
    for (int i = 0; i < s->host_count && y < LINES / 2; i++) {
        view_host(&s->hosts[i], line);
        put(y++, line, 0);
    }
    return y;
}

void screen_draw(const struct sample *s, const struct view *v, int *selected, const char *note)
{
    char line[VIEW_LINE];
    int marked = find_marked(v, selected), y = 0;

    view_summary(s, line);
    put(y++, line, A_BOLD);
    if (v->hosts)
        y = draw_hosts(s, y);
    view_heading(line);
    put(y++, line, A_BOLD | colour(COLOUR_HEADING));
    page = LINES - y - 1 > 1 ? LINES - y - 1 : 1;
    if (marked >= 0 && marked < top)
        top = marked;
    if (marked >= top + page)
        top = marked - page + 1;
    if (top > 0 && top + page > v->count)
        top = v->count > page ? v->count - page : 0;
    for (int i = top; i < top + page; i++) {
        if (i < v->count)
            view_task(v->rows[i], line);
        put(y++, i < v->count ? line : "", i < v->count ? attributes_of(v->rows[i], i == marked) : 0);
    }
    if (note == NULL) {
        snprintf(line, sizeof(line), "q quit  s sort: %s%s  / filter%s%s  h hosts  k kill  space pause  ? help",
                 view_key_name(v->key), v->reverse ? " (reversed)" : "", v->filter[0] != '\0' ? ": " : "", v->filter);
        note = line;
    }
    put(LINES - 1, note, A_DIM);
    refresh();
}

/* ---- keys ---- */

int screen_key(void)
{
    return getch();
}

int screen_page(void)
{
    return page;
}

void screen_move(const struct view *v, int *selected, int rows)
{
    int to = index_of(v, *selected) + rows;

    if (v->count == 0)
        return;
    if (to < 0)
        to = 0;
    *selected = v->rows[to < v->count ? to : v->count - 1]->tid;
}

bool screen_ask(const char *question, char *answer, int size)
{
    put(LINES - 1, question, A_BOLD);
    nodelay(stdscr, FALSE);
    echo();
    curs_set(1);
    int code = getnstr(answer, size - 1);
    curs_set(0);
    noecho();
    nodelay(stdscr, TRUE);
    return code == OK && strchr(answer, ESCAPE) == NULL;
}
