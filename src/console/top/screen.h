/* screen.h - the terminal of pvm top, by ncurses. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include "view.h"

/* Takes the terminal over. False: it cannot move its cursor. */
bool screen_open(void);

/* Gives it back. */
void screen_close(void);

/* `selected`: the tid of the row that is marked; changed if it is not shown. `note`: the last line, or NULL. */
void screen_draw(const struct sample *s, const struct view *v, int *selected, const char *note);

/* The next key that has been pressed, as of ncurses; ERR: none. */
int screen_key(void);

/* Moves the mark by so many rows. */
void screen_move(const struct view *v, int *selected, int rows);

/* Rows that fit on a page. */
int screen_page(void);

/* Asks for a line of text. False: it was cancelled by Escape. */
bool screen_ask(const char *question, char *answer, int size);

#endif
