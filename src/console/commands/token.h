/* token.h - pvm token --offline, which needs no virtual machine. */
#ifndef TOKEN_H
#define TOKEN_H

/* Whether these arguments, from the word "token" on, ask for a token that no machine has made. */
int token_is_offline(int argc, char **argv);

/* Prints or writes one. Returns the exit code. */
int token_offline(int argc, char **argv);

#endif
