/*
 * line.h - splits what a user types into commands and words.
 *
 * Words are separated by spaces and tabs. '..' and ".." keep everything between them as it is; outside of them \ takes
 * the next character as it is, and # at the start of a word makes the rest of the line a comment. $ has no meaning.
 */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>

enum { LINE_MAX_BYTES = 65536, LINE_MAX_WORDS = 4096 };

struct words {
    int count;
    char **word; /* word[count] is NULL */
    char *text;  /* where they stand */
};

/*
 * Splits one command. Returns 0, and the caller frees *out with words_free(); else -1 with the reason in why[size], and
 * nothing to free. A line of blanks or comment has 0 words.
 */
int words_split(const char *line, struct words *out, char *why, size_t size);

void words_free(struct words *w);

/* The words with blanks between them; the caller frees it. NULL: memory is out. */
char *words_join(int count, char **words);

/*
 * Takes one command off a script in which commands are separated by newlines and by ';' outside of quotes and comments.
 * Returns its length and moves *script behind the separator; *start is where it begins. -1 at the end of the script.
 */
long script_next(const char **script, const char **start);

#endif
