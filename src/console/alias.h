/* alias.h - aliases: names that stand for the first words of a command. */
#ifndef ALIAS_H
#define ALIAS_H

enum { ALIAS_LOOP = -1, ALIAS_NO_MEMORY = -2 };

/*
 * Expands the first word as long as it is an alias. *argv, an allocated array that ends with NULL and does not own its
 * words, is replaced. 0, or ALIAS_*.
 */
int alias_expand(int *argc, char ***argv);

/* The i-th name in alphabetical order; NULL after the last. */
const char *alias_name(int i);

/* Sets an alias, as the command does. 0 or ALIAS_NO_MEMORY. */
int alias_set(const char *name, int count, char **words);

void alias_forget_all(void);

#endif
