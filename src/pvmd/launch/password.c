/* password.c - asks for passwords at the daemon's terminal. */
#include "password.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <unistd.h>

#define ANSWER_MAX 1024 /* bytes, with the newline */

static struct termios before; /* the terminal's state before we used it */
static bool is_known;

const char *pvmd_password_terminal(void)
{
    static char path[128];
    if (tcgetpgrp(STDIN_FILENO) != getpgrp() || ttyname_r(STDIN_FILENO, path, sizeof path))
        return NULL;
    if (!is_known)
        is_known = !tcgetattr(STDIN_FILENO, &before);
    return path;
}

bool pvmd_password_can_ask(void)
{
    const char *program = getenv("SSH_ASKPASS");
    return pvmd_password_terminal() || (program && *program);
}

void pvmd_password_stop(void)
{
    if (is_known && pvmd_password_terminal())
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    is_known = false;
}

/* ---- as ssh's askpass ---- */

static void interrupt(int signal)
{
    (void)signal; /* read() ends with EINTR, so that the terminal is restored */
}

static void catch_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* Reads a line with its newline. Returns its length, or 0 if there is none. */
static size_t read_line(int fd, char *line, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        if (read(fd, line + n, 1) != 1)
            return 0;
        if (line[n] == '\n')
            return n + 1;
    }
    return 0;
}

/* Hides passwords, but not the answer to ssh's question whether to trust a host's key. */
static size_t ask(int fd, const char *question, char *line, size_t size)
{
    struct termios old, dark;
    bool shown = strstr(question, "(yes/no") != NULL;
    if (tcgetattr(fd, &old))
        return 0;
    dark = old;
    dark.c_lflag = (dark.c_lflag & ~(shown ? 0U : (unsigned)ECHO)) | ICANON | ECHONL;
    tcsetattr(fd, TCSAFLUSH, &dark);
    dprintf(fd, "%s", question);
    size_t length = read_line(fd, line, size);
    tcsetattr(fd, TCSAFLUSH, &old);
    return length;
}

int pvmd_password_ask(const char *terminal, const char *question)
{
    char line[ANSWER_MAX];
    catch_signals();
    int fd = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX)) { /* one question at a time */
        fprintf(stderr, "pvmd3: cannot ask at %s: %s\n", terminal, strerror(errno));
        return 1;
    }
    size_t length = ask(fd, question, line, sizeof line);
    bool told = length && write(STDOUT_FILENO, line, length) == (ssize_t)length;
    OPENSSL_cleanse(line, sizeof line);
    close(fd);
    return told ? 0 : 1;
}
