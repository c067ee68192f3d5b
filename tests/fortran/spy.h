/*
 * spy.h - compares the arguments and results of a Fortran routine with those of the C library's function.
 *
 * The generated session calls a routine; the generated spies (linker option --wrap) stand between the routine and the
 * library and report here. Then the session reports its view of the call, in the order of the C arguments.
 */
#ifndef SPY_H
#define SPY_H

void spy_begin(const char *function); /* discards the report of an inner call */
void spy_int(int value);
void spy_text(const char *text);

#endif
