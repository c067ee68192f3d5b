/*
 * progress.h - a line on standard error, if that is a terminal, that says what a long call does and for how long. It
 * appears after a second, and is gone when the call ends. Text that is printed meanwhile overwrites it.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

/* Begins; one at a time. Uses SIGALRM and the real-time interval timer, which nothing else in the console does. */
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_end(void);

#endif
