/*
 * spy.h - compares what a Fortran program gives to and gets from a routine with what the C library is given and gives.
 *
 * The generated session calls a routine; the generated spies (linker option --wrap) stand between the routine and the
 * library and report here. Then the session tells what it knows of the call, in the order of the C call.
 */
#ifndef SPY_H
#define SPY_H

void spy_begin(const char *function); /* forgets what an inner call reported */
void spy_int(int value);
void spy_text(const char *text);

#endif
