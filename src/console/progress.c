/* progress.c - see progress.h. A signal handler draws the line, since the call blocks. */
#include "progress.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "core/visible.h"

enum { TEXT_MAX = 60, LINE_MAX_BYTES = TEXT_MAX + 32 };

static struct {
    char text[TEXT_MAX];
    size_t length; /* of text */
    volatile sig_atomic_t seconds;
    volatile sig_atomic_t drawn; /* columns */
    bool active;
    struct sigaction before;
} progress;

/* snprintf() may not be called in a signal handler. */
static size_t put_number(char *to, int number)
{
    char digits[16];
    size_t n = 0, length = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        to[length++] = digits[--n];
    return length;
}

/* Leaves the cursor at the start of the line. */
static void draw(int number)
{
    char line[LINE_MAX_BYTES] = "\r";
    size_t length = 1;
    int error = errno;

    (void)number;
    progress.seconds++;
    memcpy(line + length, progress.text, progress.length);
    length += progress.length;
    length += put_number(line + length, progress.seconds);
    memcpy(line + length, " s\r", 3);
    length += 3;
    progress.drawn = (sig_atomic_t)length - 2;
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
    errno = error;
}

void progress_begin(const char *format, ...)
{
    struct sigaction action = {.sa_handler = draw, .sa_flags = SA_RESTART};
    struct itimerval each_second = {{1, 0}, {1, 0}};
    char what[TEXT_MAX - 2];
    va_list args;

    if (!isatty(STDERR_FILENO))
        return;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    progress.length = (size_t)snprintf(progress.text, sizeof(progress.text), "%s: ", PVMC_VISIBLE(what));
    if (progress.length >= sizeof(progress.text))
        progress.length = sizeof(progress.text) - 1;
    progress.seconds = 0;
    progress.drawn = 0;
    progress.active = true;
    sigaction(SIGALRM, &action, &progress.before);
    setitimer(ITIMER_REAL, &each_second, NULL);
}

void progress_end(void)
{
    static const struct itimerval never;

    if (!progress.active)
        return;
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &progress.before, NULL);
    progress.active = false;
    if (progress.drawn > 0)
        fprintf(stderr, "\r%*s\r", (int)progress.drawn, "");
}
