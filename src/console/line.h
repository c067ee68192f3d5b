/*
 * line.h - splits input into commands and words.
 *
 * Blanks separate words. Everything between '..' or ".." is literal; outside of quotes \ makes the next character
 * literal, and # at the start of a word starts a comment. $ has no special meaning.
 */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>

enum { LINE_MAX_BYTES = 65536, LINE_MAX_WORDS = 4096 };

struct words {
    int count;
    char **word; /* word[count] is NULL */
    char *text;  /* storage of the words */
};

/*
 * Splits one command. 0, and the caller frees *out with words_free(); else -1 with the reason in why[size] and nothing
 * to free. A blank line or comment has 0 words.
 */
int words_split(const char *line, struct words *out, char *why, size_t size);

void words_free(struct words *w);

/* The words joined by blanks; the caller frees the text. NULL when out of memory. */
char *words_join(int count, char **words);

/*
 * Takes one command from a script, in which newlines, and ';' outside of quotes and comments, separate commands.
 * Returns its length, sets *start to its beginning and moves *script past the separator. -1 at the end of the script.
 */
long script_next(const char **script, const char **start);

#endif
