/* alias.h - names that stand for the beginnings of commands. */
#ifndef ALIAS_H
#define ALIAS_H

enum { ALIAS_LOOP = -1, ALIAS_NO_MEMORY = -2 };

/*
 * Expands the aliases that the first word is, one after the other. *argv (memory of its own, words of others, NULL at
 * the end) is replaced then. 0, or ALIAS_*.
 */
int alias_expand(int *argc, char ***argv);

/* The i-th name in alphabetical order, NULL behind the last. */
const char *alias_name(int i);

/* Sets an alias, as the command does. 0 or ALIAS_NO_MEMORY. */
int alias_set(const char *name, int count, char **words);

void alias_forget_all(void);

#endif
